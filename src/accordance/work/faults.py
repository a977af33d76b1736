"""A run that ended without a message. Our own report of it stands where the message would: kept, ruled, recomputable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from accordance.domain.faults import FAULTS, Fault
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import MessageRecord, TaskRecord
from accordance.store.ledger import Transaction
from accordance.store.rows import turn_of_task
from accordance.work.intake import (
    ArrivedMessage,
    arrive,
    case_of,
    judge_arrived,
    refuse,
    settle,
)
from accordance.work.receipts import Receipt
from accordance.work.run_log import report_bytes
from accordance.work.tasks import LEASE_SECONDS, take_up


def fail_in(
    tx: Transaction,
    task_id: str,
    attempt: int,
    report: dict[str, Any],
    lease: str | None = None,
) -> Receipt:
    """A run has ended without a message, for the reason in the report (`code`, `text`, what was seen).

    A product may be reviewed several times within one attempt: `lease` says until when whoever has failed had it.
    """
    arrived = arrive(tx, task_id, "FAULT", report_bytes(report))
    state, is_current = arrived.task.progress.state, arrived.attempt == attempt
    if is_current and state is State.IN_PROGRESS:
        return _settle_fault(tx, arrived, report)
    if is_current and state is State.READY_TO_CHECK and _has(arrived.task, lease):
        return _settle_review_fault(tx, arrived)
    return refuse(tx, arrived, f"attempt {attempt} of task {task_id} is over")


def fail_unbegun(tx: Transaction, task_id: str, fault: Fault, text: str) -> None:
    """Nobody can begin a task that is ready: an attempt that ends before anybody was asked."""
    task = tx.task(task_id)
    tx.lock(task.plan_id)
    task = tx.task(task_id)
    if turn_of_task(task) is not None:
        taken = take_up(tx, task, "engine", LEASE_SECONDS)
        fail_in(tx, task_id, taken.attempt, report_of(fault, text))


def report_of(fault: Fault, text: str) -> dict[str, Any]:
    """Our own report where no executor ran, or nobody could say how it ended."""
    return {"fault": fault.value, "code": FAULTS[fault].code, "text": text}


def hand_back_in(
    tx: Transaction, task_id: str, attempt: int, lease: str | None = None
) -> None:
    """A run was stopped from outside: the task is put down again, nothing counts as a failure."""
    task = tx.task(task_id)
    tx.lock(task.plan_id)
    task = tx.task(task_id)
    if (
        task.progress.state is State.IN_PROGRESS
        and task.progress.standing.counters.attempts == attempt
    ):
        tx.happen(task_id, Event.RELEASED, why={"by": "engine"})
    elif task.progress.state is State.READY_TO_CHECK and _has(task, lease):
        tx.save_task(task_id, lease=None)


def _has(task: TaskRecord, lease: str | None) -> bool:
    """Whether a product's reviewer still has it: that one, or whoever if nobody says which."""
    return task.lease is not None and lease in (None, task.lease.until)


def _settle_fault(
    tx: Transaction, arrived: ArrivedMessage, report: dict[str, Any]
) -> Receipt:
    case = case_of(tx, arrived.task, has_stronger=bool(report.get("stronger")))
    return _take_effect(tx, arrived, {"task": asdict(case)})


def _settle_review_fault(tx: Transaction, arrived: ArrivedMessage) -> Receipt:
    """The reviewer of a product without a CHECK of its own has failed: the product is put down for the next one."""
    alike = tx.find(MessageRecord, subject=arrived.task.task_id, sha256=arrived.sha256)
    arrived = replace(
        arrived, copies=len(alike)
    )  # two reviews of one product may fail in the same words
    case = {"task": asdict(case_of(tx, arrived.task)), "product": arrived.task.product}
    answer = _take_effect(tx, arrived, case)
    tx.save_task(arrived.task.task_id, lease=None)
    return answer


def _take_effect(
    tx: Transaction, arrived: ArrivedMessage, case: Mapping[str, Any]
) -> Receipt:
    judged = judge_arrived(arrived, case)

    def act() -> dict[str, Any]:
        tx.rule(arrived.task.task_id, judged.ruling, {"message": arrived.message_id})
        return {}

    return settle(tx, arrived, judged, case, act)
