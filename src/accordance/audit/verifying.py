"""Recomputing what the ledger says: the chain, every state from the events, every verdict from the raw messages.

Integrity: what is there is what was written. Completeness: nothing that was written is missing.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from accordance.api import check_value
from accordance.audit.findings import UNREADABLE, AuditFindings, fetch
from accordance.audit.messages import (
    Announced,
    verify_changes,
    verify_messages,
    verify_verdicts,
)
from accordance.audit.numbers import verify_number, verify_numbers
from accordance.audit.rows import Rows, planned_tables, unplanned_tables
from accordance.changes.settling import JUDGED
from accordance.contracts.limits import Limits
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected
from accordance.domain.chain import EMPTY, ChainEntry, Head, next_entry
from accordance.domain.lifecycle import Event, State, Waiting
from accordance.domain.plan import plan_graph
from accordance.domain.plan_review import PlanEvent
from accordance.domain.progress import NodeMove, PlanInMemory, begin
from accordance.domain.records import (
    ArtifactRecord,
    PlanRecord,
    ReviewRecord,
    Rules,
)
from accordance.errors import LedgerDamaged, NotFound
from accordance.store.ledger import CANCELLED, INPUTS_CHANGED, Transaction
from accordance.store.rows import rules_from_json
from accordance.store.seals import PLAN_BEGAN
from accordance.store.tables import TASK_EVENTS
from accordance.work.contracts_for import HELD_TO
from accordance.work.importing import missing_inputs
from accordance.work.message_kinds import whole_number
from accordance.work.run_log import LEFT_ALONE, PLAN_WRITTEN, PROMPTED, RAN, SAID

PLAN_LIMITS = Limits(
    max_bytes=1 << 30
)  # our own copy of a plan: it was checked when it came
_MOVES = frozenset(Event)
_IN_WORK = (State.IN_PROGRESS, State.READY_TO_CHECK)


def verify_ledger(tx: Transaction, root: Path | None = None) -> list[AuditFindings]:
    """Recompute everything: every plan, and in the last findings what belongs to none, the ledger's own chain and the blobs."""
    own = AuditFindings(None)
    rows, began = Rows(own), _Began()
    for entry in _linked(tx.ledger_entries(), own):
        rows.see(entry)
        began.see(entry)
    found = [
        verify_plan(tx, plan_id, root)
        for plan_id in sorted(tx.plan_ids() | began.plans)
    ]
    for one in found:
        if one.plan_id not in began.plans:
            one.missing(
                "the event of the ledger that says that the plan began is missing"
            )
    rows.compare(tx, unplanned_tables())
    _verify_strays(tx, own)
    verify_numbers(tx, [*found, own], own)
    _verify_blobs(tx, rows.blobs.union(*(one.named for one in found)), own)
    return [*found, own]


class _Began:
    """The plans the ledger's own chain knows."""

    def __init__(self) -> None:
        self.plans: set[str] = set()

    def see(self, entry: ChainEntry) -> None:
        if entry.kind == PLAN_BEGAN:
            self.plans.add(str(entry.payload.get("plan_id")))


def _verify_strays(tx: Transaction, found: AuditFindings) -> None:
    """Every row belongs to a plan that is there."""
    plans = tx.plan_ids()
    for table in (*planned_tables(), TASK_EVENTS):
        for plan_id in sorted(tx.plan_ids(table) - plans):
            found.broken(f"{table.name}: rows of plan {plan_id}, which is not there")


def _verify_blobs(tx: Transaction, named: set[str], found: AuditFindings) -> None:
    """Every blob is what its name says, some event names it, and none of those is missing."""
    seen = set()
    for name, content in tx.blobs():
        found.blobs += 1
        seen.add(name)
        if content != name:
            found.broken(f"blobs {name[:12]}: is not what was kept")
        if name not in named:
            found.broken(f"blobs {name[:12]}: a row that no event explains")
    for name in sorted(named - seen):
        found.missing(f"blobs {name[:12]}: is missing")


