"""Recomputing what the ledger says: the chain, every state from the events, every verdict from the raw messages.

Integrity: what is there is what was written. Completeness: nothing that was written is missing.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, cast

from accordance.api import check, check_value
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.limits import Limits
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.chain import EMPTY, Entry, Head, Payload, next_entry
from accordance.domain.lifecycle import Counters, Event, Waiting
from accordance.domain.plan import plan_graph
from accordance.domain.plan_review import PlanEvent, rule_plan_review
from accordance.domain.progress import Change, PlanInMemory, begin
from accordance.domain.records import (
    ArtifactRecord,
    MessageRecord,
    PlanRecord,
    ReviewRecord,
    Rules,
    VerdictRecord,
)
from accordance.domain.ruling import (
    Case,
    rule_action,
    rule_check_failure,
    rule_fault,
    rule_review,
    rule_review_fault,
    rule_submission,
)
from accordance.engine.changes import JUDGED, verdict_again
from accordance.engine.coding_tasks import coding_tasks
from accordance.engine.contracts_for import ACTIONS, review_context, reviews_by
from accordance.engine.importing import missing_inputs
from accordance.engine.kept_runs import PLAN_WRITTEN, PROMPTED, RAN
from accordance.engine.rejudging import is_bundle
from accordance.errors import IllegalTransition, InvalidFuses, InvalidRubric, NotFound
from accordance.store.ledger import CANCELLED, INPUTS_CHANGED, Transaction
from accordance.store.rows import rules_from_json

Announced: TypeAlias = dict[str, Payload]  # messages by their names, with what their event says

PLAN_LIMITS = Limits(max_bytes=1 << 30)  # our own copy of a plan: it was checked when it came
_MOVES = frozenset(Event)
_UNREADABLE = (IllegalTransition, InvalidFuses, InvalidRubric, KeyError, TypeError, ValueError)
_MANY = 100


@dataclass(slots=True)
class Findings:
    """What does not hold in a plan's records."""

    plan_id: str
    events: int = 0
    messages: int = 0
    verdicts: int = 0
    blobs: int = 0
    integrity: list[str] = field(default_factory=list)
    completeness: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether everything does."""
        return not (self.integrity or self.completeness)

    def broken(self, what: str) -> None:
        """Something is not what was written."""
        if len(self.integrity) < _MANY:
            self.integrity.append(what)

    def missing(self, what: str) -> None:
        """Something that was written is not there."""
        if len(self.completeness) < _MANY:
            self.completeness.append(what)


def verify_plan(tx: Transaction, plan: PlanRecord, root: Path | None = None) -> Findings:
    """Recompute everything that is known of a plan. The evidence of its changes lies below `root`, the project folder."""
    found = Findings(plan.plan_id)
    replay = _Replay(tx, found)
    hashes: dict[int, str] = {}
    announced: dict[str, Announced] = {"MESSAGE": {}, "MESSAGE_REFUSED": {}, "VERDICT": {}, JUDGED: {}}
    runs = _Runs(tx, found)
    for entry in _linked(tx.entries(plan.plan_id), found):
        hashes[entry.seq] = entry.hash
        found.events += 1
        replay.see(entry)
        runs.see(entry)
        if entry.kind in announced:
            announced[entry.kind][str(entry.payload.get("message"))] = entry.payload
    _compare_head(plan, hashes, found)
    replay.compare(plan)
    said = announced["MESSAGE"] | announced["MESSAGE_REFUSED"]
    _verify_messages(tx, plan, said, replay.rules, found)
    _verify_changes(tx, plan, announced[JUDGED], root, found)
    _verify_verdicts(tx, plan, announced["VERDICT"], hashes, found)
    _verify_products(tx, plan, found)
    return found


def _linked(entries: Iterator[Entry], found: Findings) -> Iterator[Entry]:
    head = EMPTY
    for entry in entries:
        if entry.seq != head.seq + 1:
            found.missing(f"events {head.seq + 1} to {entry.seq - 1} are missing")
        else:
            again = next_entry(
                head,
                plan_id=entry.plan_id,
                kind=entry.kind,
                task_id=entry.task_id,
                at=entry.at,
                payload=entry.payload,
            )
            if again.hash != entry.hash:
                found.broken(f"event {entry.seq} ({entry.kind}) is not what was written")
        head = Head(seq=entry.seq, hash=entry.hash)
        yield entry


def _compare_head(plan: PlanRecord, hashes: Mapping[int, str], found: Findings) -> None:
    last = max(hashes, default=0)
    if last < plan.head.seq:
        found.missing(f"events {last + 1} to {plan.head.seq} are missing")
    elif last > plan.head.seq or hashes.get(last, EMPTY.hash) != plan.head.hash:
        found.broken(f"the chain does not end where the plan says (event {plan.head.seq})")


class _Replay:
    """The plan, moved again by its own events."""

    def __init__(self, tx: Transaction, found: Findings) -> None:
        self._tx = tx
        self._found = found
        self._plan: PlanInMemory | None = None
        self._due: deque[Change] = deque()
        self.rules: dict[int, Rules] = {}  # by revision

    def see(self, entry: Entry) -> None:
        """Let an event happen again, and hold what followed from it against what was written."""
        if entry.kind == PlanEvent.IMPORTED:
            self._hold_to(entry)
            self._begin(str(entry.payload.get("document")))
        elif self._plan is None:
            return
        elif entry.kind in _MOVES and "because" in entry.payload:
            self._followed(entry)
        elif entry.kind in _MOVES or entry.kind in (INPUTS_CHANGED, CANCELLED):
            self._happen(self._plan, entry)

    def _hold_to(self, entry: Entry) -> None:
        revision, rules = entry.payload.get("revision"), entry.payload.get("rules")
        try:
            self.rules[_number(revision)] = rules_from_json(cast("dict[str, Any]", rules))
        except _UNREADABLE:
            self._found.broken(f"event {entry.seq}: the rules of the plan cannot be read")

    def _begin(self, document: str) -> None:
        raw = _bytes(self._tx, document, "the plan's document", self._found)
        if raw is None:
            return
        result = check_value(parse_object(raw, PLAN_LIMITS), "PLAN_GEN")
        if isinstance(result, Rejected):
            self._found.broken(f"the plan's document {document[:12]} is no plan")
            return
        self._plan = begin(plan_graph(result.value), missing_inputs(result.value))

    def _happen(self, plan: PlanInMemory, entry: Entry) -> None:
        self._nothing_is_due(entry.seq)
        task, said = entry.task_id or "", entry.payload
        try:
            changes = _again(plan, entry.kind, task, said)
        except _UNREADABLE:
            self._found.broken(f"event {entry.seq}: {entry.kind} could not happen to task {task}")
            return
        if entry.kind in _MOVES:
            first, *changes = changes
            self._compare(entry, first)
        self._due.extend(change for change in changes if change.event is not None)

    def _followed(self, entry: Entry) -> None:
        if not self._due:
            self._found.broken(f"event {entry.seq}: {entry.kind} followed from nothing")
            return
        self._compare(entry, self._due.popleft())

    def _compare(self, entry: Entry, change: Change) -> None:
        written = (entry.task_id, entry.kind, entry.payload.get("from"), entry.payload.get("to"))
        happened = (change.task_id, change.event, change.before.state, change.after.state)
        if written != happened:
            self._found.broken(f"event {entry.seq}: says {written}, but {happened} follows")

    def _nothing_is_due(self, seq: int) -> None:
        for change in self._due:
            self._found.missing(f"before event {seq}: {change.event} of task {change.task_id} is missing")
        self._due.clear()

    def compare(self, plan: PlanRecord) -> None:
        """Where the events lead is where the tasks stand."""
        self._nothing_is_due(plan.head.seq + 1)
        if self._plan is None:
            if not self.rules:
                self._found.missing("the event that imported the plan is missing")
            return
        if self.rules.get(plan.revision) != plan.rules:
            self._found.broken("the plan is held to other rules than it was imported with")
        seen = 0
        for task in self._tx.tasks(plan.plan_id):
            seen += 1
            expected = self._plan.at.get(task.task_id)
            if expected != task.progress:
                state = expected.state if expected else "unknown"
                self._found.broken(
                    f"task {task.task_id} is {task.progress.state}, its events lead to {state} (or other counts)"
                )
        if seen != len(self._plan.at):
            self._found.missing(f"{len(self._plan.at) - seen} tasks are missing")


def _again(plan: PlanInMemory, kind: str, task: str, said: Mapping[str, Any]) -> list[Change]:
    if kind == INPUTS_CHANGED:
        return list(plan.set_missing_inputs(task, said["missing"]))
    if kind == CANCELLED:
        return list(plan.drop(task, excuse=said["excuse"], along=said["along"]))
    waiting = said.get("waiting")
    return list(plan.move(task, Event(kind), waiting=Waiting(waiting) if waiting else None))


def _bytes(tx: Transaction, sha256: str, what: str, found: Findings) -> bytes | None:
    found.blobs += 1
    try:
        content = tx.blob(sha256)
    except NotFound:
        found.missing(f"{what} {sha256[:12]} is missing")
        return None
    if hashlib.sha256(content).hexdigest() != sha256:
        found.broken(f"{what} {sha256[:12]} is not what was kept")
        return None
    return content


class _Runs:
    """What runs were told and what was seen of them: every part that an event names is there."""

    def __init__(self, tx: Transaction, found: Findings) -> None:
        self._tx = tx
        self._found = found
        self._seen: set[str] = set()

    def see(self, entry: Entry) -> None:
        said: Mapping[str, Any] = entry.payload
        if entry.kind == PROMPTED:
            raw = self._fetch(str(said.get("recipe")), f"event {entry.seq}: the recipe of a prompt")
            for name, sha256 in self._parts(raw, entry.seq):
                self._fetch(sha256, f"event {entry.seq}: the part {name} of a prompt")
        elif entry.kind == RAN and "report" in said:
            self._fetch(str(said["report"]), f"event {entry.seq}: the report of a run")
        elif entry.kind == PLAN_WRITTEN:
            self._fetch(str(said.get("sha256")), f"event {entry.seq}: a plan that was written")

    def _parts(self, recipe: bytes | None, seq: int) -> list[tuple[str, str]]:
        try:
            return [(part["name"], part["sha256"]) for part in json.loads(recipe)["parts"]] if recipe else []
        except _UNREADABLE:
            self._found.broken(f"event {seq}: the recipe of a prompt cannot be read")
            return []

    def _fetch(self, sha256: str, what: str) -> bytes | None:
        """The bytes, once: what was looked at before is not looked at again."""
        if sha256 in self._seen:
            return None
        self._seen.add(sha256)
        return _bytes(self._tx, sha256, what, self._found)


def _verify_messages(
    tx: Transaction, plan: PlanRecord, announced: Announced, rules: Mapping[int, Rules], found: Findings
) -> None:
    known = set()
    verdicts = {one.message_id: one for one in tx.find(VerdictRecord, plan_id=plan.plan_id)}
    for message in tx.find(MessageRecord, plan_id=plan.plan_id):
        found.messages += 1
        known.add(message.message_id)
        raw = _bytes(tx, message.sha256, f"the message {message.message_id[:40]}", found)
        if message.message_id not in announced:
            found.missing(f"the event of message {message.message_id[:40]} is missing")
        was_refused = "why" in announced.get(message.message_id, {})
        if raw is not None and not was_refused and message.kind != "SUBMISSION":
            revision = message.attempt if message.kind == "PLAN_REVIEW" else plan.revision
            held_to = rules.get(revision, plan.rules)
            _rule_again(held_to, message, raw, verdicts.get(message.message_id), found)
    for lost in announced.keys() - known:
        found.missing(f"message {lost[:40]} is missing")


def _rule_again(
    rules: Rules, message: MessageRecord, raw: bytes, verdict: VerdictRecord | None, found: Findings
) -> None:
    try:
        again = rule_anew(rules, message, raw)
    except _UNREADABLE:
        found.broken(f"message {message.message_id[:40]}: what it was judged by cannot be read")
        return
    _compare_ruling(again, message, verdict, found)


Again: TypeAlias = tuple[bool, str | None, str, tuple[str, ...]]  # accepted, outcome, reason, messages


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


def _verify_changes(
    tx: Transaction, plan: PlanRecord, announced: Announced, root: Path | None, found: Findings
) -> None:
    """Every verdict on a change follows again from its evidence, which is the one the chain names."""
    verdicts = {one.message_id: one for one in tx.find(VerdictRecord, plan_id=plan.plan_id)}
    known = set()
    for message in tx.find(MessageRecord, plan_id=plan.plan_id, kind="SUBMISSION"):
        if "refused" in message.case:
            continue
        known.add(message.message_id)
        what = f"message {message.message_id[:40]}"
        said = announced.get(message.message_id)
        if said is None:
            found.missing(f"{what}: the event that names its evidence is missing")
        elif any(said.get(key) != message.case.get(key) for key in ("bundle", "manifest", "base", "commit")):
            found.broken(f"{what}: its evidence is not the one its event names")
        if root is None or not is_bundle(root / str(message.case.get("bundle"))):
            found.missing(f"{what}: the evidence in {message.case.get('bundle')} is not there")
            continue
        raw = tx.blob(message.sha256)
        verdict, faults = verdict_again(root, message, raw, coding_tasks(tx, plan).get(message.subject))
        for fault in faults:
            found.broken(f"{what}: {fault}")
        if verdict is not None:
            ruling = rule_submission(verdict, _case(message.case["task"]))
            accepted = bool(check(raw, SUBMIT, Context(task_id=message.subject)))
            again = (accepted, ruling.outcome, ruling.reason, ruling.messages)
            _compare_ruling(again, message, verdicts.get(message.message_id), found)
    for lost in announced.keys() - known:
        found.missing(f"message {lost[:40]}, a change that was judged, is missing")


def rule_anew(rules: Rules, message: MessageRecord, raw: bytes) -> Again:
    """Judge a stored message again, by what was written down beside it."""
    case = message.case
    result: Accepted[Any] | Rejected
    if message.kind == "PLAN_REVIEW":
        contract = reviews_by(rules.plan_rubric, "PLAN_REVIEW")
        result = check(raw, contract, review_context(rules.plan_rubric, plan_id=message.subject))
        rounds, failures = _number(case["rounds"]), _number(case["failures"])
        ruled = rule_plan_review(result, rounds=rounds, failures=failures, fuses=rules.fuses)
        return bool(result), ruled.outcome, ruled.reason, ruled.messages
    if message.kind == "FAULT":
        report = json.loads(raw)
        ruled_by = rule_review_fault if "product" in case else rule_fault
        ruling = ruled_by(str(report["code"]), str(report["text"]), _case(case["task"]), rules.fuses)
        return False, ruling.outcome, ruling.reason, ruling.messages
    if message.kind == "ACTION":
        result = check(raw, ACTIONS, Context(task_id=message.subject))
        ruling = rule_action(result, _case(case["task"]), rules.fuses)
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


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _verify_verdicts(
    tx: Transaction, plan: PlanRecord, announced: Announced, hashes: Mapping[int, str], found: Findings
) -> None:
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


def _verify_products(tx: Transaction, plan: PlanRecord, found: Findings) -> None:
    for artifact in tx.find(ArtifactRecord, plan_id=plan.plan_id):
        _bytes(tx, artifact.sha256, f"the artifact {artifact.file_name}", found)
    for review in tx.find(ReviewRecord, plan_id=plan.plan_id):
        _bytes(tx, review.document, "the review", found)
