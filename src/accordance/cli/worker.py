"""`accordance worker`: a process among others that share a PostgreSQL ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from accordance.cli.causes import print_causes
from accordance.cli.completing import complete_plan
from accordance.cli.exits import Exit, Failure, print_error
from accordance.cli.ledger_commands import (
    Where,
    isolation_option,
    json_option,
    ledger_options,
    opened,
    print_json,
)
from accordance.cli.showing import print_line
from accordance.cli.stopping import leave, stoppable

if TYPE_CHECKING:
    from accordance.service.views.runs import AttemptView


@click.command(name="worker")
@click.option("--plan", shell_complete=complete_plan, help="Work on this plan only.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    help="Maximum number of attempts at once, whatever the executors allow.",
)
@isolation_option
@ledger_options
@json_option
def command(
    where: Where,
    plan: str | None,
    concurrency: int | None,
    isolation: str | None,
    as_json: bool,
) -> int:
    """Carry out tasks until stopped; any number of workers share a PostgreSQL ledger.

    The attempts of a worker that dies are taken over by the others within seconds. At
    SIGTERM or Ctrl-C its attempts are ended or handed back, then the worker exits.
    """
    from accordance.service.runs import DEAD_AFTER_SECONDS, NotShared, prepare_worker

    listener = _print_json if as_json else _print
    with opened(where) as project:
        try:
            worker = prepare_worker(
                project,
                plan,
                concurrency=concurrency,
                isolation=isolation,
                listener=listener,
                warn=print_error,
            )
        except NotShared:
            text = "workers need a PostgreSQL ledger; on SQLite use `accordance run`"
            raise Failure(text, Exit.USAGE) from None

        print_causes(worker.causes)
        if not as_json:
            seconds = f"{DEAD_AFTER_SECONDS:.0f} s"
            print_line(
                f"{worker.name} works; if it dies, the others take over after {seconds}"
            )
        with stoppable(worker.stop):
            worker.until_stopped()
    return leave(Exit.OK, is_clean=worker.is_clean)


def _print(attempt: AttemptView) -> None:
    """Print a line about an attempt of this worker that has ended."""
    answer = attempt.answer
    columns = (
        attempt.task_id,
        f"{attempt.kind} {attempt.attempt}",
        answer.outcome or answer.status,
        answer.reason_code,
        answer.state,
    )
    print_line("  ".join(column for column in columns if column))


def _print_json(attempt: AttemptView) -> None:
    print_json(attempt.to_json())
