"""`accordance judge`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.ledger_commands import isolation_option
from accordance.cli.reading import is_stream, must_be_a_name, read_bounded
from accordance.cli.stopping import tidied_up
from accordance.domain.escalation import NextAction
from accordance.domain.verdict import Outcome

if TYPE_CHECKING:
    from accordance.judging.judgement import Judgement

_FORMATS = ("text", "003", "004", "github", "junit", "sarif")


@click.command(name="judge")
@click.option("--task", required=True, metavar="FILE|-", type=click.Path(allow_dash=True), help="What was asked: scc.task.v1.")  # fmt: skip
@click.option("--submit", metavar="FILE|-", type=click.Path(allow_dash=True), help="What the agent says it did: scc.submit.v1.  [default: the submit.json in its evidence folder; else one is made from facts]")  # fmt: skip
@click.option("--repo", default=".", show_default=True, metavar="DIR", type=click.Path(), help="The tree as the agent left it.")  # fmt: skip
@click.option("--base", metavar="COMMIT|COPY", help="The full id of the commit the agent began at; without git, an earlier copy of the directory.")  # fmt: skip
@click.option("--baseline", metavar="FILE", type=click.Path(), help="In place of --base: what `accordance baseline` recorded before the agent began.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Refuse a tree in which git would run programs (hooks, filters) that no baseline knows.")  # fmt: skip
@click.option("--attempt", default=1, show_default=True, type=click.IntRange(1), help="Which attempt this is, counted from 1.")  # fmt: skip
@isolation_option
@click.option("--artifacts", metavar="DIR", type=click.Path(), help="Where artifacts/TASK_ID/attempt-N/ is written.  [default: the repository]")  # fmt: skip
@click.option("--attest", metavar="KEY", type=click.Path(), help="Sign the evidence with this private key (PEM, Ed25519).")  # fmt: skip
@click.option("--model", metavar="NAME", help="The model that did the work.")
@click.option("--executor", metavar="NAME", help="The agent that did the work.")
@click.option("--format", "output_format", type=click.Choice(_FORMATS), default="text", show_default=True, help="003 is scc.outcome.v1, 004 is scc.verdict.v1.")  # fmt: skip
@click.option(
    "--json", "as_json", is_flag=True, help="Print everything that was found as JSON."
)
def command(
    task: str,
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
    output_format: str,
    as_json: bool,
) -> int:
    """Find out what an agent really did, and judge it.

    The difference is taken by accordance itself, every test command of the task is run by accordance itself, on a copy,
    isolated and without network; what the agent says is held against that. Run it when the agent's processes are gone.

    Exit code 0 if the work is DONE, 1 for RETRY and REJECT, 3 if a person must decide, 2 if the task is wrong.
    """
    if task == submit == "-":
        raise click.UsageError("--task and --submit cannot both be standard input")
    for name in (repo, base, baseline, artifacts):
        must_be_a_name(name or ".")
    from accordance.cli import judgement_output
    from accordance.domain.case import Usage
    from accordance.judging.judge import judge
    from accordance.workspace.errors import UnknownBase

    try:
        with tidied_up(), _progress() as tell:
            found = judge(
                _paper(task),
                None if submit is None else _paper(submit),
                repo=repo,
                base=base,
                baseline=baseline,
                strict=strict,
                attempt=attempt,
                isolation=isolation,
                artifacts=artifacts,
                attest=attest,
                usage=Usage(model=model, executor=executor),
                tell=tell,
            )
    except UnknownBase as error:
        raise Failure(str(error), Exit.NOT_FOUND) from None
    written = (
        judgement_output.as_json if as_json else judgement_output.FORMATS[output_format]
    )
    click.echo(written(found, "task.json" if task == "-" else task))
    return exit_code(found)


def exit_code(judgement: Judgement) -> Exit:
    """What the shell is told."""
    if judgement:
        return Exit.OK
    waits = (
        judgement.outcome is Outcome.ESCALATE
        and judgement.verdict.next_action is NextAction.HUMAN
    )
    return Exit.WAITING if waits else Exit.REJECTED


def _paper(file: str) -> Path | bytes:
    return read_bounded(file) if file == "-" or is_stream(file) else Path(file)


@contextmanager
def _progress() -> Iterator[Callable[[str], object]]:
    """On a terminal, what is being done right now."""
    if not sys.stderr.isatty():
        yield str
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    with Live(
        console=Console(stderr=True), transient=True
    ) as live:  # every step is drawn, however quick
        yield lambda what: live.update(Spinner("dots", Text(what)), refresh=True)
