"""Recomputing every verdict: from the raw messages and, for changes of a repository, from their evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from accordance.api import check
from accordance.audit.findings import UNREADABLE, Findings, fetch
from accordance.changes.settling import verdict_again
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.chain import Payload
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import Counters
from accordance.domain.plan_review import rule_plan_review
from accordance.domain.records import MessageRecord, PlanRecord, Rules, VerdictRecord
from accordance.domain.ruling import (
    Case,
    rule_check_failure,
    rule_fault,
    rule_review,
    rule_review_fault,
    rule_submission,
)
from accordance.errors import InvalidAgents, NotFound
from accordance.judging.claims import read_claim
from accordance.judging.rejudging import is_bundle
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import coding_tasks
from accordance.work.contracts_for import ACTIONS, contract_under, review_context, reviews_by, rule_under

Announced: TypeAlias = dict[str, Payload]  # messages by their names, with what their event says
Claims: TypeAlias = Mapping[
    tuple[str, int], Mapping[str, Any]
]  # attempts that are held to more than an action
Again: TypeAlias = tuple[bool, str | None, str, tuple[str, ...]]  # accepted, outcome, reason, messages


def verify_messages(
    tx: Transaction,
    plan: PlanRecord,
    announced: Announced,
    rules: Mapping[int, Rules],
    claims: Claims,
    found: Findings,
) -> None:
    """Every message is there, was announced, and is ruled the same way again."""
    known = set()
    verdicts = {one.message_id: one for one in tx.find(VerdictRecord, plan_id=plan.plan_id)}
    for message in tx.find(MessageRecord, plan_id=plan.plan_id):
        found.messages += 1
        known.add(message.message_id)
        raw = fetch(tx, message.sha256, f"the message {message.message_id[:40]}", found)
        if message.message_id not in announced:
            found.missing(f"the event of message {message.message_id[:40]} is missing")
        was_refused = "why" in announced.get(message.message_id, {})
        if raw is not None and not was_refused and message.kind != "SUBMISSION":
            revision = message.attempt if message.kind == "PLAN_REVIEW" else plan.revision
            again = _again(tx, rules.get(revision, plan.rules), claims, message, raw)
            if again is None:
                found.broken(f"message {message.message_id[:40]}: what it was judged by cannot be read")
            else:
                _compare_ruling(again, message, verdicts.get(message.message_id), found)
    for lost in announced.keys() - known:
        found.missing(f"message {lost[:40]} is missing")


def _again(tx: Transaction, rules: Rules, claims: Claims, message: MessageRecord, raw: bytes) -> Again | None:
    """How a message is ruled by what was written down; None if that cannot be read."""
    held = claims.get((message.subject, message.attempt))
    try:
        contract = contract_under(tx, tx.task(message.subject), held) if held else ACTIONS
        return rule_anew(rules, contract, message, raw)
    except (*UNREADABLE, InvalidAgents, NotFound):
        return None


def _compare_ruling(
    ruled: Again, message: MessageRecord, verdict: VerdictRecord | None, found: Findings
) -> None:
    what = f"message {message.message_id[:40]}"
    accepted, outcome, reason, messages = ruled
    if accepted != message.accepted:
        found.broken(f"{what}: was {_judged(message.accepted)}, is {_judged(accepted)} when checked again")
    if (outcome is None) != (verdict is None):
        (found.missing if verdict is None else found.broken)(f"the verdict of {what} is missing or too many")
    elif verdict is not None:
        again = (outcome, reason, messages)
        if again != (verdict.outcome, verdict.reason_code, verdict.messages):
            found.broken(f"{what}: the verdict was {verdict.outcome}, it is {outcome} when judged again")


def _judged(accepted: bool) -> str:
    return "accepted" if accepted else "rejected"


def verify_changes(
    tx: Transaction, plan: PlanRecord, announced: Announced, root: Path | None, found: Findings
) -> None:
    """Every verdict on a change follows again from its evidence, which is the one the chain names."""
    verdicts = {one.message_id: one for one in tx.find(VerdictRecord, plan_id=plan.plan_id)}
    changes = tx.find(MessageRecord, plan_id=plan.plan_id, kind="SUBMISSION")
    judged = {one.message_id: one for one in changes if "refused" not in one.case}
    for name, message in judged.items():
        said, what = announced.get(name), f"message {name[:40]}"
        if said is None:
            found.missing(f"{what}: the event that names its evidence is missing")
        elif any(said.get(key) != message.case.get(key) for key in ("bundle", "manifest", "base", "commit")):
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
    found: Findings,
) -> None:
    what = f"message {message.message_id[:40]}"
    try:
        raw, asked = tx.blob(message.sha256), coding_tasks(tx, plan).get(message.subject)
        verdict, faults = verdict_again(root, message, raw, asked)
        ruling = rule_submission(verdict, _case(message.case["task"]), plan.rules.fuses) if verdict else None
    except (*UNREADABLE, NotFound):
        found.broken(f"{what}: what it was judged by cannot be read")
        return
    for fault in faults:
        found.broken(f"{what}: {fault}")
    if ruling is not None:
        accepted = bool(read_claim(raw, Context(task_id=message.subject)))
        _compare_ruling((accepted, ruling.outcome, ruling.reason, ruling.messages), message, was, found)


def rule_anew(rules: Rules, actions: Contract[Any], message: MessageRecord, raw: bytes) -> Again:
    """Judge a stored message again, by what was written down beside it; `actions` is the contract of its attempt."""
    case = message.case
    result: Accepted[Any] | Rejected
    if message.kind == "PLAN_REVIEW":
        contract = reviews_by(rules.plan_rubric, "PLAN_REVIEW")
        result = check(raw, contract, review_context(rules.plan_rubric, plan_id=message.subject))
        rounds, failures = number(case["rounds"]), number(case["failures"])
        ruled = rule_plan_review(result, rounds=rounds, failures=failures, fuses=rules.fuses)
        return bool(result), ruled.outcome, ruled.reason, ruled.messages
    if message.kind == "FAULT":
        report = json.loads(raw)
        ruled_by = rule_review_fault if "product" in case else rule_fault
        ruling = ruled_by(Fault(report["fault"]), str(report["text"]), _case(case["task"]), rules.fuses)
        return False, ruling.outcome, ruling.reason, ruling.messages
    if message.kind == "ACTION":
        result = check(raw, actions, Context(task_id=message.subject))
        ruling = rule_under(actions, result, _case(case["task"]), rules.fuses)
    else:
        contract = reviews_by(rules.node_rubric, "TASK_CHECK")
        result = check(raw, contract, review_context(rules.node_rubric, task_id=message.subject))
        if isinstance(result, Rejected) and "check" in case:
            ruling = rule_check_failure(result, _case(case["check"]), rules.fuses)
        else:
            ruling = rule_review(result, _case(case["task"]), rules.fuses)
    return bool(result), ruling.outcome, ruling.reason, ruling.messages


def _case(value: Any) -> Case:
    return Case(**{**value, "used": Counters(**value["used"])})


def number(value: object) -> int:
    """A whole number as it was written; none is 0."""
    return value if isinstance(value, int) else 0


def verify_verdicts(
    tx: Transaction, plan: PlanRecord, announced: Announced, hashes: Mapping[int, str], found: Findings
) -> None:
    """Every verdict was announced as it stands, and names a head that is in the chain."""
    known = set()
    for verdict in tx.find(VerdictRecord, plan_id=plan.plan_id):
        found.verdicts += 1
        known.add(verdict.message_id)
        if hashes.get(verdict.head_seq) != verdict.head_hash:
            found.broken(f"the verdict of {verdict.message_id[:40]} names a head that is not in the chain")
        said = announced.get(verdict.message_id)
        if said is None:
            found.missing(f"the event of the verdict of {verdict.message_id[:40]} is missing")
        elif (said.get("outcome"), said.get("reason_code")) != (verdict.outcome, verdict.reason_code):
            found.broken(f"the verdict of {verdict.message_id[:40]} is not what its event says")
    for lost in announced.keys() - known:
        found.missing(f"the verdict of {lost[:40]} is missing")
