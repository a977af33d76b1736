"""A run that ended without a message. Our own report of it stands where the message would: kept, ruled, recomputable."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

from accordance.contracts.violation import Rejected, Violation
from accordance.domain.lifecycle import Event, State
from accordance.domain.ruling import Ruling, rule_fault
from accordance.engine.answers import Answer
from accordance.engine.submitting import Arrived, arrive, case_of, refuse, settle
from accordance.store.ledger import Transaction


def fail_in(tx: Transaction, task_id: str, attempt: int, report: dict[str, Any]) -> Answer:
    """An attempt has failed without a message, for the reason in the report (`code`, `text`, what was seen)."""
    arrived = arrive(tx, task_id, "FAULT", json.dumps(report, sort_keys=True, ensure_ascii=False).encode())
    if arrived.task.progress.state is not State.IN_PROGRESS or arrived.attempt != attempt:
        return refuse(tx, arrived, f"attempt {attempt} of task {task_id} is over")
    return _settle_fault(tx, arrived, report)


def hand_back_in(tx: Transaction, task_id: str, attempt: int) -> None:
    """A run was stopped from outside: the task is put down again, nothing counts as a failure."""
    task = tx.task(task_id)
    tx.lock(task.plan_id)
    task = tx.task(task_id)
    if task.progress.state is State.IN_PROGRESS and task.progress.standing.counters.attempts == attempt:
        tx.happen(task_id, Event.RELEASED, why={"by": "engine"})
    elif task.lease is not None and task.progress.state is State.READY_TO_CHECK:
        tx.save_task(task_id, lease=None)


def _settle_fault(tx: Transaction, arrived: Arrived, report: dict[str, Any]) -> Answer:
    case = case_of(tx, arrived.task)
    ruling: Ruling = rule_fault(str(report["code"]), str(report["text"]), case, arrived.plan.rules.fuses)
    missing = Rejected((Violation("no_message", "$", "a message", str(report["text"])),), 1)

    def act() -> dict[str, Any]:
        tx.rule(arrived.task.task_id, ruling, {"message": arrived.message_id})
        return {}

    return settle(tx, arrived, replace(missing), ruling, {"task": asdict(case)}, act)