def verify_plan(
    tx: Transaction, plan: PlanRecord | str, root: Path | None = None
) -> AuditFindings:
    """Recompute everything that is known of a plan. The evidence of its changes lies below `root`, the project folder."""
    plan_id = plan if isinstance(plan, str) else plan.plan_id
    found = AuditFindings(plan_id)
    rows = Rows(found)
    replay = _Replay(tx, found, rows)
    hashes: dict[int, str] = {}
    announced: dict[str, Announced] = {
        "MESSAGE": {},
        "MESSAGE_REFUSED": {},
        "VERDICT": {},
        JUDGED: {},
    }
    runs, claims = _Runs(tx, found), _Claims()
    for entry in _linked(tx.entries(plan_id), found):
        hashes[entry.seq] = entry.hash
        try:
            replay.see(entry)
            runs.see(entry)
            claims.see(entry)
        except UNREADABLE:
            found.broken(f"event {entry.seq} ({entry.kind}) cannot be read")
        rows.see(entry)
        if entry.kind in announced:
            announced[entry.kind][str(entry.payload.get("message"))] = entry.payload
    rows.compare(tx, planned_tables(), plan_id)
    found.named = rows.blobs
    record = _plan(tx, plan_id, found)
    if record is None:
        return found
    _compare_head(record, hashes, found)
    said = announced["MESSAGE"] | announced["MESSAGE_REFUSED"]
    with _readable("tasks", found):
        replay.compare(record)
    with _readable("messages", found):
        verify_messages(tx, record, said, replay.rules, claims.held, found)
    with _readable("changes", found):
        verify_changes(tx, record, announced[JUDGED], root, found)
    with _readable("verdicts", found):
        verify_verdicts(tx, record, announced["VERDICT"], hashes, found)
    with _readable("products", found):
        _verify_products(tx, record, found)
    return found


def _plan(tx: Transaction, plan_id: str, found: AuditFindings) -> PlanRecord | None:
    try:
        return tx.plan(plan_id)
    except NotFound:
        found.missing(f"plans {plan_id}: the row is missing")
    except UNREADABLE as error:
        found.broken(f"plans {plan_id}: cannot be read ({_why(error)})")
    return None


@contextmanager
def _readable(what: str, found: AuditFindings) -> Iterator[None]:
    """Rows that cannot be read are a finding; what comes after them in the same table is not looked at."""
    try:
        yield
    except UNREADABLE as error:
        found.broken(f"the {what} of the plan cannot be read ({_why(error)})")


def _why(error: Exception) -> str:
    return error.what if isinstance(error, LedgerDamaged) else str(error)


def _linked(
    entries: Iterator[ChainEntry], found: AuditFindings
) -> Iterator[ChainEntry]:
    """The events of a chain, each held against the one before it; the findings learn how many there are, and the head."""
    try:
        for entry in entries:
            if entry.seq != found.head.seq + 1:
                found.missing(
                    f"events {found.head.seq + 1} to {entry.seq - 1} are missing"
                )
            elif not _follows(found.head, entry):
                found.broken(
                    f"event {entry.seq} ({entry.kind}) is not what was written"
                )
            verify_number(entry, found)
            found.head = Head(seq=entry.seq, hash=entry.hash)
            found.events += 1
            yield entry
    except UNREADABLE as error:
        found.broken(f"event {found.head.seq + 1} cannot be read ({_why(error)})")


def _follows(head: Head, entry: ChainEntry) -> bool:
    again = next_entry(
        head,
        plan_id=entry.plan_id,
        kind=entry.kind,
        task_id=entry.task_id,
        at=entry.at,
        payload=entry.payload,
    )
    return again.hash == entry.hash


def _compare_head(
    plan: PlanRecord, hashes: Mapping[int, str], found: AuditFindings
) -> None:
    last = found.head.seq
    if last < plan.head.seq:
        found.missing(
            f"plans {plan.plan_id}: events {last + 1} to {plan.head.seq} are missing"
        )
    elif last > plan.head.seq or hashes.get(last, EMPTY.hash) != plan.head.hash:
        found.broken(
            f"plans {plan.plan_id}: the chain does not end where the plan says (event {plan.head.seq})"
        )


