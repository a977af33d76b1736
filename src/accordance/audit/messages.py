"""Recomputing every verdict from the raw messages and the evidence of changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from accordance.audit.findings import UNREADABLE, AuditFindings, fetch
from accordance.audit.kept_evidence import evidence_below
from accordance.audit.replaying import Revisions
from accordance.changes.settling import verdict_again
from accordance.contracts.contract import Contract
from accordance.domain.chain import Payload
from accordance.domain.records import (
    MessageRecord,
    PlanRecord,
    Rules,
    TaskRecord,
    VerdictRecord,
)
from accordance.errors import InvalidAgents, NotFound
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_tasks
from accordance.work.contracts_for import ACTIONS, contract_under
from accordance.work.message_kinds import (
    Grounds,
    JudgedMessage,
    JudgedPlanReview,
    judge_message,
    judge_plan_review,
)
from accordance.work.plan_documents import DocumentReader
from accordance.work.plan_head import REBASE

Announced: TypeAlias = dict[str, Payload]
"""Payloads of the events that announce messages, by the id of the message."""
AttemptTerms: TypeAlias = Mapping[tuple[str, int], Mapping[str, Any]]
"""What attempts are held to beyond an action, by task and attempt."""

_ID_LENGTH: Final = 40
"""Characters of a message id that findings show."""
_WITH_EVIDENCE: Final = ("SUBMISSION", REBASE)
"""The kinds of messages that are judged again by more than their own words."""
_EVIDENCE_KEYS: Final = ("bundle", "manifest", "base", "commit", "rebased")
"""Where the evidence of a change lies, in its event and in its case."""


class Rejudgement(NamedTuple):
    """What a stored message means when it is judged again."""

    accepted: bool
    outcome: str | None
    reason: str
    messages: tuple[str, ...]


def verify_messages(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    revisions: Revisions,
    terms: AttemptTerms,
    findings: AuditFindings,
) -> None:
    """Check that every message is there, was announced, and gets the same ruling."""
    verdicts = _verdicts_of(tx, plan)
    known = set()
    for message in tx.find(MessageRecord, plan_id=plan.plan_id):
        findings.messages += 1
        known.add(message.message_id)

        raw = fetch(tx, message.sha256, f"the {_label(message)}", findings)
        event = announced.get(message.message_id)
        if event is None:
            findings.missing(f"the event of {_label(message)} is missing")

        was_refused = event is not None and "why" in event
        has_evidence = message.kind in _WITH_EVIDENCE
        if raw is None or was_refused or has_evidence:
            continue
        met = revisions.at(message.seq, plan)
        ruling = _rejudge(tx, met, terms, message, raw)
        if ruling is None:
            findings.broken(_unreadable_grounds(message))
            continue
        verdict = verdicts.get(message.message_id)
        _compare_ruling(ruling, message, verdict, findings)

    for message_id in announced.keys() - known:
        findings.missing(f"message {message_id[:_ID_LENGTH]} is missing")


def _label(message: MessageRecord) -> str:
    return f"message {message.message_id[:_ID_LENGTH]}"


def _unreadable_grounds(message: MessageRecord) -> str:
    return f"{_label(message)}: what it was judged by cannot be read"


def _verdicts_of(tx: Transaction, plan: PlanRecord) -> dict[str, VerdictRecord]:
    """The verdicts of a plan, by the message they are about."""
    verdicts = tx.find(VerdictRecord, plan_id=plan.plan_id)
    return {verdict.message_id: verdict for verdict in verdicts}


def _rejudge(
    tx: Transaction,
    plan: PlanRecord,
    terms: AttemptTerms,
    message: MessageRecord,
    raw: bytes,
) -> Rejudgement | None:
    """Judge a message again by its stored case; None if that cannot be read.

    The plan is as the message met it.
    """
    held_to = terms.get((message.subject, message.attempt))
    try:
        contract: Contract[Any] = ACTIONS
        if held_to:
            task = _task_then(tx, plan, message.subject)
            contract = contract_under(tx, task, held_to)
        return judge_again(plan.rules, contract, message, raw)
    except (*UNREADABLE, InvalidAgents, NotFound):
        return None


def _task_then(tx: Transaction, plan: PlanRecord, task_id: str) -> TaskRecord:
    """The task with the words that it had in a document of its plan."""
    task = tx.task(task_id)
    if plan.document == tx.plan(plan.plan_id).document:
        return task
    node = _NODES.value(tx, plan)[task_id]
    return replace(
        task,
        title=node["title"],
        goal_statement=node.get("goal_statement"),
        owner_agent_id=node["owner_agent_id"],
    )


def _read_nodes(document: bytes) -> Mapping[str, dict[str, Any]]:
    plan: dict[str, Any] = json.loads(document)
    return {node["task_id"]: node for node in plan["nodes"]}


_NODES: Final = DocumentReader(_read_nodes, size=1)


def judge_again(
    rules: Rules,
    actions: Contract[Any],
    message: MessageRecord,
    raw: bytes,
) -> Rejudgement:
    """Judge a stored message again, by the case that was stored with it.

    `actions` is the contract its attempt is held to, if it is an action.
    """
    grounds = Grounds(
        subject=message.subject,
        rules=rules,
        case=message.case,
        contract=actions,
    )
    if message.kind == "PLAN_REVIEW":
        return _rejudgement(judge_plan_review(raw, grounds))
    if message.kind == REBASE:  # pragma: no cover - `audit/landings` checks those
        raise ValueError("a new base is no message of anybody")
    return _rejudgement(judge_message(message.kind, raw, grounds))


def _rejudgement(judged: JudgedMessage | JudgedPlanReview) -> Rejudgement:
    ruling = judged.ruling
    return Rejudgement(
        accepted=bool(judged.result),
        outcome=ruling.outcome,
        reason=ruling.reason,
        messages=ruling.messages,
    )


def _compare_ruling(
    again: Rejudgement,
    message: MessageRecord,
    verdict: VerdictRecord | None,
    findings: AuditFindings,
) -> None:
    """Compare a message and its verdict, as stored, with what was recomputed."""
    label = _label(message)
    if again.accepted != message.accepted:
        before, now = _status(message.accepted), _status(again.accepted)
        findings.broken(f"{label}: was {before}, is {now} when checked again")

    if verdict is None:
        if again.outcome is not None:
            findings.missing(f"the verdict of {label} is missing")
        return

    if again.outcome is None:
        findings.broken(f"{label} has a verdict that does not follow from it")
        return

    stored = (verdict.outcome, verdict.reason_code, verdict.messages)
    if stored != (again.outcome, again.reason, again.messages):
        findings.broken(
            f"{label}: the verdict was {verdict.outcome},"
            f" it is {again.outcome} when judged again"
        )


def _status(accepted: bool) -> str:
    return "accepted" if accepted else "rejected"


def verify_changes(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    revisions: Revisions,
    root: Path | None,
    findings: AuditFindings,
) -> None:
    """Check that every verdict on a change follows from the evidence of its event."""
    verdicts = _verdicts_of(tx, plan)
    submissions = tx.find(MessageRecord, plan_id=plan.plan_id, kind="SUBMISSION")
    judged = {
        message.message_id: message
        for message in submissions
        if "refused" not in message.case
    }

    for message_id, message in judged.items():
        event = announced.get(message_id)
        if not _is_named(message, event, findings):
            continue
        with evidence_below(tx, root, message, _label(message), findings) as below:
            if below is not None:
                verdict = verdicts.get(message_id)
                met = revisions.at(message.seq, plan)
                _rejudge_change(tx, met, below, message, verdict, findings)

    for message_id in announced.keys() - judged.keys():
        findings.missing(
            f"message {message_id[:_ID_LENGTH]}, a change that was judged, is missing"
        )


def _is_named(
    message: MessageRecord,
    event: Payload | None,
    findings: AuditFindings,
) -> bool:
    """Whether the evidence of a change is what its event names."""
    label = _label(message)
    if event is None:
        findings.missing(f"{label}: the event that names its evidence is missing")
        return False

    named = [event.get(key) for key in _EVIDENCE_KEYS]
    stored = [message.case.get(key) for key in _EVIDENCE_KEYS]
    if named != stored:
        findings.broken(f"{label}: its evidence is not what its event names")
        return False
    return True


def _rejudge_change(
    tx: Transaction,
    plan: PlanRecord,
    root: Path,
    message: MessageRecord,
    verdict: VerdictRecord | None,
    findings: AuditFindings,
) -> None:
    """Judge a change again by its evidence, and compare the two verdicts."""
    try:
        raw = tx.blob(message.sha256)
        task = coding_tasks(tx, plan).get(message.subject)
        recomputed, faults = verdict_again(root, message, raw, task)

        judged = None
        if recomputed:
            grounds = Grounds(
                subject=message.subject,
                rules=plan.rules,
                case=message.case,
                verdict=recomputed,
            )
            judged = judge_message("SUBMISSION", raw, grounds)
    except (*UNREADABLE, NotFound):
        findings.broken(_unreadable_grounds(message))
        return

    for fault in faults:
        findings.broken(f"{_label(message)}: {fault}")
    if judged is not None:
        _compare_ruling(_rejudgement(judged), message, verdict, findings)


def verify_verdicts(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    hashes: Mapping[int, str],
    findings: AuditFindings,
) -> None:
    """Check that every verdict is as announced and names a head of the chain."""
    known = set()
    for verdict in tx.find(VerdictRecord, plan_id=plan.plan_id):
        findings.verdicts += 1
        known.add(verdict.message_id)
        event = announced.get(verdict.message_id)
        _compare_verdict(verdict, event, hashes, findings)

    for message_id in announced.keys() - known:
        findings.missing(f"the verdict of {message_id[:_ID_LENGTH]} is missing")


def _compare_verdict(
    verdict: VerdictRecord,
    event: Payload | None,
    hashes: Mapping[int, str],
    findings: AuditFindings,
) -> None:
    label = f"the verdict of {verdict.message_id[:_ID_LENGTH]}"
    if hashes.get(verdict.head_seq) != verdict.head_hash:
        findings.broken(f"{label} names a head that is not in the chain")

    if event is None:
        findings.missing(f"the event of {label} is missing")
        return

    announced = (event.get("outcome"), event.get("reason_code"))
    if announced != (verdict.outcome, verdict.reason_code):
        findings.broken(f"{label} is not what its event says")
