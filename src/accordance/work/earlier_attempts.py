"""What is known of earlier attempts at a task: errors, verdicts and the last review."""

from __future__ import annotations

import json
from typing import Any, Final

from accordance.domain.faults import Fault, describe_fault
from accordance.domain.records import (
    MessageRecord,
    ReviewRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.store.ledger import Transaction

MANY_VERDICTS: Final = 3
"""Verdicts that the worker on a change is shown."""
MAX_LINE: Final = 300
"""Characters of each."""


def last_review(tx: Transaction, subject: str) -> dict[str, Any] | None:
    """Return the newest review, with its suggestions."""
    reviews = tx.find(ReviewRecord, subject=subject)
    if not reviews:
        return None

    newest = reviews[-1]
    review: dict[str, Any] = json.loads(tx.blob(newest.document))
    return {"artifact_sha256": newest.product, **review}


def last_errors(tx: Transaction, task: TaskRecord) -> list[str]:
    """Return what was wrong with the last message, and why none has come since.

    The second is there if a later run ended without a message.
    """
    last: MessageRecord | None = None
    fault: MessageRecord | None = None
    for message in tx.find(MessageRecord, subject=task.task_id):
        if "refused" in message.case:
            continue
        if message.kind in ("ACTION", "SUBMISSION"):
            last, fault = message, None
        elif message.kind == "FAULT" and "product" not in message.case:
            fault = message  # with a product it was the fault of a reviewer

    errors = []
    if last is not None:
        errors += _errors_of(last)
    if fault is not None:
        report = json.loads(tx.blob(fault.sha256))
        errors.append(_describe(Fault(report["fault"]), report["text"]))
    return errors


def _describe(fault: Fault, text: str) -> str:
    if fault is Fault.CONFLICT:
        return f"Your last change was good by itself, but {text}."
    return describe_fault(fault, text)


def _errors_of(message: MessageRecord) -> list[str]:
    """Why a message was rejected, or its change not accepted."""
    feedback = message.answer.get("tell")
    if message.accepted and "tell" not in message.answer:
        return []

    if isinstance(feedback, str):
        lines = [line.removeprefix("- ") for line in feedback.splitlines()]
        if lines:
            return lines

    errors = message.answer.get("messages", [])
    if not isinstance(errors, list):
        return []
    return [str(error) for error in errors]


def verdict_history(tx: Transaction, task: TaskRecord) -> list[str]:
    """Return the last few verdicts on a task, a line each."""
    messages = tx.find(MessageRecord, subject=task.task_id)
    by_id = {message.message_id: message for message in messages}

    history = []
    for verdict in tx.find(VerdictRecord, subject=task.task_id)[-MANY_VERDICTS:]:
        message = by_id[verdict.message_id]
        line = (
            f"attempt {message.attempt}, {message.kind.lower()}:"
            f" {verdict.outcome} {verdict.reason_code}"
        )
        if verdict.messages:
            line += f": {verdict.messages[0][:MAX_LINE]}"
        history.append(line)
    return history