class _Replay:
    """The plan, moved again by its own events."""

    def __init__(self, tx: Transaction, found: AuditFindings, rows: Rows) -> None:
        self._tx = tx
        self._found = found
        self._rows = rows
        self._plan: PlanInMemory | None = None
        self._due: deque[NodeMove] = deque()
        self.rules: dict[int, Rules] = {}  # by revision

    def see(self, entry: ChainEntry) -> None:
        """Let an event happen again, and hold what followed from it against what was written."""
        if entry.kind == PlanEvent.IMPORTED:
            self._hold_to(entry)
            self._begin(entry)
        elif self._plan is None or (
            entry.kind == PlanEvent.MISREVIEWED and entry.task_id is None
        ):
            return
        elif entry.kind in _MOVES and "because" in entry.payload:
            self._followed(entry)
        elif entry.kind in _MOVES or entry.kind in (INPUTS_CHANGED, CANCELLED):
            self._happen(self._plan, entry)
        elif entry.kind == LEFT_ALONE:
            self._was_in_work(self._plan, entry)

    def _hold_to(self, entry: ChainEntry) -> None:
        revision, rules = entry.payload.get("revision"), entry.payload.get("rules")
        try:
            self.rules[whole_number(revision)] = rules_from_json(
                cast("dict[str, Any]", rules)
            )
        except UNREADABLE:
            self._found.broken(
                f"event {entry.seq}: the rules of the plan cannot be read"
            )

    def _begin(self, entry: ChainEntry) -> None:
        document = str(entry.payload.get("document"))
        raw = fetch(self._tx, document, "the plan's document", self._found)
        if raw is None:
            return
        result = check_value(parse_object(raw, PLAN_LIMITS), "PLAN_GEN")
        if isinstance(result, Rejected):
            self._found.broken(f"the plan's document {document[:12]} is no plan")
            return
        graph = plan_graph(result.value)
        self._plan = begin(graph, missing_inputs(result.value))
        self._rows.begin(result.value, graph, self._plan, entry)

    def _happen(self, plan: PlanInMemory, entry: ChainEntry) -> None:
        self._nothing_is_due(entry.seq)
        task, said = entry.task_id or "", entry.payload
        try:
            changes = _again(plan, entry.kind, task, said)
        except UNREADABLE:
            self._found.broken(
                f"event {entry.seq}: {entry.kind} could not happen to task {task}"
            )
            return
        if entry.kind in _MOVES:
            first, *changes = changes
            self._compare(entry, first)
        self._due.extend(change for change in changes if change.event is not None)

    def _was_in_work(self, plan: PlanInMemory, entry: ChainEntry) -> None:
        """An attempt that waits for another version of the engine is one that was begun and has not ended."""
        at = plan.at.get(entry.task_id or "")
        attempt = entry.payload.get("attempt")
        if (
            at is None
            or at.state not in _IN_WORK
            or at.standing.counters.attempts != attempt
        ):
            self._found.broken(
                f"event {entry.seq}: attempt {attempt} of task {entry.task_id} was not in work"
            )

    def _followed(self, entry: ChainEntry) -> None:
        if not self._due:
            self._found.broken(f"event {entry.seq}: {entry.kind} followed from nothing")
            return
        self._compare(entry, self._due.popleft())

    def _compare(self, entry: ChainEntry, change: NodeMove) -> None:
        written = (
            entry.task_id,
            entry.kind,
            entry.payload.get("from"),
            entry.payload.get("to"),
        )
        happened = (
            change.task_id,
            change.event,
            change.before.state,
            change.after.state,
        )
        if written != happened:
            self._found.broken(
                f"event {entry.seq}: says {written}, but {happened} follows"
            )

    def _nothing_is_due(self, seq: int) -> None:
        for change in self._due:
            self._found.missing(
                f"before event {seq}: {change.event} of task {change.task_id} is missing"
            )
        self._due.clear()

    def compare(self, plan: PlanRecord) -> None:
        """Where the events lead is where the tasks stand."""
        self._nothing_is_due(plan.head.seq + 1)
        if self._plan is None:
            if not self.rules:
                self._found.missing("the event that imported the plan is missing")
            return
        if self.rules.get(plan.revision) != plan.rules:
            self._found.broken(
                "the plan is held to other rules than it was imported with"
            )
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


