"""Amending a plan that runs: all of it is checked, then all of it is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.records import PlanRecord, QuestionRecord, TaskRecord
from accordance.domain.ruling import QuestionKind
from accordance.store.ledger import Ledger, Transaction
from accordance.store.rows import rules_to_json
from accordance.store.storage import AmendedRows, NodeRow
from accordance.work.amendment_checks import (
    AmendmentRequest,
    PreparedAmendment,
    prepare,
)
from accordance.work.importing import (
    Source,
    ask_for_confirmations,
    document_of,
    edge_rows,
    node_rows,
    requirement_rows,
)


def amend_plan(
    ledger: Ledger,
    plan_id: str,
    request: AmendmentRequest,
    *,
    by: str,
    note: str | None = None,
    source: Source | None = None,
) -> tuple[PreparedAmendment, PlanRecord, bytes]:
    """Amend a plan; return what was done, the plan, and its document.

    Raises as `prepare` does.
    """
    with ledger.write() as tx:
        tx.lock(plan_id)
        prepared = prepare(tx, plan_id, request)
        document = document_of(prepared.plan)
        payload = _payload(tx, prepared, document, by=by, note=note)
        if source is not None:
            payload.update(source.keep(tx))

        tx.amend_plan(
            _rows(tx, prepared),
            prepared.moves,
            payload,
            document=payload["document"],
            nodes=len(prepared.plan.nodes),
            revision=payload["revision"],
            rules=prepared.rules,
            inputs_seen=None,
        )
        _settle_questions(tx, prepared, by=by)
        return prepared, tx.plan(plan_id), document


def _payload(
    tx: Transaction,
    prepared: PreparedAmendment,
    document: bytes,
    *,
    by: str,
    note: str | None,
) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "by": by,
        "document": tx.keep(document),
        "revision": prepared.record.revision + 1,
        "rules": rules_to_json(prepared.rules),
        "difference": prepared.amendment.difference.to_json(),
        "missing_inputs": dict(prepared.missing_inputs),
    }
    if note:
        payload["note"] = note
    return payload


def _rows(tx: Transaction, prepared: PreparedAmendment) -> AmendedRows:
    plan = prepared.plan
    plan_id = plan.plan.plan_id
    changes = prepared.amendment.difference
    written = {*changes.needs_added, *(item.id for item in changes.needs_changed)}
    requirements = [
        need for need in requirement_rows(plan) if need.requirement_id in written
    ]
    return AmendedRows(
        plan_id=plan_id,
        nodes=list(_changed_rows(tx, prepared)),
        removed_tasks=changes.removed,
        edges=list(edge_rows(plan)),
        requirements=requirements,
        removed_requirements=changes.needs_removed,
    )


def _changed_rows(tx: Transaction, prepared: PreparedAmendment) -> Iterator[NodeRow]:
    """Yield the nodes that are new, or of which anything is stored otherwise now."""
    graph = prepared.amendment.graph
    tasks = {task.task_id: task for task in tx.tasks(prepared.record.plan_id)}
    for row in node_rows(prepared.plan, graph, prepared.after, tx.now):
        before = tasks.get(row.task.task_id)
        if before is None:
            yield row
            continue
        carried = replace(row, task=_carried_over(before, row.task, tx.now))
        beside = {"combine": carried.combine, "rival_group": carried.rival_group}
        is_same = tx.beside_the_record(before.task_id) == beside
        if carried.task != before or not is_same:
            yield carried


def _carried_over(before: TaskRecord, after: TaskRecord, now: str) -> TaskRecord:
    """The record of a task after the amendment, with what has come of it so far."""
    is_same_state = before.progress.state is after.progress.state
    is_same_progress = before.progress == after.progress
    return replace(
        after,
        lease=before.lease if is_same_state else None,
        product=before.product,
        last_error=before.last_error,
        same_errors=before.same_errors,
        updated_at=before.updated_at if is_same_progress else now,
    )


# -- the questions of an amended plan


def _settle_questions(tx: Transaction, prepared: PreparedAmendment, *, by: str) -> None:
    """Close what needs no answer any more, ask anew, and say what has changed."""
    plan_id = prepared.record.plan_id
    changes = prepared.amendment.difference
    gone = {*changes.needs_removed, *(item.id for item in changes.needs_changed)}
    fields_of = {item.id: item.fields for item in changes.changed}
    for question in tx.open_questions(plan_id=plan_id):
        is_of_gone_need = question.details.get("requirement_id") in gone
        if question.task_id in changes.removed or is_of_gone_need:
            answer = {"closed_by": PlanEvent.AMENDED}
            tx.replace(replace(question, answered_at=tx.now, answer=answer))
        elif question.task_id in fields_of:
            names = [change.name for change in fields_of[question.task_id]]
            tx.replace(_with_note(question, names, by))

    asked = {*changes.needs_added, *(item.id for item in changes.needs_changed)}
    needs = [
        need for need in prepared.plan.requirements if need.requirement_id in asked
    ]
    ask_for_confirmations(tx, prepared.plan, needs)


def _with_note(question: QuestionRecord, names: list[str], by: str) -> QuestionRecord:
    """The question of a task, with what was amended since it was asked."""
    if question.kind is QuestionKind.CONFIRMATION:
        return question
    text = f"{question.text} (since amended by {by}: {', '.join(names)})"
    return replace(question, text=text)
