"""Answers that honour no contract and were asked for again within one run: each leaves its event and its count.

The run goes on, so the task is FAILED only for the moment between the two events. What was mended is not held against it:
the retries of a task count its runs, not the answers within them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accordance.domain.lifecycle import Event, State
from accordance.executors.protocol import ASKED_AGAIN
from accordance.store.ledger import Transaction

_GOES_ON = {
    State.IN_PROGRESS: Event.ASKED_AGAIN,
    State.READY_TO_CHECK: Event.REVIEWER_ASKED_AGAIN,
}


def answers_mended(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a run's report says about answers that had to be asked for again."""
    return [seen for seen in report.get("seen", ()) if seen["what"] == ASKED_AGAIN]


def count_mended(
    tx: Transaction, task_id: str, attempt: int, report: Mapping[str, Any]
) -> int:
    """Write them down, if the attempt is still the task's. Its number afterwards: each of them was an attempt."""
    task = tx.task(task_id)
    goes_on = _GOES_ON.get(task.progress.state)
    if (
        goes_on is None
        or task.lease is None
        or task.progress.standing.counters.attempts != attempt
    ):
        return attempt
    for answer in answers_mended(report):
        why = {"answer": answer["answer"], "why": answer["why"]}
        tx.happen(task_id, Event.UNPARSEABLE, why=why)
        tx.happen(task_id, goes_on)
        tx.take(task_id, task.lease)
    return tx.task(task_id).progress.standing.counters.attempts
