"""The ledger in memory: the double for tests that need no database.

The suite of the real ledgers tests it too.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Table

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.filters import Filter, Subject
from accordance.domain.lifecycle import State
from accordance.domain.named_things import Named
from accordance.domain.paging import Key, Page, PageRequest
from accordance.domain.plan import PlanNode
from accordance.domain.progress import NodeMove
from accordance.domain.records import (
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.domain.reservations import all_reserved
from accordance.domain.turns import in_line
from accordance.domain.usage import Budget
from accordance.errors import Conflict, NotFound
from accordance.store.blobs.sources import KeptBlob
from accordance.store.ledger import Ledger, Transaction
from accordance.store.listings import Listing, Record
from accordance.store.memory_contents import Contents, key_of_record
from accordance.store.memory_filtering import first_of_causes, fits, named_like
from accordance.store.memory_nodes import linked_nodes
from accordance.store.rows import (
    ORDERS,
    TABLES,
    plan_row,
    record_row,
    task_row,
)
from accordance.store.seals import Values, as_stored
from accordance.store.storage import AmendedRows, AnyRecord, EdgeRow, NodeRow, R
from accordance.store.tables import (
    COUNTERS,
    EVENT_COUNTER,
    PLANS,
    QUESTION_COUNTER,
    TASK_EDGES,
    TASK_NODES,
)

T = TypeVar("T")

_MAKING_WAY: Final = ("RequirementRecord", "EvidenceRecord", "QuestionRecord")
"""Records that a plan which is imported anew begins without."""


class MemoryTransaction(Transaction):
    """A transaction on a copy."""

    def __init__(self, contents: Contents, now: str) -> None:
        super().__init__(now)
        self._contents = contents

    def keep(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._contents.blobs:
            self._contents.blobs[sha256] = content
            self.written.blobs.append(sha256)
        return sha256

    def keep_blob(self, kept: KeptBlob) -> str:
        if isinstance(kept.content, Path):
            return self.keep(kept.content.read_bytes())
        assert kept.content is not None  # noqa: S101 - there is no store
        return self.keep(kept.content)

    def blob(self, sha256: str) -> bytes:
        return _get(self._contents.blobs, "blob", sha256)

    def blob_chunks(self, sha256: str) -> Iterator[bytes]:
        yield self.blob(sha256)

    def blob_size(self, sha256: str) -> int | None:
        content = self._contents.blobs.get(sha256)
        return None if content is None else len(content)

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

        new_nodes = list(nodes)
        new_edges = list(edges)
        contents = self._contents
        for node in new_nodes:
            task_id = node.task.task_id
            if task_id in contents.tasks:
                raise Conflict(f"another process was first: task {task_id}")
        for node in new_nodes:
            contents.tasks[node.task.task_id] = node.task
            contents.rows[node.task.task_id] = node
        for edge in new_edges:
            contents.edges[edge.plan_id, edge.place] = edge
        contents.nodes.update(linked_nodes(new_nodes, new_edges))
        for requirement in requirements:
            self._contents.records[key_of_record(requirement)] = requirement

    def _make_way(self, plan_id: str) -> None:
        contents = self._contents
        for task in list(self.tasks(plan_id)):
            del contents.tasks[task.task_id]
            del contents.nodes[task.task_id]
        for place in list(contents.edges):
            if place[0] == plan_id:
                del contents.edges[place]
        for key, record in list(contents.records.items()):
            if key[0] in _MAKING_WAY and record.plan_id == plan_id:
                del contents.records[key]

    def write_amended(self, amended: AmendedRows) -> None:
        self._amends(amended)
        self._contents.amend(amended)

    def forget_plan(self, plan_id: str) -> None:
        self._forgets(plan_id)
        self._contents.forget_plan(plan_id)

    def forget_blobs(self, names: Iterable[str]) -> None:
        for name in names:
            del self._contents.blobs[name]

    def node(self, task: str) -> PlanNode:
        return _get(self._contents.nodes, "task", task)

    def task(self, task_id: str) -> TaskRecord:
        return _get(self._contents.tasks, "task", task_id)

    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        tasks = [
            task for task in self._contents.tasks.values() if task.plan_id == plan_id
        ]
        tasks.sort(key=lambda task: task.place)
        for task in tasks:
            if not states or task.progress.state in states:
                yield task

    def apply(self, changes: Sequence[NodeMove]) -> None:
        for change in changes:
            task = self.task(change.task_id)
            self.written.tasks.setdefault(change.task_id, task)
            is_same_state = change.after.state is task.progress.state
            self._contents.tasks[change.task_id] = replace(
                task,
                progress=change.after,
                lease=task.lease if is_same_state else None,
                updated_at=self.now,
            )

    def save_task(self, task_id: str, **fields: object) -> None:
        task = self.task(task_id)
        self.written.tasks.setdefault(task_id, task)
        self._contents.tasks[task_id] = replace(task, **fields)  # type: ignore[arg-type]

    def read_ahead(
        self, plan_id: str, tasks: Sequence[str], ended: Sequence[str]
    ) -> None:
        """Read nothing: all of it is here."""

    def turns(
        self,
        plan_id: str,
        kinds: tuple[str, ...] = (),
        *,
        most: int,
        after: TaskRecord | None = None,
    ) -> list[TaskRecord]:
        return in_line(self.tasks(plan_id), kinds, after)[:most]

    def expired(self, plan_id: str) -> list[str]:
        leased = []
        for task in self.tasks(plan_id):
            if task.lease and task.lease.until < self.now:
                leased.append((task.lease.until, task.task_id))
        return [task_id for _, task_id in sorted(leased)]

    def reserved(self, plan_id: str) -> Budget:
        leases = [task.lease for task in self.tasks(plan_id) if task.lease]
        return all_reserved(lease.reserved for lease in leases if lease.reserved)

    def states_by_place(
        self, plan_id: str, *, since: int | None = None
    ) -> list[tuple[int, State]]:
        moved = {
            entry.task_id
            for entry in self._contents.entries.get(plan_id, ())
            if since is not None and (entry.number or 0) > since
        }
        return [
            (task.place, task.progress.state)
            for task in self.tasks(plan_id)
            if since is None or task.task_id in moved
        ]

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
        entries = self._contents.entries.get(plan_id, ())
        later = [entry for entry in entries if entry.seq > after]
        yield from later[:limit]

    def entries_of(self, task_id: str, kind: str | None = None) -> list[ChainEntry]:
        chains = self._contents.entries.values()
        entries = [entry for entry in chain(*chains) if entry.task_id == task_id]
        return [entry for entry in entries if kind in (None, entry.kind)]

    def _number(self, entry: ChainEntry) -> ChainEntry:
        """Give an event its number; writers take turns, so no other can get it."""
        number = self.last_number() + 1
        numbered = replace(entry, number=number)
        self._contents.numbered[number] = numbered
        self._contents.counters[EVENT_COUNTER] = number
        return numbered

    def last_number(self) -> int:
        return self._contents.counters.get(EVENT_COUNTER, 0)

    def page(
        self, listing: Listing[Record], wanted: Filter, request: PageRequest
    ) -> Page[Record]:
        behind = listing.begins_behind(wanted, request)
        records = [
            record
            for record in self._listed(listing.subject)
            if fits(record, wanted, self._contents.tasks)
        ]
        if wanted.first_of_cause:
            firsts = first_of_causes(self.find(QuestionRecord, answered_at=None))
            records = [record for record in records if record.question_id in firsts]
        if wanted.leaves_out_archived:
            plans = self._contents.plans
            records = [
                record
                for record in records
                if plans[record.plan_id].archived_at is None
            ]
        if behind is not None:
            begins = _place_behind(listing, behind)
            records = [record for record in records if begins(record)]
        return listing.page(wanted, request, records)

    def named_like(self, subject: Subject, beginning: str, most: int) -> list[Named]:
        return named_like(self._named(subject), beginning)[:most]

    def _named(self, subject: Subject) -> Iterator[Named]:
        if subject is Subject.PLANS:
            for plan in self.plans():
                yield Named(plan.plan_id, plan.title)
        elif subject is Subject.TASKS:
            for task in self._contents.tasks.values():
                yield Named(task.task_id, task.title)
        else:
            for question in self.open_questions():
                yield Named(question.question_id, question.text)

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
        if key_of_record(record) in self._contents.records:
            raise Conflict(f"another process was first: {key_of_record(record)}")
        self.replace(record)

    def find(self, kind: type[R], /, **where: object) -> list[R]:
        records = []
        for key, record in self._contents.records.items():
            if key[0] == kind.__name__ and _has_values(record, where):
                records.append(record)
        records.sort(
            key=lambda record: [getattr(record, name) for name in ORDERS[kind]]
        )
        return records

    def count(self, kind: type[R], /, **where: object) -> int:
        return len(self.find(kind, **where))

    def take_question_numbers(self, count: int) -> int:
        last = self._contents.counters.get(QUESTION_COUNTER, 0)
        self._contents.counters[QUESTION_COUNTER] = last + count
        return last + 1

    def replace(self, record: AnyRecord) -> None:
        self._contents.records[key_of_record(record)] = record
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
            questions = self._contents.counters.get(QUESTION_COUNTER, 0)
            yield {"name": QUESTION_COUNTER, "number": questions}
        else:
            for record in self._contents.records.values():
                if TABLES[type(record)] is table:
                    yield record_row(record)

    def blobs(self) -> Iterator[tuple[str, str | None]]:
        for name, content in self._contents.blobs.items():
            yield name, hashlib.sha256(content).hexdigest()


def _has_values(record: AnyRecord, values: Mapping[str, object]) -> bool:
    return all(getattr(record, name) == value for name, value in values.items())


def _get(among: dict[str, T], kind: str, name: str) -> T:
    try:
        return among[name]
    except KeyError:
        raise NotFound(kind, name, among) from None


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


class MemoryLedger(Ledger):
    """A ledger that is gone when the process ends."""

    def __init__(self, clock: Callable[[], str]) -> None:
        self._clock = clock
        self._contents = Contents()
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
        transaction.do_afterwards()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        yield MemoryTransaction(self._contents.copy(), self._clock())

    def put(self, content: bytes | Path) -> KeptBlob:
        raw = content if isinstance(content, bytes) else content.read_bytes()
        return KeptBlob(hashlib.sha256(raw).hexdigest(), len(raw), raw)

    def stage(self, content: bytes) -> None:
        """Nothing lies anywhere else."""

    def check_store(self) -> str:
        return "memory"

    def wait_for_change(self, *, after: int, seconds: float) -> int:
        with self._changed:
            self._changed.wait_for(lambda: self._last() > after, timeout=seconds)
            return self._last()

    def _last(self) -> int:
        return self._contents.counters.get(EVENT_COUNTER, 0)

    def close(self) -> None:
        """Nothing to let go of."""
