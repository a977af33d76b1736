"""Moving a plan again by its own events, to see whether they lead to its states."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Final, cast

from accordance.api import check_value
from accordance.audit.findings import UNREADABLE, AuditFindings, fetch
from accordance.audit.rows import Rows
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Rejected
from accordance.domain.chain import ChainEntry
from accordance.domain.lifecycle import Event, State, Waiting
from accordance.domain.plan import plan_graph
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.progress import NodeMove, PlanInMemory, begin
from accordance.domain.records import PlanRecord, Rules
from accordance.store.ledger import CANCELLED, INPUTS_CHANGED, Transaction
from accordance.store.rows import rules_from_json
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
        self._due: deque[NodeMove] = deque()
        self.rules: dict[int, Rules] = {}
        """The rules of the plan, by its revision."""

    def see(self, entry: ChainEntry) -> None:
        """Apply an event again and compare its consequences with the stored ones."""
        if entry.kind == PlanEvent.IMPORTED:
            self._read_rules(entry)
            self._begin(entry)
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

    def _read_rules(self, entry: ChainEntry) -> None:
        revision = whole_number(entry.payload.get("revision"))
        rules = cast("dict[str, Any]", entry.payload.get("rules"))
        try:
            self.rules[revision] = rules_from_json(rules)
        except UNREADABLE:
            self._findings.broken(
                f"event {entry.seq}: the rules of the plan cannot be read"
            )

    def _begin(self, entry: ChainEntry) -> None:
        document = str(entry.payload.get("document"))
        raw = fetch(self._tx, document, "the plan's document", self._findings)
        if raw is None:
            return

        result = check_value(parse_object(raw, DOCUMENT_LIMITS), "PLAN_GEN")
        if isinstance(result, Rejected):
            self._findings.broken(f"the plan's document {document[:12]} is not a plan")
            return

        plan = result.value
        graph = plan_graph(plan)
        self._plan = begin(graph, missing_inputs(plan))
        self._rows.begin(plan, graph, self._plan, entry)

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
        self._due.extend(move for move in moves if move.event is not None)

    def _check_in_work(self, plan: PlanInMemory, entry: ChainEntry) -> None:
        """Check that an attempt left to another engine version had not ended."""
        progress = plan.at.get(entry.task_id or "")
        attempt = entry.payload.get("attempt")

        is_in_work = (
            progress is not None
            and progress.state in _IN_WORK
            and progress.standing.counters.attempts == attempt
        )
        if not is_in_work:
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
            if not self.rules:
                self._findings.missing("the event that imported the plan is missing")
            return

        if self.rules.get(plan.revision) != plan.rules:
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


def _apply_again(
    plan: PlanInMemory, kind: str, task_id: str, payload: Mapping[str, Any]
) -> list[NodeMove]:
    if kind == INPUTS_CHANGED:
        return list(plan.set_missing_inputs(task_id, payload["missing"]))

    if kind == CANCELLED:
        moves = plan.drop(task_id, excuse=payload["excuse"], along=payload["along"])
        return list(moves)

    name = payload.get("waiting")
    waiting = Waiting(name) if name else None
    return list(plan.move(task_id, Event(kind), waiting=waiting))


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
