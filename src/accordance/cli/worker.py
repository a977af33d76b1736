"""`accordance worker`: one more process that works on a PostgreSQL ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from accordance.cli.exits import Exit, Failure, one_line
from accordance.cli.ledger_commands import (
    Where,
    isolation_option,
    json_option,
    ledger_options,
    opened,
    say,
)
from accordance.cli.showing import tell
from accordance.cli.stopping import leave, stoppable

if TYPE_CHECKING:
    from accordance.service.views.runs import AttemptView


@click.command(name="worker")
@click.option("--plan", help="Only this plan.")
@click.option(
    "--concurrency",
    type=click.IntRange(1),
    help="Runs at once, whatever the executors allow.",
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
    """Work on whatever comes, until stopped; any number of workers share a PostgreSQL ledger.

    What a worker leaves behind that dies, the others go on with, within seconds. SIGTERM or Ctrl-C: what runs is ended or
    handed back, then it leaves.
    """
    from accordance.service.runs import DEAD_AFTER_SECONDS, NotShared, prepare_worker

    listener = _tell_json if as_json else _tell
    with opened(where) as project:
        try:
            worker = prepare_worker(
                project,
                plan,
                concurrency=concurrency,
                isolation=isolation,
                listener=listener,
                warn=one_line,
            )
        except NotShared:
            raise Failure(
                "workers share a PostgreSQL ledger; on SQLite `accordance run` is the one process",
                Exit.USAGE,
            ) from None
        if not as_json:
            seconds = f"{DEAD_AFTER_SECONDS:.0f} s"
            tell(
                f"{worker.name} works; the others take over {seconds} after its last sign of life"
            )
        with stoppable(worker.stop):
            worker.until_stopped()
    return leave(Exit.OK, is_clean=worker.is_clean)


def _tell(attempt: AttemptView) -> None:
    """One line for each attempt that has ended here."""
    answer = attempt.answer
    decided = answer.outcome or answer.status
    parts = (
        attempt.task_id,
        f"{attempt.kind} {attempt.attempt}",
        decided,
        answer.reason_code,
        answer.state,
    )
    tell("  ".join(part for part in parts if part))


def _tell_json(attempt: AttemptView) -> None:
    say(attempt.to_json())
