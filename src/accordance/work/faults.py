"""Runs that ended without a message.

Accordance's own report of the fault takes the place of the message: it is kept and
ruled on in the same way, and can be recomputed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from accordance.domain.faults import FAULTS, Fault
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import MessageRecord, TaskRecord
from accordance.domain.turns import turn_of
from accordance.store.ledger import Transaction
from accordance.work.arrivals import (
    ArrivedMessage,
    arrive,
)
from accordance.work.intake import (
    history_of,
    judge_arrived,
    refuse,
    settle,
)
from accordance.work.landing import landing_of
from accordance.work.lease_times import LEASE_SECONDS
from accordance.work.receipts import Receipt
from accordance.work.run_log import report_bytes
from accordance.work.taking import take_up
from accordance.work.tasks import locked_task


def fail_in(
    tx: Transaction,
    task_id: str,
    attempt: int,
    report: dict[str, Any],
    lease: str | None = None,
) -> Receipt:
    """Settle a run that ended without a message; the report says why.

    The report holds `code`, `text` and what was seen. A product may be reviewed several
    times within an attempt, so `lease`, the end of the lease, tells which review
    failed.
    """
    arrived = arrive(tx, task_id, "FAULT", report_bytes(report))
    task = arrived.task
    state = task.progress.state
    over = f"attempt {attempt} of task {task_id} is over"

    if arrived.attempt != attempt:
        return refuse(tx, arrived, over)
    if state is State.IN_PROGRESS:
        return _settle_fault(tx, arrived, report)
    if state is State.READY_TO_CHECK and _is_under_review(task, lease):
        return _settle_review_fault(tx, arrived)
    return refuse(tx, arrived, over)


def fail_unbegun(
    tx: Transaction, task_id: str, fault: Fault, text: str, lacks: str = ""
) -> None:
    """Settle a task that is ready and cannot be begun.

    It counts as an attempt that ends before an executor is asked. `lacks` names what is
    missing outside the task.
    """
    task = locked_task(tx, task_id)
    if turn_of(task) is None:
        return
    taken = take_up(tx, task, "engine", LEASE_SECONDS)
    fail_in(tx, task_id, taken.attempt, report_of(fault, text, lacks))


def report_of(fault: Fault, text: str, lacks: str = "") -> dict[str, Any]:
    """Return the report of a fault where no executor ran, or its end is unknown."""
    report = {"fault": fault.value, "code": FAULTS[fault].code, "text": text}
    if lacks:
        report["lacks"] = lacks
    return report


def hand_back_in(
    tx: Transaction, task_id: str, attempt: int, lease: str | None = None
) -> None:
    """Put down the task of a run that was stopped from outside.

    It does not count as a failure.
    """
    task = locked_task(tx, task_id)
    state = task.progress.state
    is_current = task.progress.standing.counters.attempts == attempt

    if state is State.IN_PROGRESS and is_current:
        tx.happen(task_id, Event.RELEASED, why={"by": "engine"})
    elif state is State.READY_TO_CHECK and _is_under_review(task, lease):
        tx.put_down(task_id)


def _is_under_review(task: TaskRecord, lease: str | None) -> bool:
    """Whether the named reviewer holds the product; any reviewer if none is named."""
    return task.lease is not None and lease in (None, task.lease.until)


def _settle_fault(
    tx: Transaction, arrived: ArrivedMessage, report: dict[str, Any]
) -> Receipt:
    has_stronger = bool(report.get("stronger"))
    history = history_of(tx, arrived.task, has_stronger=has_stronger)
    is_rebase = landing_of(tx, arrived.task) is not None
    history = replace(history, is_rebase=is_rebase)
    return _settle(tx, arrived, {"task": history.to_json()})


def _settle_review_fault(tx: Transaction, arrived: ArrivedMessage) -> Receipt:
    """Settle the fault of a reviewer of a product that has no CHECK.

    The product is put down for the next reviewer.
    """
    task = arrived.task
    # two reviews of a product may fail in the same words
    same_words = tx.find(MessageRecord, subject=task.task_id, sha256=arrived.sha256)
    arrived = replace(arrived, copies=len(same_words))

    case = {"task": history_of(tx, task).to_json(), "product": task.product}
    receipt = _settle(tx, arrived, case)
    tx.put_down(task.task_id)
    return receipt


def _settle(
    tx: Transaction, arrived: ArrivedMessage, case: Mapping[str, Any]
) -> Receipt:
    judged = judge_arrived(arrived, case)

    def act() -> dict[str, Any]:
        tx.rule(arrived.task.task_id, judged.ruling, {"message": arrived.message_id})
        return {}

    return settle(tx, arrived, judged, case, act)
