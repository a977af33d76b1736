"""Answers that broke their contract and were asked for again within a run.

Each leaves its event and its count. The run goes on, so the task is FAILED only for the
moment between the two events. A fixed answer is not held against the task: its retries
count its runs, not the answers within them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from accordance.domain.lifecycle import Event, State
from accordance.executors.protocol import ASKED_AGAIN
from accordance.store.ledger import Transaction

_RESUMING_EVENTS: Final = {
    State.IN_PROGRESS: Event.ASKED_AGAIN,
    State.READY_TO_CHECK: Event.REVIEWER_ASKED_AGAIN,
}


def bad_answers(report: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return the answers in a run's report that had to be asked for again."""
    records = report.get("seen", ())
    bad = [record for record in records if record["what"] == ASKED_AGAIN]
    return [{"answer": record["answer"], "why": record["why"]} for record in bad]


def record_bad_answers(
    tx: Transaction, task_id: str, attempt: int, report: Mapping[str, Any]
) -> int:
    """Record the bad answers of a run, if the attempt is still the task's own.

    Returns the number of the attempt afterwards: each bad answer was an attempt.
    """
    task = tx.task(task_id)
    lease = task.lease
    progress = task.progress
    resuming = _RESUMING_EVENTS.get(progress.state)
    is_current = progress.standing.counters.attempts == attempt
    if lease is None or resuming is None or not is_current:
        return attempt

    lease_of_rest = replace(lease, reserved=None)  # the run is over and costs no more
    for answer in bad_answers(report):
        tx.happen(task_id, Event.UNPARSEABLE, why=answer)
        tx.happen(task_id, resuming)
        tx.take(task_id, lease_of_rest)

    task = tx.task(task_id)
    return task.progress.standing.counters.attempts
