"""The ledger as the engine sees it: transactions with the verbs of the domain. Three ledgers keep to it, one suite holds them.

A `Transaction` is all or nothing. What a verb means is written here, once; how rows are kept is each store's own
business (`sql`, `memory`). Events are only ever added, each chained to the one before it in its plan.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Table

from accordance.domain.chain import ChainEntry, Head, Payload, next_entry
from accordance.domain.filters import Filter
from accordance.domain.lifecycle import FORGIVES, Event, State, Waiting
from accordance.domain.paging import Page, PageRequest
from accordance.domain.plan import NodeLinks
from accordance.domain.plan_review import PlanEvent, PlanState, next_plan_state
from accordance.domain.progress import (
    NodeMove,
    NodeProgress,
    drop,
    inputs_changed,
    move,
)
from accordance.domain.records import (
    ArtifactRecord,
    EvidenceRecord,
    FileRecord,
    Lease,
    MessageRecord,
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    ReviewRecord,
    TaskRecord,
    VerdictRecord,
)
from accordance.domain.task_ruling import Ask, QuestionKind, Ruling
from accordance.store import rows
from accordance.store.listings import Listing, Record
from accordance.store.seals import (
    PLAN_BEGAN,
    ROWS_WRITTEN,
    Key,
    Values,
    as_stored,
    belongs_to_a_plan,
    key_of,
    sealed_columns,
    seals,
)
from accordance.store.tables import (
    EVIDENCES,
    PLANS,
    QUESTIONS,
    REQUIREMENTS,
    TASK_EDGES,
    TASK_NODES,
)

R = TypeVar(
    "R",
    MessageRecord,
    VerdictRecord,
    ArtifactRecord,
    ReviewRecord,
    QuestionRecord,
    RequirementRecord,
    EvidenceRecord,
    FileRecord,
)
AnyRecord = (
    MessageRecord
    | VerdictRecord
    | ArtifactRecord
    | ReviewRecord
    | QuestionRecord
    | RequirementRecord
    | EvidenceRecord
    | FileRecord
)
INPUTS_CHANGED = "INPUTS_CHANGED"
CANCELLED = "CANCELLED"
_MANY = 1600  # tasks that are read at once
_ABOUT_A_BLOCK = (
    QuestionKind.DOCUMENTS,
    QuestionKind.HELP,
    QuestionKind.DECISION,
    QuestionKind.GOAL,
)


MAKES_WAY = (EVIDENCES, REQUIREMENTS, QUESTIONS, TASK_EDGES, TASK_NODES)
"""What a plan that is imported anew begins without, in the order in which it can be deleted."""


@cache
def _place_of_plan(table: Table) -> int:
    return [column.name for column in sealed_columns(table)].index("plan_id")


def _only_its_clock_moved(before: TaskRecord, after: TaskRecord) -> bool:
    """Nothing has changed in a task but until when somebody has it."""
    was, now = before.lease, after.lease
    if was is not None and now is not None:
        before = replace(before, lease=replace(was, until=now.until))
    return before == after


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeRow:
    """An edge as it is kept."""

    plan_id: str
    edge_id: str
    place: int
    from_task_id: str
    to_task_id: str
    edge_type: str
    metadata: Mapping[str, object] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRow:
    """A node as it is kept: its record, how its parts are combined, and its group of alternatives."""

    task: TaskRecord
    combine: str
    rival_group: str | None


@dataclass(slots=True)
class Written:
    """What a transaction has written and not sealed yet."""

    plans: dict[str, PlanRecord | None] = field(
        default_factory=dict
    )  # as they were before; none: new
    tasks: dict[str, TaskRecord] = field(default_factory=dict)  # as they were before
    rows: dict[tuple[str, Key], tuple[Table, Values]] = field(default_factory=dict)
    blobs: list[str] = field(default_factory=list)
    chain: str | None = None  # the plan whose chain was added to last


class Transaction(ABC):
    """One transaction. Everything in it happens, or nothing."""

    def __init__(self, now: str) -> None:
        self.now = now
        self.written = Written()

    # -- what each store does in its own way -------------------------------------------------------------------------

    @abstractmethod
    def keep(self, content: bytes) -> str:
        """Keep bytes under their hash; the same bytes are kept once, and never changed."""

    @abstractmethod
    def blob(self, sha256: str) -> bytes:
        """Bytes that were kept. Raises NotFound."""

    @abstractmethod
    def plans(self) -> list[PlanRecord]:
        """All plans, the newest first."""

    @abstractmethod
    def plan(self, plan_id: str) -> PlanRecord:
        """A plan. Raises NotFound."""

    @abstractmethod
    def lock(self, plan_id: str) -> PlanRecord:
        """The plan, held until the end of the transaction: nobody else moves it meanwhile."""

    @abstractmethod
    def save_plan(self, plan_id: str, **fields: object) -> None:
        """Change some fields of a plan."""

    @abstractmethod
    def begin_plan(
        self,
        plan: PlanRecord,
        nodes: Iterable[NodeRow],
        edges: Iterable[EdgeRow],
        requirements: Iterable[RequirementRecord],
    ) -> None:
        """Write down a plan at its beginning. An earlier revision of it, which never began, makes way."""

    @abstractmethod
    def node(self, task: str) -> NodeLinks:
        """A node with its neighbours. Raises NotFound."""

    @abstractmethod
    def task(self, task_id: str) -> TaskRecord:
        """A task. Raises NotFound."""

    @abstractmethod
    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        """The tasks of a plan in its order, or those in some states."""

    @abstractmethod
    def apply(self, changes: Sequence[NodeMove]) -> None:
        """Keep where nodes stand now."""

    @abstractmethod
    def save_task(self, task_id: str, **fields: object) -> None:
        """Change what a task carries beside its standing: lease, product, last_error, same_errors."""

    @abstractmethod
    def turns(
        self,
        plan_id: str,
        kinds: tuple[str, ...] = (),
        *,
        most: int,
        after: TaskRecord | None = None,
    ) -> list[TaskRecord]:
        """What should be taken up next: returned work first, then products to review, then the rest, by priority.

        Behind `after`, if given: a task that had its turn, as it stood then.
        """

    @abstractmethod
    def expired(self, plan_id: str) -> list[str]:
        """Tasks whose lease has run out."""

    @abstractmethod
    def count_states(self, plan_id: str) -> dict[State, int]:
        """How many tasks of a plan are in each state."""

    @abstractmethod
    def add_entry(self, entry: ChainEntry) -> None:
        """Add an event; the plan's head moves to it."""

    @abstractmethod
    def entries(
        self, plan_id: str, *, after: int = 0, limit: int | None = None
    ) -> Iterator[ChainEntry]:
        """The events of a plan in their order."""

    @abstractmethod
    def entries_of(self, task_id: str) -> list[ChainEntry]:
        """The events of a task in their order."""

    @abstractmethod
    def page(
        self, listing: Listing[Record], wanted: Filter, request: PageRequest
    ) -> Page[Record]:
        """Return a page of one of the lists in `listings`, of the items that fit.

        Plans and tasks in the filter are whole ids. Raises InvalidCursor.
        """

    @abstractmethod
    def last_number(self) -> int:
        """Return the number of the ledger's newest event; 0 if there is none."""

    @abstractmethod
    def add(self, record: AnyRecord) -> None:
        """Add a record."""

    @abstractmethod
    def find(self, kind: type[R], /, **where: object) -> list[R]:
        """The records of a kind that match, in the order they were made."""

    @abstractmethod
    def replace(self, record: AnyRecord) -> None:
        """Write a record in place of the one with its key, or add it."""

    @abstractmethod
    def beside_the_record(self, task_id: str) -> dict[str, Any]:
        """The columns of a task that its record does not have."""

    @abstractmethod
    def ledger_head(self) -> Head:
        """Where the ledger's own chain ends; nobody else adds to it until the end of the transaction."""

    @abstractmethod
    def last_of_ledger(self) -> Head:
        """Where the ledger's own chain ends."""

    @abstractmethod
    def add_ledger_entry(self, entry: ChainEntry) -> None:
        """Add an event to the ledger's own chain."""

    @abstractmethod
    def ledger_entries(self) -> Iterator[ChainEntry]:
        """The ledger's own events in their order."""

    @abstractmethod
    def plan_ids(self, table: Table = PLANS) -> set[str]:
        """The plans a table has rows of, whatever else is in them."""

    @abstractmethod
    def stored(self, table: Table, plan_id: str | None = None) -> Iterator[Values]:
        """The rows of a table as they lie there, or those of a plan."""

    @abstractmethod
    def blobs(self) -> Iterator[tuple[str, str | None]]:
        """The name of every blob, and the hash of what lies there; none if a piece of it is missing."""

    # -- seals -------------------------------------------------------------------------------------------------------

    def seal(self) -> None:
        """Write the seals of everything this transaction has written into the chains they belong to."""
        written, self.written = self.written, Written(chain=self.written.chain)
        planned: dict[str, list[tuple[Table, Values]]] = {}
        unplanned: list[tuple[Table, Values]] = []
        for plan_id, table, values in self._written_rows(written):
            rows_there = (
                unplanned if plan_id is None else planned.setdefault(plan_id, [])
            )
            rows_there.append((table, values))
        blobs: dict[str | None, list[str]] = {written.chain: written.blobs}
        if written.chain is not None and written.blobs:
            planned.setdefault(written.chain, [])
        for plan_id, found in planned.items():
            for said in seals(found, blobs.get(plan_id, ())):
                self.record(plan_id, ROWS_WRITTEN, None, said)
        began = [plan_id for plan_id, before in written.plans.items() if before is None]
        self.record_in_ledger(
            [
                *((PLAN_BEGAN, {"plan_id": plan_id}) for plan_id in began),
                *(
                    (ROWS_WRITTEN, said)
                    for said in seals(unplanned, blobs.get(None, ()))
                ),
            ]
        )
        self.written = Written(
            chain=written.chain
        )  # the seals have moved the heads of plans, which are not sealed

    def record_in_ledger(self, events: Sequence[tuple[str, Payload]]) -> None:
        """Add events to the ledger's own chain."""
        head = self.ledger_head() if events else Head()
        for kind, said in events:
            entry = next_entry(
                head, plan_id="", kind=kind, task_id=None, at=self.now, payload=said
            )
            self.add_ledger_entry(entry)
            head = Head(seq=entry.seq, hash=entry.hash)

    def _written_rows(
        self, written: Written
    ) -> Iterator[tuple[str | None, Table, Values]]:
        for table, values in written.rows.values():
            plan_id = (
                values[_place_of_plan(table)] if belongs_to_a_plan(table) else None
            )
            yield plan_id, table, values
        for task_id, was in written.tasks.items():
            task = self.task(task_id)
            if not _only_its_clock_moved(was, task):
                row = {**rows.task_row(task), **self.beside_the_record(task_id)}
                yield task.plan_id, TASK_NODES, as_stored(TASK_NODES, row)
        for plan_id, before in written.plans.items():
            plan = self.plan(plan_id)
            if before is None or replace(before, head=plan.head) != plan:
                yield plan_id, PLANS, as_stored(PLANS, rows.plan_row(plan))

    def _wrote(self, record: AnyRecord) -> None:
        table = rows.TABLES[type(record)]
        self.wrote(table, as_stored(table, rows.record_row(record)))

    def wrote(self, table: Table, values: Values) -> None:
        """A row was written, which is to be sealed."""
        self.written.rows[table.name, key_of(table, values)] = table, values

    def _begins(self, plan_id: str, *, is_new: bool) -> None:
        """A plan is written down at its beginning: what was written of an earlier revision has made way."""
        written = self.written
        written.plans[plan_id] = None if is_new else self.plan(plan_id)
        written.tasks = {
            name: task
            for name, task in written.tasks.items()
            if task.plan_id != plan_id
        }
        written.rows = {
            name: row
            for name, row in written.rows.items()
            if row[0] not in MAKES_WAY or row[1][_place_of_plan(row[0])] != plan_id
        }

    # -- the verbs ---------------------------------------------------------------------------------------------------

    def next_turn(self, plan_id: str, kinds: tuple[str, ...] = ()) -> TaskRecord | None:
        """The one task that should be taken up next."""
        return next(iter(self.turns(plan_id, kinds, most=1)), None)

    def all_turns(
        self, plan_id: str, kinds: tuple[str, ...] = (), *, first: int = 1
    ) -> Iterator[TaskRecord]:
        """All that could be taken up, in its order: the first so many at once, then ever more."""
        most, last = first, None
        while page := self.turns(plan_id, kinds, most=most, after=last):
            yield from page
            if len(page) < most:
                return
            most, last = min(most * 4, _MANY), page[-1]

    def progress(self, task: str) -> NodeProgress:
        """Where a task stands."""
        return self.task(task).progress

    def record(
        self,
        plan_id: str,
        kind: str,
        task_id: str | None = None,
        payload: Payload | None = None,
    ) -> ChainEntry:
        """Add an event to the plan's chain."""
        head = self.plan(plan_id).head
        entry = next_entry(
            head,
            plan_id=plan_id,
            kind=kind,
            task_id=task_id,
            at=self.now,
            payload=payload or {},
        )
        self.add_entry(entry)
        self.written.chain = plan_id
        return entry

    def happen(
        self,
        task: str,
        event: Event,
        *,
        waiting: Waiting | None = None,
        why: Payload | None = None,
    ) -> tuple[NodeMove, ...]:
        """An event on a task, with all that follows from it. Raises IllegalTransition; then nothing has changed."""
        changes = move(self, task, event, waiting=waiting)
        self.apply(changes)
        said = {**(why or {}), **({"waiting": waiting} if waiting else {})}
        first, *rest = changes
        self._follow(rest, self._write_down(first, event, said))
        return changes

    def inputs_missing(self, task: str, missing: int) -> tuple[NodeMove, ...]:
        """So many required inputs of a task are missing now."""
        changes = inputs_changed(self, task, missing)
        if changes:
            self.apply(changes)
            plan_id = self.task(task).plan_id
            self._follow(
                changes,
                self.record(plan_id, INPUTS_CHANGED, task, {"missing": missing}),
            )
        return changes

    def cancel(
        self,
        task: str,
        *,
        excuse: bool = False,
        along: Iterable[str] = (),
        why: Payload,
    ) -> None:
        """A person no longer wants a task."""
        others = tuple(along)
        changes = drop(self, task, excuse=excuse, along=others)
        self.apply(changes)
        plan_id = self.task(task).plan_id
        said = {**why, "excuse": excuse, "along": list(others)}
        self._follow(changes, self.record(plan_id, CANCELLED, task, said))

    def rule(self, task: str, ruling: Ruling, why: Payload) -> None:
        """Let a ruling take effect on a task."""
        for event, waiting in ruling.steps:
            self.happen(task, event, waiting=waiting, why=why)
        record = self.task(task)
        if ruling.error is not None:
            same = record.same_errors + 1 if ruling.error == record.last_error else 1
            self.save_task(task, last_error=ruling.error, same_errors=same)
        elif record.same_errors:
            self.save_task(task, same_errors=0)
        if ruling.ask is not None:
            self.ask(record.plan_id, task, ruling.ask)

    def move_plan(
        self, plan_id: str, event: PlanEvent, payload: Payload | None = None
    ) -> PlanState:
        """An event on a plan as a whole. Raises IllegalTransition; then nothing has changed."""
        state = next_plan_state(self.plan(plan_id).state, event)
        self.save_plan(plan_id, state=state)
        self.record(plan_id, event, None, payload)
        return state

    def take(self, task: str, lease: Lease) -> None:
        """Somebody works on a task now."""
        self.save_task(task, lease=lease)

    def ask(self, plan_id: str, task: str | None, ask: Ask) -> QuestionRecord:
        """Ask a person."""
        entry = self.record(
            plan_id, "ASKED_A_PERSON", task, {"kind": ask.kind, "text": ask.text}
        )
        question = QuestionRecord(
            question_id=f"q-{entry.hash[:10]}",
            plan_id=plan_id,
            task_id=task,
            kind=ask.kind,
            text=ask.text,
            details=ask.details,
            asked_at=self.now,
        )
        self.add(question)
        return question

    def open_questions(self, **where: object) -> list[QuestionRecord]:
        """What nobody has answered yet."""
        return self.find(QuestionRecord, answered_at=None, **where)

    def products(self, task: str) -> list[ArtifactRecord]:
        """All versions of a task's product, the oldest first."""
        return self.find(ArtifactRecord, task_id=task)

    # -- how a move is written down ----------------------------------------------------------------------------------

    def _write_down(self, change: NodeMove, event: Event, said: Payload) -> ChainEntry:
        plan_id = self.task(change.task_id).plan_id
        moved = {"from": change.before.state, "to": change.after.state, **said}
        entry = self.record(plan_id, event, change.task_id, moved)
        self._notice(change)
        return entry

    def _follow(self, changes: Iterable[NodeMove], cause: ChainEntry) -> None:
        for change in changes:
            if change.event is not None:
                self._write_down(change, change.event, {"because": cause.seq})

    def _notice(self, change: NodeMove) -> None:
        """A goal that is stuck asks a person; whoever is no longer blocked needs no answer any more."""
        was, now = change.before.state, change.after.state
        task = self.task(change.task_id)
        if now is State.BLOCKED and was is not State.BLOCKED and not task.is_work:
            text = f"{task.title}: cannot finish, a part of it is in the dead letters or was cancelled"
            self.ask(task.plan_id, task.task_id, Ask(kind=QuestionKind.GOAL, text=text))
        if was is State.BLOCKED and now is not State.BLOCKED:
            self.close_questions(change.task_id, {"closed_by": change.event})
        if change.event in FORGIVES and task.same_errors:
            self.save_task(task.task_id, same_errors=0)

    def close_questions(self, task: str, answer: Payload) -> None:
        """What was asked because a task was blocked needs no answer any more."""
        for question in self.open_questions(task_id=task):
            if question.kind in _ABOUT_A_BLOCK:
                self.replace(replace(question, answered_at=self.now, answer=answer))


class Ledger(ABC):
    """Where everything is kept."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Transaction]:
        """A transaction that may change things. Leaving it by an exception undoes everything."""

    @abstractmethod
    def read(self) -> AbstractContextManager[Transaction]:
        """A transaction that only looks."""

    @abstractmethod
    def wait_for_change(self, *, after: int, seconds: float) -> int:
        """Wait until there is an event with a higher number, or the time is over.

        Return the number of the newest event. Whoever has read everything up to it
        waits with it again, and misses nothing.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""
