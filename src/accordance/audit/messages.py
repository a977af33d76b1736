"""Recomputing every verdict: from the raw messages and, for changes of a repository, from their evidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from accordance.audit.findings import UNREADABLE, AuditFindings, fetch
from accordance.changes.settling import verdict_again
from accordance.contracts.contract import Contract
from accordance.domain.chain import Payload
from accordance.domain.records import MessageRecord, PlanRecord, Rules, VerdictRecord
from accordance.errors import InvalidAgents, NotFound
from accordance.judging.rejudging import is_bundle
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_tasks
from accordance.work.contracts_for import ACTIONS, contract_under
from accordance.work.message_kinds import (
    Grounds,
    JudgedMessage,
    judge_message,
    judge_plan_review,
)

Announced: TypeAlias = dict[
    str, Payload
]  # messages by their names, with what their event says
Claims: TypeAlias = Mapping[
    tuple[str, int], Mapping[str, Any]
]  # attempts that are held to more than an action
Again: TypeAlias = tuple[
    bool, str | None, str, tuple[str, ...]
]  # accepted, outcome, reason, messages


def verify_messages(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    rules: Mapping[int, Rules],
    claims: Claims,
    found: AuditFindings,
) -> None:
    """Every message is there, was announced, and is ruled the same way again."""
    known = set()
    verdicts = {
        one.message_id: one for one in tx.find(VerdictRecord, plan_id=plan.plan_id)
    }
    for message in tx.find(MessageRecord, plan_id=plan.plan_id):
        found.messages += 1
        known.add(message.message_id)
        raw = fetch(tx, message.sha256, f"the message {message.message_id[:40]}", found)
        if message.message_id not in announced:
            found.missing(f"the event of message {message.message_id[:40]} is missing")
        was_refused = "why" in announced.get(message.message_id, {})
        if raw is not None and not was_refused and message.kind != "SUBMISSION":
            revision = (
                message.attempt if message.kind == "PLAN_REVIEW" else plan.revision
            )
            again = _again(tx, rules.get(revision, plan.rules), claims, message, raw)
            if again is None:
                found.broken(
                    f"message {message.message_id[:40]}: what it was judged by cannot be read"
                )
            else:
                _compare_ruling(again, message, verdicts.get(message.message_id), found)
    for lost in announced.keys() - known:
        found.missing(f"message {lost[:40]} is missing")


def _again(
    tx: Transaction, rules: Rules, claims: Claims, message: MessageRecord, raw: bytes
) -> Again | None:
    """How a message is ruled by what was written down; None if that cannot be read."""
    held = claims.get((message.subject, message.attempt))
    try:
        contract = (
            contract_under(tx, tx.task(message.subject), held) if held else ACTIONS
        )
        return judge_again(rules, contract, message, raw)
    except (*UNREADABLE, InvalidAgents, NotFound):
        return None


def _compare_ruling(
    ruled: Again,
    message: MessageRecord,
    verdict: VerdictRecord | None,
    found: AuditFindings,
) -> None:
    what = f"message {message.message_id[:40]}"
    accepted, outcome, reason, messages = ruled
    if accepted != message.accepted:
        found.broken(
            f"{what}: was {_judged(message.accepted)}, is {_judged(accepted)} when checked again"
        )
    if (outcome is None) != (verdict is None):
        (found.missing if verdict is None else found.broken)(
            f"the verdict of {what} is missing or too many"
        )
    elif verdict is not None:
        again = (outcome, reason, messages)
        if again != (verdict.outcome, verdict.reason_code, verdict.messages):
            found.broken(
                f"{what}: the verdict was {verdict.outcome}, it is {outcome} when judged again"
            )


def _judged(accepted: bool) -> str:
    return "accepted" if accepted else "rejected"


def verify_changes(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    root: Path | None,
    found: AuditFindings,
) -> None:
    """Every verdict on a change follows again from its evidence, which is the one the chain names."""
    verdicts = {
        one.message_id: one for one in tx.find(VerdictRecord, plan_id=plan.plan_id)
    }
    changes = tx.find(MessageRecord, plan_id=plan.plan_id, kind="SUBMISSION")
    judged = {one.message_id: one for one in changes if "refused" not in one.case}
    for name, message in judged.items():
        said, what = announced.get(name), f"message {name[:40]}"
        if said is None:
            found.missing(f"{what}: the event that names its evidence is missing")
        elif any(
            said.get(key) != message.case.get(key)
            for key in ("bundle", "manifest", "base", "commit")
        ):
            found.broken(f"{what}: its evidence is not the one its event names")
        elif root is None or not is_bundle(root / str(said["bundle"])):
            found.missing(f"{what}: the evidence in {said['bundle']} is not there")
        else:
            _judge_again(tx, plan, root, message, verdicts.get(name), found)
    for lost in announced.keys() - judged.keys():
        found.missing(f"message {lost[:40]}, a change that was judged, is missing")


def _judge_again(
    tx: Transaction,
    plan: PlanRecord,
    root: Path,
    message: MessageRecord,
    was: VerdictRecord | None,
    found: AuditFindings,
) -> None:
    what = f"message {message.message_id[:40]}"
    try:
        raw, asked = (
            tx.blob(message.sha256),
            coding_tasks(tx, plan).get(message.subject),
        )
        verdict, faults = verdict_again(root, message, raw, asked)
        grounds = Grounds(
            subject=message.subject,
            rules=plan.rules,
            case=message.case,
            verdict=verdict,
        )
        judged = judge_message("SUBMISSION", raw, grounds) if verdict else None
    except (*UNREADABLE, NotFound):
        found.broken(f"{what}: what it was judged by cannot be read")
        return
    for fault in faults:
        found.broken(f"{what}: {fault}")
    if judged is not None:
        _compare_ruling(_as_ruled(judged), message, was, found)


def judge_again(
    rules: Rules, actions: Contract[Any], message: MessageRecord, raw: bytes
) -> Again:
    """Judge a stored message again, by what was written down beside it; `actions` is the contract of its attempt."""
    grounds = Grounds(
        subject=message.subject, rules=rules, case=message.case, contract=actions
    )
    if message.kind == "PLAN_REVIEW":
        of_plan = judge_plan_review(raw, grounds)
        ruling = of_plan.ruling
        return bool(of_plan.result), ruling.outcome, ruling.reason, ruling.messages
    return _as_ruled(judge_message(message.kind, raw, grounds))


def _as_ruled(judged: JudgedMessage) -> Again:
    ruling = judged.ruling
    return bool(judged.result), ruling.outcome, ruling.reason, ruling.messages


def verify_verdicts(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    hashes: Mapping[int, str],
    found: AuditFindings,
) -> None:
    """Every verdict was announced as it stands, and names a head that is in the chain."""
    known = set()
    for verdict in tx.find(VerdictRecord, plan_id=plan.plan_id):
        found.verdicts += 1
        known.add(verdict.message_id)
        if hashes.get(verdict.head_seq) != verdict.head_hash:
            found.broken(
                f"the verdict of {verdict.message_id[:40]} names a head that is not in the chain"
            )
        said = announced.get(verdict.message_id)
        if said is None:
            found.missing(
                f"the event of the verdict of {verdict.message_id[:40]} is missing"
            )
        elif (said.get("outcome"), said.get("reason_code")) != (
            verdict.outcome,
            verdict.reason_code,
        ):
            found.broken(
                f"the verdict of {verdict.message_id[:40]} is not what its event says"
            )
    for lost in announced.keys() - known:
        found.missing(f"the verdict of {lost[:40]} is missing")
