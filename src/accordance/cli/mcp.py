"""`accordance mcp`: serve tasks to an agent over MCP."""

from __future__ import annotations

from functools import partial

import click

from accordance.cli.desk import (
    Where,
    at_desk,
    find_plan,
    fits_whoever_asks,
    json_option,
    ledger_options,
    say,
    whoever,
)
from accordance.cli.exits import Exit
from accordance.cli.stopping import left_at_once


@click.command(name="mcp")
@ledger_options
@json_option
@click.option("--plan", help="Only tasks of this plan.")
@click.option(
    "--worker",
    default=None,
    help="Who takes tasks up. Give each agent a name of its own: it gets its task back when it reconnects.  [default: the user's"
    " name]",
)
@click.option(
    "--any", "any_task", is_flag=True, help="Also what the routes give to an executor of accordance's own."
)
def command(where: Where, as_json: bool, plan: str | None, worker: str | None, any_task: bool) -> int:
    """Serve tasks to an agent over MCP, on standard input and output, until it goes.

    The tools: next, submit, get_verdict, ask_human, extend, release. With --json, only tell them.
    """
    import anyio

    from accordance.executors.tool_server import serve, server_of
    from accordance.mcp.desk import INSTRUCTIONS, Desk

    with at_desk(where) as desk:
        plan_id = None
        if plan is not None:
            with desk.ledger.read() as tx:
                plan_id = find_plan(tx, plan).plan_id
        fits = fits_whoever_asks(desk, any_task=any_task)
        resumes = worker is not None
        offers = Desk(desk.ledger, desk.home, whoever(worker), plan_id, fits, resumes).offers()
        if as_json:
            say([{"name": offer.name, "about": offer.about, "takes": offer.takes} for offer in offers])
        else:
            with left_at_once():
                anyio.run(partial(serve, server_of(offers, INSTRUCTIONS)))
    return Exit.OK
