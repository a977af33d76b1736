"""`accordance task prompt | plan prompt`: the prompts of runs, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from accordance.cli.completing import complete_plan, complete_task
from accordance.cli.exits import Exit
from accordance.cli.ledger_commands import (
    Where,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.spent import spent_text

if TYPE_CHECKING:
    from accordance.service.views.runs import PromptView, RunView

_attempt_option: Final = click.option(
    "--attempt",
    type=click.IntRange(1),
    help="The attempt.  [default: the last]",
)
_call_option: Final = click.option(
    "--call",
    type=click.IntRange(1),
    help="The messages of this call of the model, one by one.",
)


@click.command()
@click.argument("task", shell_complete=complete_task)
@_attempt_option
@click.option(
    "--kind",
    type=click.Choice(["action", "review"]),
    help="The prompt of the work, or of its review.",
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
    """Print the prompt of a run, word for word, rebuilt from the ledger.

    A model may be called several times within a run; --call 2 shows the messages of the
    second call. With --json also the recipe: the name and hash of every part, the
    executor and the model, and what was cut.
    """
    from accordance.service.prompts import task_prompt

    with opened(where) as project:
        view = task_prompt(
            project,
            task,
            attempt=attempt,
            kind=kind,
            call=call,
        )
    return _print(view, call, as_json)


@click.command(name="prompt")
@click.argument("plan", shell_complete=complete_plan, required=False)
@_attempt_option
@click.option(
    "--kind",
    type=click.Choice(["plan", "plan_review"]),
    help="The prompt of the writer of the plan, or of its reviewer.",
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
    """Print the prompt of the writer or reviewer of a PLAN (`accordance plan create`)."""
    from accordance.service import prompts

    with opened(where) as project:
        view = prompts.plan_prompt(
            project,
            plan,
            attempt=attempt,
            kind=kind,
            call=call,
        )
    return _print(view, call, as_json)


def _print(view: PromptView, call: int | None, as_json: bool) -> int:
    if as_json:
        print_json(view.to_json())
    elif call:
        messages = [f"[{message.role}]\n{message.content}" for message in view.messages]
        click.echo("\n\n".join(messages))
    else:
        click.echo(view.text)
    return Exit.OK


def run_line(run: RunView) -> str:
    """A run in a single line: its executor, its result, its cost and its duration."""
    names = list(filter(None, (run.executor, run.model)))
    executor = " ".join(names) or "no executor"
    head = f"{run.kind} {run.attempt}  {executor}"

    end = run.ran
    if end is None:
        return f"{head}  runs, or was cut off"

    if end["fault"]:
        result = f"{end['code']}: {end['text']}"
    else:
        result = f"{end['bytes']:,} bytes"

    parts = [f"{head}  {result}"]
    if run.spent.calls:
        parts.append(spent_text(run.spent))
    parts.append(f"{end['duration_ms'] / 1000:.1f} s")
    return ", ".join(parts)
