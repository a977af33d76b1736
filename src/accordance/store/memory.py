"""The ledger in memory: the double for tests that need no database. Held to the same suite as the real ones."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import Table

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.filters import Filter, Subject
from accordance.domain.lifecycle import State
from accordance.domain.paging import Key, Page, PageRequest
from accordance.domain.plan import PlanNode
from accordance.domain.progress import NodeMove
from accordance.domain.records import (
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.errors import Conflict, NotFound
from accordance.store.ledger import AnyRecord, EdgeRow, Ledger, NodeRow, R, Transaction
from accordance.store.listings import Listing, Record
from accordance.store.memory_filtering import fits
from accordance.store.rows import (
    ORDERS,
    TABLES,
    plan_row,
    record_row,
    task_row,
    turn_of_task,
)
from accordance.store.seals import Values, as_stored
from accordance.store.tables import (
    COUNTERS,
    EVENT_COUNTER,
    PLANS,
    TASK_EDGES,
    TASK_NODES,
)

T = TypeVar("T")


@dataclass
class _Contents:
    blobs: dict[str, bytes] = field(default_factory=dict)
    plans: dict[str, PlanRecord] = field(default_factory=dict)
    nodes: dict[str, PlanNode] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    entries: dict[str, tuple[ChainEntry, ...]] = field(default_factory=dict)
    records: dict[tuple[object, ...], Any] = field(default_factory=dict)
    rows: dict[str, NodeRow] = field(default_factory=dict)  # tasks as they began
    edges: dict[tuple[str, int], EdgeRow] = field(default_factory=dict)
    ledger: dict[int, ChainEntry] = field(default_factory=dict)
    numbered: dict[int, ChainEntry] = field(default_factory=dict)  # all events

    def copy(self) -> _Contents:
        return _Contents(
            *(dict(getattr(self, name)) for name in self.__dataclass_fields__)
        )


class MemoryTransaction(Transaction):
    """A transaction on a copy."""

    def __init__(self, contents: _Contents, now: str) -> None:
        super().__init__(now)
        self._contents = contents

    def keep(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._contents.blobs:
            self._contents.blobs[sha256] = content
            self.written.blobs.append(sha256)
        return sha256

    def blob(self, sha256: str) -> bytes:
        return _get(self._contents.blobs, "blob", sha256)

    def plans(self) -> list[PlanRecord]:
        by_name = sorted(self._contents.plans.values(), key=lambda plan: plan.plan_id)
        return sorted(by_name, key=lambda plan: plan.imported_at, reverse=True)

    def plan(self, plan_id: str) -> PlanRecord:
        return _get(self._contents.plans, "plan", plan_id)

    def lock(self, plan_id: str) -> PlanRecord:
        return self.plan(plan_id)

    def save_plan(self, plan_id: str, **fields: object) -> None:
        plan = self.plan(plan_id)
        self.written.plans.setdefault(plan_id, plan)
        self._contents.plans[plan_id] = replace(plan, **fields)  # type: ignore[arg-type]

    def begin_plan(
        self,
        plan: PlanRecord,
        nodes: Iterable[NodeRow],
        edges: Iterable[EdgeRow],
        requirements: Iterable[RequirementRecord],
    ) -> None:
        self._begins(plan.plan_id, is_new=plan.revision == 1)
        if plan.revision > 1:
            self._make_way(plan.plan_id)
        self._contents.plans[plan.plan_id] = plan
        found, links = list(nodes), list(edges)
        if taken := [
            one.task.task_id
            for one in found
            if one.task.task_id in self._contents.tasks
        ]:
            raise Conflict(f"somebody else was first: task {taken[0]}")
        self._contents.tasks.update((one.task.task_id, one.task) for one in found)
        self._contents.nodes.update(_linked(found, links))
        self._contents.rows.update((one.task.task_id, one) for one in found)
        self._contents.edges.update(
            ((edge.plan_id, edge.place), edge) for edge in links
        )
        for requirement in requirements:
            self._contents.records[_key(requirement)] = requirement

    def _make_way(self, plan_id: str) -> None:
        for task in list(self.tasks(plan_id)):
            del self._contents.tasks[task.task_id], self._contents.nodes[task.task_id]
        for place in [place for place in self._contents.edges if place[0] == plan_id]:
            del self._contents.edges[place]
        kept = self._contents.records
        transient = {"RequirementRecord", "EvidenceRecord", "QuestionRecord"}
        for key, record in list(kept.items()):
            if key[0] in transient and record.plan_id == plan_id:
                del kept[key]

    def node(self, task: str) -> PlanNode:
        return _get(self._contents.nodes, "task", task)

    def task(self, task_id: str) -> TaskRecord:
        return _get(self._contents.tasks, "task", task_id)

    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        mine = (
            task for task in self._contents.tasks.values() if task.plan_id == plan_id
        )
        for task in sorted(mine, key=lambda task: task.place):
            if not states or task.progress.state in states:
                yield task

    def apply(self, changes: Sequence[NodeMove]) -> None:
        for change in changes:
            task = self.task(change.task_id)
            self.written.tasks.setdefault(change.task_id, task)
            lease = task.lease if change.after.state is task.progress.state else None
            self._contents.tasks[change.task_id] = replace(
                task, progress=change.after, lease=lease, updated_at=self.now
            )

    def save_task(self, task_id: str, **fields: object) -> None:
        task = self.task(task_id)
        self.written.tasks.setdefault(task_id, task)
        self._contents.tasks[task_id] = replace(task, **fields)  # type: ignore[arg-type]

    def turns(
        self,
        plan_id: str,
        kinds: tuple[str, ...] = (),
        *,
        most: int,
        after: TaskRecord | None = None,
    ) -> list[TaskRecord]:
        behind = _place_in_line(after) if after else None
        found = [
            (at, task)
            for task in self.tasks(plan_id)
            if (at := _place_in_line(task)) is not None
            and (not kinds or task.node_type in kinds)
            and (behind is None or at > behind)
        ]
        return [task for _, task in sorted(found, key=lambda one: one[0])[:most]]

    def expired(self, plan_id: str) -> list[str]:
        leased = [
            (task.lease.until, task.task_id)
            for task in self.tasks(plan_id)
            if task.lease
        ]
        return [task for until, task in sorted(leased) if until < self.now]

    def count_states(self, plan_id: str) -> dict[State, int]:
        counts: dict[State, int] = {}
        for task in self.tasks(plan_id):
            counts[task.progress.state] = counts.get(task.progress.state, 0) + 1
        return counts

    def add_entry(self, entry: ChainEntry) -> None:
        numbered = self._number(entry)
        earlier = self._contents.entries.get(entry.plan_id, ())
        self._contents.entries[entry.plan_id] = (*earlier, numbered)
        self.save_plan(entry.plan_id, head=Head(seq=entry.seq, hash=entry.hash))

    def entries(
        self, plan_id: str, *, after: int = 0, limit: int | None = None
    ) -> Iterator[ChainEntry]:
        yield from [
            entry
            for entry in self._contents.entries.get(plan_id, ())
            if entry.seq > after
        ][:limit]

    def entries_of(self, task_id: str) -> list[ChainEntry]:
        return [
            entry
            for all_of in self._contents.entries.values()
            for entry in all_of
            if entry.task_id == task_id
        ]

    def _number(self, entry: ChainEntry) -> ChainEntry:
        """Give an event its number; writers take turns, so no other can get it."""
        number = self.last_number() + 1
        numbered = replace(entry, number=number)
        self._contents.numbered[number] = numbered
        return numbered

    def last_number(self) -> int:
        return len(self._contents.numbered)

    def page(
        self, listing: Listing[Record], wanted: Filter, request: PageRequest
    ) -> Page[Record]:
        behind = listing.begins_behind(wanted, request)
        records = [
            record
            for record in self._listed(listing.subject)
            if fits(record, wanted, self._contents.tasks)
        ]
        if behind is not None:
            begins = _place_behind(listing, behind)
            records = [record for record in records if begins(record)]
        return listing.page(wanted, request, records)

    def _listed(self, subject: Subject) -> list[Any]:
        """The records of a list, in its order."""
        if subject is Subject.PLANS:
            return self.plans()
        if subject is Subject.EVENTS:
            return list(self._contents.numbered.values())
        if subject is Subject.QUESTIONS:
            return self.find(QuestionRecord)
        tasks = self._contents.tasks.values()
        return sorted(tasks, key=lambda task: (task.plan_id, task.place))

    def add(self, record: AnyRecord) -> None:
        if _key(record) in self._contents.records:
            raise Conflict(f"somebody else was first: {_key(record)}")
        self.replace(record)

    def find(self, kind: type[R], /, **where: object) -> list[R]:
        found = [
            record
            for key, record in self._contents.records.items()
            if key[0] == kind.__name__
            and all(getattr(record, name) == value for name, value in where.items())
        ]
        return sorted(
            found, key=lambda record: [getattr(record, name) for name in ORDERS[kind]]
        )

    def replace(self, record: AnyRecord) -> None:
        self._contents.records[_key(record)] = record
        self._wrote(record)

    def beside_the_record(self, task_id: str) -> dict[str, Any]:
        began = self._contents.rows[task_id]
        return {"combine": began.combine, "rival_group": began.rival_group}

    def ledger_head(self) -> Head:
        return self.last_of_ledger()

    def last_of_ledger(self) -> Head:
        last = self._contents.ledger.get(len(self._contents.ledger))
        return Head() if last is None else Head(seq=last.seq, hash=last.hash)

    def add_ledger_entry(self, entry: ChainEntry) -> None:
        self._contents.ledger[entry.seq] = self._number(entry)

    def ledger_entries(self) -> Iterator[ChainEntry]:
        yield from self._contents.ledger.values()

    def plan_ids(self, table: Table = PLANS) -> set[str]:
        return {row["plan_id"] for row in self._rows(table)}

    def stored(self, table: Table, plan_id: str | None = None) -> Iterator[Values]:
        for row in self._rows(table):
            if plan_id is None or row["plan_id"] == plan_id:
                yield as_stored(table, row)

    def _rows(self, table: Table) -> Iterator[Mapping[str, Any]]:
        if table is PLANS:
            yield from map(plan_row, self._contents.plans.values())
        elif table is TASK_NODES:
            for name, task in self._contents.tasks.items():
                yield {**task_row(task), **self.beside_the_record(name)}
        elif table is TASK_EDGES:
            yield from map(record_row, self._contents.edges.values())
        elif table is COUNTERS:
            yield {"name": EVENT_COUNTER, "number": self.last_number()}
        else:
            for record in self._contents.records.values():
                if TABLES[type(record)] is table:
                    yield record_row(record)

    def blobs(self) -> Iterator[tuple[str, str | None]]:
        for name, content in self._contents.blobs.items():
            yield name, hashlib.sha256(content).hexdigest()


def _get(among: dict[str, T], kind: str, name: str) -> T:
    try:
        return among[name]
    except KeyError:
        raise NotFound(kind, name, among) from None


def _key(record: AnyRecord) -> tuple[object, ...]:
    names = [column.name for column in TABLES[type(record)].primary_key]
    return (type(record).__name__, *(getattr(record, name) for name in names))


def _place_in_line(task: TaskRecord) -> tuple[int, int, int] | None:
    turn = turn_of_task(task)
    return None if turn is None else (turn, -task.priority, task.place)


def _place_behind(listing: Listing[Record], key: Key) -> Callable[[Record], bool]:
    """Whether a record comes behind a key in the order of its list."""
    if listing.subject is Subject.PLANS:
        imported_at, plan_id = key

        def is_older(plan: Any) -> bool:
            if plan.imported_at == imported_at:
                return bool(plan.plan_id > plan_id)
            return bool(plan.imported_at < imported_at)

        return is_older
    if listing.subject is Subject.EVENTS:
        return lambda entry: listing.key(entry)[:1] > key[:1]
    return lambda record: listing.key(record) > key


def _linked(
    found: list[NodeRow], edges: Iterable[EdgeRow]
) -> Iterator[tuple[str, PlanNode]]:
    """The nodes with their neighbours, from the rows alone, as a database would find them."""
    ends: dict[tuple[str, str, str], dict[str, None]] = {}
    for edge in edges:
        ends.setdefault((edge.edge_type, "from", edge.from_task_id), {})[
            edge.to_task_id
        ] = None
        ends.setdefault((edge.edge_type, "to", edge.to_task_id), {})[
            edge.from_task_id
        ] = None
    groups: dict[str | None, list[TaskRecord]] = {}
    for one in found:
        groups.setdefault(one.rival_group, []).append(one.task)
    ranked = {
        group: tuple(
            task.task_id
            for task in sorted(tasks, key=lambda task: (-task.priority, task.place))
        )
        for group, tasks in groups.items()
    }
    for one in found:
        task = one.task
        yield (
            task.task_id,
            PlanNode(
                task_id=task.task_id,
                kind=task.node_type,
                priority=task.priority,
                combine="OR" if one.combine == "OR" else "AND",
                parts=tuple(ends.get(("DECOMPOSE", "from", task.task_id), ())),
                parents=tuple(ends.get(("DECOMPOSE", "to", task.task_id), ())),
                prerequisites=tuple(ends.get(("DEPENDS_ON", "to", task.task_id), ())),
                dependents=tuple(ends.get(("DEPENDS_ON", "from", task.task_id), ())),
                checks=task.checks,
                checked_by=tuple(
                    other.task.task_id
                    for other in found
                    if other.task.checks == task.task_id
                ),
                rivals=ranked[one.rival_group] if one.rival_group is not None else (),
            ),
        )


class MemoryLedger(Ledger):
    """A ledger that is gone when the process ends."""

    def __init__(self, clock: Callable[[], str]) -> None:
        self._clock = clock
        self._contents = _Contents()
        self._changed = threading.Condition()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with self._changed:
            contents = self._contents.copy()
            transaction = MemoryTransaction(contents, self._clock())
            yield transaction
            transaction.seal()
            self._contents = contents
            self._changed.notify_all()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        yield MemoryTransaction(self._contents.copy(), self._clock())

    def wait_for_change(self, *, after: int, seconds: float) -> int:
        with self._changed:
            self._changed.wait_for(
                lambda: len(self._contents.numbered) > after, timeout=seconds
            )
            return len(self._contents.numbered)

    def close(self) -> None:
        """Nothing to let go of."""
