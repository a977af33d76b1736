"""Moving a plan again by its own events, to see whether they lead to its states."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final, cast

from accordance.api import check_value
from accordance.audit.findings import UNREADABLE, AuditFindings, fetch
from accordance.audit.rows import Rows
from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected
from accordance.domain.amending import Amendment, amended
from accordance.domain.amendment import difference
from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event, State, Waiting
from accordance.domain.node_progress import NodeProgress
from accordance.domain.plan import plan_graph
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.progress import NodeMove, PlanInMemory, begin
from accordance.domain.records import PlanRecord, Rules
from accordance.store.ledger import CANCELLED, INPUTS_CHANGED, Transaction
from accordance.store.rows import rules_from_json
from accordance.work.amendment_checks import tasks_with_other_needs
from accordance.work.contracts_for import HELD_TO
from accordance.work.importing import missing_inputs
from accordance.work.message_kinds import whole_number
from accordance.work.plan_documents import DOCUMENT_LIMITS
from accordance.work.run_log import LEFT_ALONE

_MOVES: Final = frozenset(Event)
_CAUSES: Final = _MOVES | {INPUTS_CHANGED, CANCELLED}
_IN_WORK: Final = (State.IN_PROGRESS, State.READY_TO_CHECK)


class PlanReplay:
    """The plan, moved again by its own events."""

    def __init__(self, tx: Transaction, findings: AuditFindings, rows: Rows) -> None:
        self._tx = tx
        self._findings = findings
        self._rows = rows
        self._plan: PlanInMemory | None = None
        self._document: Plan | None = None
        self._due: deque[NodeMove] = deque()
        self.revisions = Revisions()

    def see(self, entry: ChainEntry) -> None:
        """Apply an event again and compare its consequences with the stored ones."""
        if entry.kind == PlanEvent.IMPORTED:
            self._read_rules(entry)
            self._begin(entry)
            return
        if entry.kind == PlanEvent.AMENDED:
            self._expect_nothing_due(entry.seq)
            self._amend(entry)
            return

        is_of_plan_review = (
            entry.kind == PlanEvent.MISREVIEWED and entry.task_id is None
        )
        if self._plan is None or is_of_plan_review:
            return

        if entry.kind in _MOVES and "because" in entry.payload:
            self._follow(entry)
        elif entry.kind in _CAUSES:
            self._apply(self._plan, entry)
        elif entry.kind == LEFT_ALONE:
            self._check_in_work(self._plan, entry)

    def state_of(self, task_id: str) -> State | None:
        """Return the state to which the events so far lead a task."""
        progress = self._plan.at.get(task_id) if self._plan else None
        return progress.state if progress else None

    def _read_rules(self, entry: ChainEntry) -> None:
        revision = whole_number(entry.payload.get("revision"))
        rules = cast("dict[str, Any]", entry.payload.get("rules"))
        try:
            self.revisions.add(entry, revision, rules_from_json(rules))
        except UNREADABLE:
            self._findings.broken(
                f"event {entry.seq}: the rules of the plan cannot be read"
            )

    def _begin(self, entry: ChainEntry) -> None:
        plan = self._read_document(entry)
        if plan is None:
            return
        graph = plan_graph(plan)
        self._document = plan
        self._plan = begin(graph, missing_inputs(plan))
        self._rows.begin(plan, graph, self._plan, entry)

    def _read_document(self, entry: ChainEntry) -> Plan | None:
        document = str(entry.payload.get("document"))
        raw = fetch(self._tx, document, "the plan's document", self._findings)
        if raw is None:
            return None

        result = check_value(parse_object(raw, DOCUMENT_LIMITS), "PLAN_GEN")
        if isinstance(result, Rejected):
            self._findings.broken(f"the plan's document {document[:12]} is not a plan")
            return None
        plan: Plan = result.value
        return plan

    def _amend(self, entry: ChainEntry) -> None:
        """Amend the plan again; what follows from it is due."""
        old_rules = self.revisions.last_rules
        self._read_rules(entry)
        new = self._read_document(entry)
        old = self._document
        if self._plan is None or old is None or new is None or old_rules is None:
            return

        new_rules = self.revisions.last_rules or old_rules
        changes = difference(old, new, old_rules.fuses, new_rules.fuses)
        if changes.to_json() != entry.payload.get("difference"):
            self._findings.broken(
                f"event {entry.seq}: the plan was not amended as it says"
            )

        needs_changed = tasks_with_other_needs(old, new, changes)
        amendment = Amendment(self._plan, plan_graph(new), changes, needs_changed)
        missing = cast("dict[str, int]", entry.payload.get("missing_inputs"))
        self._document = new
        self._plan, moves = amended(amendment, missing)
        self._expect(moves)
        self._rows.amend(new, changes, entry)

    def _apply(self, plan: PlanInMemory, entry: ChainEntry) -> None:
        """Apply an event that has no cause of its own; what follows from it is due."""
        self._expect_nothing_due(entry.seq)
        task_id = entry.task_id or ""

        try:
            moves = _apply_again(plan, entry.kind, task_id, entry.payload)
        except UNREADABLE:
            self._findings.broken(
                f"event {entry.seq}: {entry.kind} could not happen to task {task_id}"
            )
            return

        if entry.kind in _MOVES:
            first, *moves = moves
            self._compare(entry, first)
        self._expect(moves)

    def _expect(self, moves: Iterable[NodeMove]) -> None:
        """Make due what follows; a move without an event leaves no trace."""
        for move in moves:
            if move.event is not None:
                self._due.append(move)

    def _check_in_work(self, plan: PlanInMemory, entry: ChainEntry) -> None:
        """Check that an attempt left to another engine version had not ended."""
        progress = plan.at.get(entry.task_id or "")
        attempt = entry.payload.get("attempt")

        if progress is None or not _is_in_work(progress, attempt):
            self._findings.broken(
                f"event {entry.seq}: attempt {attempt} of task {entry.task_id}"
                " was not in work"
            )

    def _follow(self, entry: ChainEntry) -> None:
        """Compare an event that had a cause with the next consequence that is due."""
        if not self._due:
            self._findings.broken(f"event {entry.seq}: {entry.kind} has no cause")
            return
        self._compare(entry, self._due.popleft())

    def _compare(self, entry: ChainEntry, move: NodeMove) -> None:
        written = (
            entry.task_id,
            entry.kind,
            entry.payload.get("from"),
            entry.payload.get("to"),
        )
        happened = (
            move.task_id,
            move.event,
            move.before.state,
            move.after.state,
        )
        if written != happened:
            self._findings.broken(
                f"event {entry.seq}: says {written}, but {happened} follows"
            )

    def _expect_nothing_due(self, seq: int) -> None:
        for move in self._due:
            self._findings.missing(
                f"before event {seq}: {move.event} of task {move.task_id} is missing"
            )
        self._due.clear()

    def compare(self, plan: PlanRecord) -> None:
        """Check that the stored tasks stand where the events lead."""
        self._expect_nothing_due(plan.head.seq + 1)

        if self._plan is None:
            if self.revisions.last_rules is None:
                self._findings.missing("the event that imported the plan is missing")
            return

        if self.revisions.rules.get(plan.revision) != plan.rules:
            self._findings.broken("the plan's rules are not those it was imported with")
        self._compare_tasks(self._plan, plan.plan_id)

    def _compare_tasks(self, plan: PlanInMemory, plan_id: str) -> None:
        tasks = 0
        for task in self._tx.tasks(plan_id):
            tasks += 1
            expected = plan.at.get(task.task_id)
            if expected == task.progress:
                continue
            state = expected.state if expected else "unknown"
            self._findings.broken(
                f"task {task.task_id} is {task.progress.state},"
                f" its events lead to {state} (or other counts)"
            )

        lost = len(plan.at) - tasks
        if lost:
            self._findings.missing(f"{lost} tasks are missing")


def _is_in_work(progress: NodeProgress, attempt: object) -> bool:
    is_its_attempt = progress.standing.counters.attempts == attempt
    return is_its_attempt and progress.state in _IN_WORK


def _apply_again(
    plan: PlanInMemory,
    kind: str,
    task_id: str,
    payload: Mapping[str, Any],
) -> list[NodeMove]:
    if kind == INPUTS_CHANGED:
        return list(plan.set_missing_inputs(task_id, payload["missing"]))

    if kind == CANCELLED:
        moves = plan.drop(task_id, excuse=payload["excuse"], along=payload["along"])
        return list(moves)

    name = payload.get("waiting")
    waiting = Waiting(name) if name else None
    return list(plan.move(task_id, Event(kind), waiting=waiting))


class Revisions:
    """The rules and documents of a plan, each with the event that brought it."""

    def __init__(self) -> None:
        self.rules: dict[int, Rules] = {}
        """By revision."""
        self._by_seq: list[tuple[int, Rules, str]] = []

    def add(self, entry: ChainEntry, revision: int, rules: Rules) -> None:
        """Take in the event that brought a revision."""
        document = str(entry.payload.get("document"))
        self.rules[revision] = rules
        self._by_seq.append((entry.seq, rules, document))

    @property
    def last_rules(self) -> Rules | None:
        """The rules of the newest revision."""
        return self._by_seq[-1][1] if self._by_seq else None

    def at(self, seq: int, plan: PlanRecord) -> PlanRecord:
        """Return the plan with the rules and the document that an event met."""
        for begins_at, rules, document in reversed(self._by_seq):
            if begins_at < seq:
                return replace(plan, rules=rules, document=document)
        return plan


class AttemptContracts:
    """What attempts are held to, read from the events that began them."""

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()
        self.by_attempt: dict[tuple[str, int], Mapping[str, Any]] = {}
        """By task and number; attempts held to the contract of actions are left out."""

    def see(self, entry: ChainEntry) -> None:
        """Take in an event that begins an attempt, or continues its run."""
        task_id = entry.task_id
        if task_id is None:
            return

        if entry.kind == Event.ASKED_AGAIN:
            self._carry_over(task_id)
        elif entry.kind == Event.CLAIMED:
            self._begin(task_id, entry)

    def _begin(self, task_id: str, entry: ChainEntry) -> None:
        self._begun[task_id] += 1
        if HELD_TO in entry.payload:
            held_to = cast("Mapping[str, Any]", entry.payload[HELD_TO])
            self.by_attempt[task_id, self._begun[task_id]] = held_to

    def _carry_over(self, task_id: str) -> None:
        """Hold an executor that is asked again in its run to the same contract."""
        number = self._begun[task_id]
        self._begun[task_id] += 1
        if (task_id, number) in self.by_attempt:
            self.by_attempt[task_id, number + 1] = self.by_attempt[task_id, number]
