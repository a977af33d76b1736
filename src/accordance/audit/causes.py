"""Tasks that went on because a cause outside was gone: each names a question for that."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from accordance.audit.findings import AuditFindings
from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event
from accordance.domain.outside_causes import cause_from, is_of_review
from accordance.domain.records import PlanRecord, QuestionRecord
from accordance.store.ledger import Transaction

GOING_ON: Final = (Event.CAUSE_GONE, Event.REVIEW_CAUSE_GONE)


def verify_causes(
    tx: Transaction,
    plan: PlanRecord,
    events: Iterable[ChainEntry],
    findings: AuditFindings,
) -> None:
    """Check that every task that went on by itself was asked about such a cause.

    Only a run may let a task go on, and only where nothing about the task was wrong.
    """
    for entry in events:
        name = str(entry.payload.get("question"))
        questions = tx.find(QuestionRecord, plan_id=plan.plan_id, question_id=name)
        if not questions or not _explains(questions[0], entry):
            findings.broken(
                f"event {entry.seq}: {entry.kind} of task {entry.task_id}"
                " has no question with that cause"
            )


def _explains(question: QuestionRecord, entry: ChainEntry) -> bool:
    is_its_cause = question.cause == entry.payload.get("cause")
    is_its_task = question.task_id == entry.task_id
    is_its_kind = is_of_review(question) is (entry.kind == Event.REVIEW_CAUSE_GONE)
    has_cause = cause_from(question.cause) is not None
    return is_its_cause and is_its_task and is_its_kind and has_cause
