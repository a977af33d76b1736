"""`accordance task prompt | plan prompt`: what an executor was told, word for word; and how runs are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import click

from accordance.cli.desk import Where, at_desk, find_plan, find_task, json_option, ledger_options, say
from accordance.cli.exits import Exit, Failure
from accordance.cli.spent import spent_text

if TYPE_CHECKING:
    from accordance.store.ledger import Transaction
    from accordance.work.run_log import KeptRun

_attempt_option: Final = click.option(
    "--attempt", type=click.IntRange(1), help="Of this attempt.  [default: the last]"
)
_call_option: Final = click.option(
    "--call", type=click.IntRange(1), help="Message by message, as a model was told in this call of the run."
)


@click.command()
@click.argument("task")
@_attempt_option
@click.option("--kind", type=click.Choice(["action", "review"]), help="Of the work, or of its review.")
@_call_option
@ledger_options
@json_option
def prompt(
    task: str, attempt: int | None, kind: str | None, call: int | None, where: Where, as_json: bool
) -> int:
    """Print the prompt of a run, rebuilt from what is kept: word for word what the executor was told.

    A model may be asked several times within a run; --call 2 is what it was told when it was first asked again. With --json
    also the recipe: every part with its name and hash, which executor and model it went to, what was cut.
    """
    from accordance.work.run_log import run_of

    with at_desk(where) as desk, desk.ledger.read() as tx:
        name = find_task(tx, task).task_id
        run = run_of(tx, name, attempt=attempt, kind=kind)
        return _print(tx, run, {"task_id": name}, call, as_json)


@click.command(name="prompt")
@click.argument("plan", required=False)
@_attempt_option
@click.option(
    "--kind", type=click.Choice(["plan", "plan_review"]), help="Of who wrote the plan, or of who reviewed it."
)
@_call_option
@ledger_options
@json_option
def plan_prompt(
    plan: str | None, attempt: int | None, kind: str | None, call: int | None, where: Where, as_json: bool
) -> int:
    """Print what whoever wrote or reviewed a PLAN was told (`accordance plan create`), word for word, as `task prompt` does."""
    from accordance.work.run_log import run_about

    with at_desk(where) as desk, desk.ledger.read() as tx:
        name = find_plan(tx, plan).plan_id
        run = run_about(tx, name, attempt=attempt, kind=kind)
        return _print(tx, run, {"plan_id": name}, call, as_json)


def _print(tx: Transaction, run: KeptRun, about: dict[str, Any], call: int | None, as_json: bool) -> int:
    from accordance.work.rebuilding import calls_in, messages_of
    from accordance.work.run_log import rebuilt

    again, calls = rebuilt(tx, run.recipe or ""), calls_in(tx, run)
    if call and call > max(1, len(calls)):
        made = len(calls) or "none that is known"
        raise Failure(f"no call {call} in this run, which made {made}", Exit.NOT_FOUND)
    messages = messages_of(again, calls, call) if call else []
    if as_json:
        told = {"recipe": again.recipe(), "system": again.system, "user": again.user, "calls": len(calls)}
        say({**about, **run.to_json(), **told, **({"messages": messages} if call else {})})
    elif call:
        click.echo("\n\n".join(f"[{one['role']}]\n{one['content']}" for one in messages))
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
