"""`accordance judge`: judge what an agent did to a tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.judgement_output import (
    Output,
    format_option,
    outputs_of,
    write_judgement,
)
from accordance.cli.ledger_commands import isolation_option
from accordance.cli.reading import is_stream, must_be_a_name, read_bounded
from accordance.cli.stopping import tidied_up
from accordance.domain.escalation import NextAction

if TYPE_CHECKING:
    from accordance.judging.judgement import Judgement


@click.command(name="judge")
@click.option("--task", metavar="FILE|-", type=click.Path(allow_dash=True), help="The task: scc.task.v1.")  # fmt: skip
@click.option("--submit", metavar="FILE|-", type=click.Path(allow_dash=True), help="What the agent claims: scc.submit.v1.  [default: the submit.json in its evidence folder, else a submission written from the facts]")  # fmt: skip
@click.option("--repo", default=".", show_default=True, metavar="DIR", type=click.Path(), help="The tree as the agent left it.")  # fmt: skip
@click.option("--base", metavar="COMMIT|COPY", help="The full id of the commit the agent started from; without git, an earlier copy of the directory.")  # fmt: skip
@click.option("--baseline", metavar="FILE", type=click.Path(), help="Instead of --base: the file that `accordance baseline` wrote before the agent started.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Refuse a tree in which git would run programs (hooks, filters) that are in no baseline.")  # fmt: skip
@click.option("--attempt", default=1, show_default=True, type=click.IntRange(1), help="The number of the attempt, counted from 1.")  # fmt: skip
@isolation_option
@click.option("--artifacts", metavar="DIR", type=click.Path(), help="Where artifacts/TASK_ID/attempt-N/ is written.  [default: the repository]")  # fmt: skip
@click.option("--attest", metavar="KEY", type=click.Path(), help="Sign the evidence with this private key (PEM, Ed25519).")  # fmt: skip
@click.option("--model", metavar="NAME", help="The model that did the work.")
@click.option("--executor", metavar="NAME", help="The agent that did the work.")
@format_option
@click.option("--explain-environment", "explains", is_flag=True, help="Judge nothing: say what would be prepared for the tests, and why.")  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True, help="Print the whole judgement: --format json."
)
def command(
    task: str | None,
    submit: str | None,
    repo: str,
    base: str | None,
    baseline: str | None,
    strict: bool,
    attempt: int,
    isolation: str | None,
    artifacts: str | None,
    attest: str | None,
    model: str | None,
    executor: str | None,
    formats: tuple[Output, ...],
    explains: bool,
    as_json: bool,
) -> int:
    """Find out what an agent really did, and judge it.

    accordance takes the difference itself and runs every test command of the task
    itself, on an isolated copy without network. What the agent claims is compared with
    that. Run it when the agent's processes have ended.

    Exit code 0: the work is DONE; 1: RETRY, REJECT or ESCALATE; 2: the task is invalid;
    3: whatever the outcome, a person must decide. `accordance render` shows a judgement
    again.
    """
    from accordance.domain.usage import Usage
    from accordance.judging.judge import judge
    from accordance.workspace.errors import UnknownBase

    if task == submit == "-":
        raise click.UsageError("--task and --submit cannot both be standard input")
    for name in (repo, base, baseline, artifacts):
        must_be_a_name(name or ".")
    if explains:
        return _explain(task, repo, base, baseline, as_json=as_json)
    if task is None:
        raise click.MissingParameter(param_hint="'--task'", param_type="option")

    outputs = outputs_of(formats, as_json=as_json)
    try:
        with tidied_up(), _progress() as show_step:
            judgement = judge(
                _document(task),
                None if submit is None else _document(submit),
                repo=repo,
                base=base,
                baseline=baseline,
                strict=strict,
                attempt=attempt,
                isolation=isolation,
                artifacts=artifacts,
                attest=attest,
                usage=Usage(model=model, executor=executor),
                tell=show_step,
            )
    except UnknownBase as error:
        raise Failure(str(error), Exit.NOT_FOUND) from None

    write_judgement(judgement, outputs, "task.json" if task == "-" else task)
    return exit_code(judgement)


def _explain(
    task: str | None,
    repo: str,
    base: str | None,
    baseline: str | None,
    *,
    as_json: bool,
) -> int:
    """Print what would be prepared for the tests."""
    from accordance.cli import environment_output
    from accordance.judging.judge import explain_environment
    from accordance.workspace.errors import UnknownBase

    document = None if task is None else _document(task)
    try:
        explanation = explain_environment(
            document,
            repo=repo,
            base=base,
            baseline=baseline,
        )
    except UnknownBase as error:
        raise Failure(str(error), Exit.NOT_FOUND) from None
    write = environment_output.as_json if as_json else environment_output.as_text
    click.echo(write(explanation))
    return Exit.OK


def exit_code(judgement: Judgement) -> Exit:
    """The exit code of a judgement: 3 where a person has the next move."""
    if judgement:
        return Exit.OK
    if judgement.verdict.next_action is NextAction.HUMAN:
        return Exit.WAITING
    return Exit.REJECTED


def _document(file: str) -> Path | bytes:
    """A file to read, or the content of a pipe, which can only be read once."""
    if file == "-" or is_stream(file):
        return read_bounded(file)
    return Path(file)


@contextmanager
def _progress() -> Iterator[Callable[[str], object]]:
    """Show the current step, on a terminal only."""
    if not sys.stderr.isatty():
        yield str
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    with Live(console=Console(stderr=True), transient=True) as live:

        def show_step(step: str) -> None:
            spinner = Spinner("dots", Text(step))
            live.update(spinner, refresh=True)  # every step is drawn, however quick

        yield show_step
