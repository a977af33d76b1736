"""The messages about a task: as they came, and what their contract made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accordance.contracts.serialising import dump
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.records import MessageRecord, TaskRecord
from accordance.errors import AccordanceError, NotFound
from accordance.service.downloads import Download
from accordance.service.project import Project, find_task
from accordance.service.views.task_pages import MessageListView, MessageView
from accordance.store.ledger import Transaction
from accordance.work.contracts_for import ACTIONS, contract_under, held_to
from accordance.work.message_kinds import Grounds, read_message

MOST_MESSAGES: Final = 50
_LONGEST_RAW: Final = 32 << 10
_LARGEST_READ: Final = 1 << 20
"""A larger message is not read again to be shown."""


def task_messages(
    project: Project,
    name: str,
    attempt: int | None = None,
) -> MessageListView:
    """Return the newest messages about a task, of an attempt or of all."""
    where = {} if attempt is None else {"attempt": attempt}
    with project.ledger.read() as tx:
        task = find_task(tx, name)
        messages = tx.find(MessageRecord, subject=task.task_id, **where)
        newest = messages[-MOST_MESSAGES:]
        items = tuple(_message(tx, task, message) for message in newest)
    return MessageListView(
        task_id=task.task_id,
        items=items,
        left_out=len(messages) - len(items),
    )


def raw_message(project: Project, name: str, message_id: str) -> Download:
    """Return a message about a task, byte for byte. Raises NotFound."""
    with project.ledger.read() as tx:
        task = find_task(tx, name)
        messages = tx.find(MessageRecord, subject=task.task_id, message_id=message_id)
        if not messages:
            known = tx.find(MessageRecord, subject=task.task_id)
            raise NotFound("message", message_id, [each.message_id for each in known])
        raw = tx.blob(messages[0].sha256)
    return Download("message.json", raw, "application/octet-stream")


def _message(tx: Transaction, task: TaskRecord, message: MessageRecord) -> MessageView:
    raw = tx.blob(message.sha256)
    result = _read_again(tx, task, message, raw)
    answer = message.answer
    status = "accepted" if message.accepted else "rejected"
    refused = message.case.get("refused")
    if refused is not None:
        status = "refused"
    return MessageView(
        message_id=message.message_id,
        kind=message.kind,
        attempt=message.attempt,
        at=message.at,
        status=status,
        why_refused=_text(refused),
        outcome=_text(answer.get("outcome")),
        reason_code=_text(answer.get("reason_code")),
        bytes=len(raw),
        raw=raw[:_LONGEST_RAW].decode("utf-8", "replace"),
        is_cut=len(raw) > _LONGEST_RAW,
        **_reading(result),
    )


def _reading(result: Accepted[Any] | Rejected | None) -> Mapping[str, Any]:
    if result is None:
        return {
            "contract": None,
            "value": None,
            "repairs": (),
            "violations": (),
            "total_violations": 0,
            "warnings": (),
        }
    read: dict[str, Any] = {
        "contract": result.contract,
        "repairs": tuple(repair.to_json() for repair in result.repairs),
        "warnings": tuple(warning.to_json() for warning in result.warnings),
    }
    if isinstance(result, Accepted):
        value = dump(result.value)
        return {**read, "value": value, "violations": (), "total_violations": 0}
    violations = []
    for violation in result.violations:
        row = {**violation.to_json(), "text": str(violation)}
        violations.append(row)
    return {
        **read,
        "value": result.message,
        "violations": tuple(violations),
        "total_violations": result.total,
    }


def _read_again(
    tx: Transaction,
    task: TaskRecord,
    message: MessageRecord,
    raw: bytes,
) -> Accepted[Any] | Rejected | None:
    """Read a message by its contract; None where there is none to read it by."""
    is_ours = message.kind in ("FAULT", "REBASE")
    if is_ours or "refused" in message.case or len(raw) > _LARGEST_READ:
        return None
    try:
        held = held_to(tx, task)
        contract = contract_under(tx, task, held) if held else ACTIONS
        grounds = Grounds(
            subject=message.subject,
            rules=tx.plan(message.plan_id).rules,
            case=message.case,
            contract=contract,
        )
        return read_message(message.kind, raw, grounds)
    except AccordanceError:  # its agents' contract is not to be had any more
        return None


def _text(value: object) -> str | None:
    return None if value is None else str(value)