def _again(
    plan: PlanInMemory, kind: str, task: str, said: Mapping[str, Any]
) -> list[NodeMove]:
    if kind == INPUTS_CHANGED:
        return list(plan.set_missing_inputs(task, said["missing"]))
    if kind == CANCELLED:
        return list(plan.drop(task, excuse=said["excuse"], along=said["along"]))
    waiting = said.get("waiting")
    return list(
        plan.move(task, Event(kind), waiting=Waiting(waiting) if waiting else None)
    )


class _Claims:
    """What attempts are held to, by the events that began them."""

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()
        self.held: dict[
            tuple[str, int], Mapping[str, Any]
        ] = {}  # by task and attempt; actions are left out

    def see(self, entry: ChainEntry) -> None:
        if entry.kind == Event.ASKED_AGAIN and entry.task_id is not None:
            self._go_on(entry.task_id)
        if entry.kind == Event.CLAIMED and entry.task_id is not None:
            self._begun[entry.task_id] += 1
            if HELD_TO in entry.payload:
                said = cast("Mapping[str, Any]", entry.payload[HELD_TO])
                self.held[entry.task_id, self._begun[entry.task_id]] = said

    def _go_on(self, task: str) -> None:
        """Whoever is asked again within a run is held to the same."""
        number = self._begun[task]
        self._begun[task] += 1
        if (task, number) in self.held:
            self.held[task, number + 1] = self.held[task, number]


class _Runs:
    """What runs were told and what was seen of them: every part that an event names is there."""

    def __init__(self, tx: Transaction, found: AuditFindings) -> None:
        self._tx = tx
        self._found = found
        self._seen: set[str] = set()

    def see(self, entry: ChainEntry) -> None:
        said: Mapping[str, Any] = entry.payload
        if entry.kind == PROMPTED:
            raw = self._fetch(
                str(said.get("recipe")), f"event {entry.seq}: the recipe of a prompt"
            )
            for name, sha256 in self._parts(raw, entry.seq):
                self._fetch(sha256, f"event {entry.seq}: the part {name} of a prompt")
        elif entry.kind == Event.CLAIMED and isinstance(
            held := said.get(HELD_TO), dict
        ):
            self._fetch(
                str(held.get("agents")),
                f"event {entry.seq}: the registry of research agents",
            )
        elif entry.kind == SAID:
            self._fetch(
                str(said.get("answer")), f"event {entry.seq}: the answer of a model"
            )
        elif entry.kind == RAN and "report" in said:
            self._fetch(str(said["report"]), f"event {entry.seq}: the report of a run")
        elif entry.kind == PlanEvent.IMPORTED:
            for name in ("raw", "reading"):
                if name in said:
                    self._fetch(
                        str(said[name]),
                        f"event {entry.seq}: what the plan was read from",
                    )
        elif entry.kind == PLAN_WRITTEN:
            self._fetch(
                str(said.get("sha256")), f"event {entry.seq}: a plan that was written"
            )

    def _parts(self, recipe: bytes | None, seq: int) -> list[tuple[str, str]]:
        try:
            return (
                [(part["name"], part["sha256"]) for part in json.loads(recipe)["parts"]]
                if recipe
                else []
            )
        except UNREADABLE:
            self._found.broken(f"event {seq}: the recipe of a prompt cannot be read")
            return []

    def _fetch(self, sha256: str, what: str) -> bytes | None:
        """The bytes, once: what was looked at before is not looked at again."""
        if sha256 in self._seen:
            return None
        self._seen.add(sha256)
        return fetch(self._tx, sha256, what, self._found)


def _verify_products(tx: Transaction, plan: PlanRecord, found: AuditFindings) -> None:
    for artifact in tx.find(ArtifactRecord, plan_id=plan.plan_id):
        fetch(tx, artifact.sha256, f"the artifact {artifact.file_name}", found)
    for review in tx.find(ReviewRecord, plan_id=plan.plan_id):
        fetch(tx, review.document, "the review", found)
