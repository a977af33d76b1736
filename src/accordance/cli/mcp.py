"""`accordance mcp`: serve tasks to an agent over MCP."""

from __future__ import annotations

import click

from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.stopping import left_at_once


@click.command(name="mcp")
@ledger_options
@json_option
@click.option("--plan", shell_complete=complete_plan, help="Only tasks of this plan.")
@click.option(
    "--worker",
    default=None,
    help="Who takes tasks up. An agent with a name of its own gets its task back when it"
    " reconnects.  [default: the user's name]",
)
@click.option(
    "--any",
    "any_task",
    is_flag=True,
    help="Also tasks that are routed to accordance's own executors.",
)
def command(
    where: Where,
    as_json: bool,
    plan: str | None,
    worker: str | None,
    any_task: bool,
) -> int:
    """Serve tasks to an agent over MCP, on standard input and output, until it leaves.

    The tools: next_task, check, submit, get_verdict, read_evidence, ask_human, progress,
    release. With --json, only print their descriptions. `accordance serve` offers the
    same tools over HTTP.
    """
    from accordance.mcp.serving import desk_for, serve_tools
    from accordance.service.project import asking_as, plan_id_of

    with opened(where) as project:
        plan_id = plan_id_of(project, plan) if plan else None
        desk = desk_for(
            project,
            holder=asking_as(worker),
            plan_id=plan_id,
            any_task=any_task,
            resumes=worker is not None,
        )
        offers = desk.offers()
        if as_json:
            tools = [
                {
                    "name": offer.name,
                    "about": offer.about,
                    "takes": offer.takes,
                }
                for offer in offers
            ]
            print_json(tools)
        else:
            with left_at_once():
                serve_tools(offers)
    return Exit.OK
