"""`accordance task prompt | plan prompt`: what an executor was told, word for word; and how runs are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    say,
)
from accordance.cli.spent import spent_text

if TYPE_CHECKING:
    from accordance.service.views.runs import PromptView, RunView

_attempt_option: Final = click.option(
    "--attempt", type=click.IntRange(1), help="Of this attempt.  [default: the last]"
)
_call_option: Final = click.option(
    "--call",
    type=click.IntRange(1),
    help="Message by message, as a model was told in this call of the run.",
)


@click.command()
@click.argument("task")
@_attempt_option
@click.option(
    "--kind",
    type=click.Choice(["action", "review"]),
    help="Of the work, or of its review.",
)
@_call_option
@ledger_options
@json_option
def prompt(
    task: str,
    attempt: int | None,
    kind: str | None,
    call: int | None,
    where: Where,
    as_json: bool,
) -> int:
    """Print the prompt of a run, rebuilt from what is kept: word for word what the executor was told.

    A model may be asked several times within a run; --call 2 is what it was told when it was first asked again. With --json
    also the recipe: every part with its name and hash, which executor and model it went to, what was cut.
    """
    from accordance.service.prompts import task_prompt

    with opened(where) as project:
        told = task_prompt(project, task, attempt=attempt, kind=kind, call=call)
    return _print(told, call, as_json)


@click.command(name="prompt")
@click.argument("plan", required=False)
@_attempt_option
@click.option(
    "--kind",
    type=click.Choice(["plan", "plan_review"]),
    help="Of who wrote the plan, or of who reviewed it.",
)
@_call_option
@ledger_options
@json_option
def plan_prompt(
    plan: str | None,
    attempt: int | None,
    kind: str | None,
    call: int | None,
    where: Where,
    as_json: bool,
) -> int:
    """Print what whoever wrote or reviewed a PLAN was told (`accordance plan create`), word for word, as `task prompt` does."""
    from accordance.service import prompts

    with opened(where) as project:
        told = prompts.plan_prompt(project, plan, attempt=attempt, kind=kind, call=call)
    return _print(told, call, as_json)


def _print(told: PromptView, call: int | None, as_json: bool) -> int:
    if as_json:
        say(told.to_json())
    elif call:
        click.echo(
            "\n\n".join(
                f"[{message.role}]\n{message.content}" for message in told.messages
            )
        )
    else:
        click.echo(told.text)
    return Exit.OK


def run_line(run: RunView) -> str:
    """A run in a line."""
    executor = " ".join(part for part in (run.executor, run.model) if part)
    head = f"{run.kind} {run.attempt}  {executor or 'nobody'}"
    ran = run.ran
    if ran is None:
        return f"{head}  runs, or was cut off"
    ended = (
        f"{ran['code']}: {ran['text']}" if ran["fault"] else f"{ran['bytes']:,} bytes"
    )
    cost = [spent_text(run.spent)] if run.spent.calls else []
    return ", ".join([f"{head}  {ended}", *cost, f"{ran['duration_ms'] / 1000:.1f} s"])
