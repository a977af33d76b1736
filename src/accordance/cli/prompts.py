"""`accordance task prompt`: what an executor was told, word for word; and how runs are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from accordance.cli.desk import Where, at_desk, find_task, json_option, ledger_options, say
from accordance.cli.exits import Exit
from accordance.cli.spent import spent_text


@click.command()
@click.argument("task")
@click.option("--attempt", type=click.IntRange(1), help="Of this attempt.  [default: the last]")
@click.option("--kind", type=click.Choice(["action", "review"]), help="Of the work, or of its review.")
@ledger_options
@json_option
def prompt(task: str, attempt: int | None, kind: str | None, where: Where, as_json: bool) -> int:
    """Print the prompt of a run, rebuilt from what is kept: word for word what the executor was told.

    With --json also its recipe: every part with its name and hash, which executor and model it went to, what was cut.
    """
    from accordance.engine.kept_runs import rebuilt, run_of

    with at_desk(where) as desk, desk.ledger.read() as tx:
        name = find_task(tx, task).task_id
        run = run_of(tx, name, attempt=attempt, kind=kind)
        again = rebuilt(tx, run.recipe or "")
    if as_json:
        say(
            {
                "task_id": name,
                **run.to_json(),
                "recipe": again.recipe(),
                "system": again.system,
                "user": again.user,
            }
        )
    else:
        click.echo(again.text)
    return Exit.OK


def run_line(run: Mapping[str, Any]) -> str:
    """A run in a line."""
    who = " ".join(str(part) for part in (run["executor"], run["model"]) if part)
    head = f"{run['kind']} {run['attempt']}  {who or 'nobody'}"
    ran = run["ran"]
    if ran is None:
        return f"{head}  runs, or was cut off"
    ended = f"{ran['code']}: {ran['text']}" if ran["fault"] else f"{ran['bytes']:,} bytes"
    cost = [spent_text(ran)] if ran["calls"] else []
    return ", ".join([f"{head}  {ended}", *cost, f"{ran['duration_ms'] / 1000:.1f} s"])
