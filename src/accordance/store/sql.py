"""The ledger on SQLite and PostgreSQL: one implementation, SQLAlchemy Core."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Engine, Row, Select, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from accordance.domain.chain import Entry, Head
from accordance.domain.lifecycle import State
from accordance.domain.plan import Combine
from accordance.domain.progress import Change
from accordance.domain.records import PlanRecord, RequirementRecord, TaskRecord
from accordance.errors import NotFound
from accordance.store import rows
from accordance.store.failures import translated
from accordance.store.ledger import AnyRecord, EdgeRow, Ledger, NodeRow, R, Transaction
from accordance.store.tables import (
    BLOBS,
    EVIDENCES,
    PLANS,
    QUESTIONS,
    REQUIREMENTS,
    TASK_EDGES,
    TASK_EVENTS,
    TASK_NODES,
)

T = TypeVar("T")

_CHUNK: Final = 2000
_MANY: Final = 500
_NODES: Final = TASK_NODES.c
_EDGES: Final = TASK_EDGES.c


def _neighbours(here: str, there: str, kind: str) -> Callable[[str], Select[Any]]:
    """The rows at the other end of a task's edges of one kind, in the plan's order."""
    edge = TASK_EDGES
    base = (
        select(TASK_NODES)
        .join(edge, edge.c[there] == _NODES.task_id)
        .where(edge.c.edge_type == kind)
        .order_by(_EDGES.place)
    )
    return lambda task: base.where(edge.c[here] == task)


_PARTS: Final = _neighbours("from_task_id", "to_task_id", "DECOMPOSE")
_PARENTS: Final = _neighbours("to_task_id", "from_task_id", "DECOMPOSE")
_DEPENDENTS: Final = _neighbours("from_task_id", "to_task_id", "DEPENDS_ON")
_PREREQUISITES: Final = _neighbours("to_task_id", "from_task_id", "DEPENDS_ON")


@dataclass
class StoredNode:
    """A node that looks its neighbours up when it is asked for them."""

    row: Row[Any]
    ask: Callable[[Select[Any]], tuple[str, ...]]

    @property
    def task_id(self) -> str:
        return self.row.task_id  # type: ignore[no-any-return]

    @property
    def is_work(self) -> bool:
        return self.row.is_work  # type: ignore[no-any-return]

    @property
    def combine(self) -> Combine:
        return self.row.combine  # type: ignore[no-any-return]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return () if self.is_work else self.ask(_PARTS(self.task_id))

    @cached_property
    def parents(self) -> tuple[str, ...]:
        return self.ask(_PARENTS(self.task_id))

    @cached_property
    def dependents(self) -> tuple[str, ...]:
        return self.ask(_DEPENDENTS(self.task_id))

    @cached_property
    def prerequisites(self) -> tuple[str, ...]:
        return self.ask(_PREREQUISITES(self.task_id))

    @cached_property
    def checked_by(self) -> tuple[str, ...]:
        if not self.row.is_checked:
            return ()
        return self.ask(select(TASK_NODES).where(_NODES.checks == self.task_id).order_by(_NODES.place))

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        if self.row.rival_group is None:
            return ()
        candidates = select(TASK_NODES).where(_NODES.rival_group == self.row.rival_group)
        return self.ask(candidates.order_by(_NODES.priority.desc(), _NODES.place))


@dataclass
class _Seen:
    """What this transaction has read already, as it is now."""

    nodes: dict[str, StoredNode] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    plans: dict[str, PlanRecord] = field(default_factory=dict)


class SqlTransaction(Transaction):
    """A transaction on a connection. Whoever gave the connection commits it."""

    def __init__(self, connection: Connection, now: str) -> None:
        super().__init__(now)
        self._connection = connection
        self._seen = _Seen()
        self._insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert

    # -- blobs

    def keep(self, content: bytes) -> str:
        sha256 = hashlib.sha256(content).hexdigest()
        row = {"sha256": sha256, "content": content}
        self._connection.execute(self._insert(BLOBS).values(row).on_conflict_do_nothing())
        return sha256

    def blob(self, sha256: str) -> bytes:
        found = self._connection.execute(select(BLOBS.c.content).where(BLOBS.c.sha256 == sha256)).scalar()
        if found is None:
            raise NotFound("blob", sha256)
        return bytes(found)

    # -- plans

    def plans(self) -> list[PlanRecord]:
        found = self._connection.execute(select(PLANS).order_by(PLANS.c.imported_at.desc(), PLANS.c.plan_id))
        return [rows.plan_from(row) for row in found]

    def plan(self, plan_id: str) -> PlanRecord:
        if plan_id not in self._seen.plans:
            self._seen.plans[plan_id] = self._plan(select(PLANS).where(PLANS.c.plan_id == plan_id), plan_id)
        return self._seen.plans[plan_id]

    def lock(self, plan_id: str) -> PlanRecord:
        held = self._plan(select(PLANS).where(PLANS.c.plan_id == plan_id).with_for_update(), plan_id)
        self._seen = _Seen(plans={plan_id: held})  # what was read before may have changed meanwhile
        return held

    def _plan(self, query: Select[Any], plan_id: str) -> PlanRecord:
        row = self._connection.execute(query).first()
        if row is None:
            known = self._connection.execute(select(PLANS.c.plan_id).limit(_MANY)).scalars()
            raise NotFound("plan", plan_id, known)
        return rows.plan_from(row)

    def save_plan(self, plan_id: str, **fields: object) -> None:
        plan = replace(self.plan(plan_id), **fields)  # type: ignore[arg-type]
        self._seen.plans[plan_id] = plan
        row = rows.plan_row(plan)
        changed = {name: row[name] for name in fields}
        self._connection.execute(update(PLANS).where(PLANS.c.plan_id == plan_id).values(changed))

    def begin_plan(
        self,
        plan: PlanRecord,
        nodes: Iterable[NodeRow],
        edges: Iterable[EdgeRow],
        requirements: Iterable[RequirementRecord],
    ) -> None:
        if plan.revision == 1:
            self._connection.execute(PLANS.insert().values(rows.plan_row(plan)))
        else:
            self._make_way(plan.plan_id)
            row = rows.plan_row(plan)
            self._connection.execute(update(PLANS).where(PLANS.c.plan_id == plan.plan_id).values(row))
        self._seen = _Seen(plans={plan.plan_id: plan})
        self._insert_all(
            TASK_NODES,
            (
                {**rows.task_row(one.task), "combine": one.combine, "rival_group": one.rival_group}
                for one in nodes
            ),
        )
        self._insert_all(TASK_EDGES, (rows.record_row(edge) for edge in edges))
        self._insert_all(REQUIREMENTS, (rows.record_row(one) for one in requirements))

    def _make_way(self, plan_id: str) -> None:
        for table in (EVIDENCES, REQUIREMENTS, QUESTIONS, TASK_EDGES, TASK_NODES):
            self._connection.execute(delete(table).where(table.c.plan_id == plan_id))

    def _insert_all(self, table: Any, values: Iterable[dict[str, Any]]) -> None:
        left = iter(values)
        while chunk := list(islice(left, _CHUNK)):
            self._connection.execute(table.insert(), chunk)

    # -- tasks

    def node(self, task: str) -> StoredNode:
        if task not in self._seen.nodes:
            found = self._ask(select(TASK_NODES).where(_NODES.task_id == task))
            if not found:
                raise NotFound("task", task, self._near(task))
        return self._seen.nodes[task]

    def _near(self, task: str) -> list[str]:
        alike = select(_NODES.task_id).where(_NODES.task_id.startswith(task[:4], autoescape=True))
        return list(self._connection.execute(alike.limit(_MANY)).scalars())

    def _ask(self, query: Select[Any]) -> tuple[str, ...]:
        """The tasks a query finds. What was seen already stays as it is: this transaction may have moved it."""
        found: dict[str, None] = {}
        for row in self._connection.execute(query):
            found[row.task_id] = None
            if row.task_id not in self._seen.nodes:
                self._seen.nodes[row.task_id] = StoredNode(row, self._ask)
        return tuple(found)

    def task(self, task_id: str) -> TaskRecord:
        if task_id not in self._seen.tasks:
            self._seen.tasks[task_id] = rows.task_from(self.node(task_id).row)
        return self._seen.tasks[task_id]

    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        query = select(TASK_NODES).where(_NODES.plan_id == plan_id).order_by(_NODES.place)
        if states:
            query = query.where(_NODES.state.in_([state.value for state in states]))
        for row in self._connection.execute(query):
            yield rows.task_from(row)

    def apply(self, changes: Sequence[Change]) -> None:
        last = {change.task_id: change for change in changes}
        first: dict[str, State] = {}
        for change in changes:
            first.setdefault(change.task_id, change.before.state)
        for task_id, change in last.items():
            task = self.task(task_id)
            lease = task.lease if change.after.state is first[task_id] else None
            self._save(replace(task, progress=change.after, lease=lease, updated_at=self.now))

    def save_task(self, task_id: str, **fields: object) -> None:
        self._save(replace(self.task(task_id), **fields))  # type: ignore[arg-type]

    def _save(self, task: TaskRecord) -> None:
        row, before = rows.task_row(task), rows.task_row(self.task(task.task_id))
        changed = {name: value for name, value in row.items() if value != before[name]}
        self._seen.tasks[task.task_id] = task
        if changed:
            self._connection.execute(update(TASK_NODES).where(_NODES.task_id == task.task_id).values(changed))

    def next_turn(self, plan_id: str, kinds: tuple[str, ...]) -> TaskRecord | None:
        query = (
            select(TASK_NODES)
            .where(_NODES.plan_id == plan_id, _NODES.queue.is_not(None))
            .order_by(_NODES.queue, _NODES.priority.desc(), _NODES.place)
        )
        if kinds:
            query = query.where(_NODES.node_type.in_(kinds))
        found = self._ask(query.limit(1))
        return self.task(found[0]) if found else None

    def expired(self, plan_id: str) -> list[str]:
        query = select(TASK_NODES).where(_NODES.lease_until < self.now, _NODES.plan_id == plan_id)
        return list(self._ask(query.order_by(_NODES.lease_until)))

    def count_states(self, plan_id: str) -> dict[State, int]:
        query = select(_NODES.state, func.count()).where(_NODES.plan_id == plan_id).group_by(_NODES.state)
        return {State(state): count for state, count in self._connection.execute(query)}

    # -- events

    def add_entry(self, entry: Entry) -> None:
        self._connection.execute(TASK_EVENTS.insert().values(rows.record_row(entry)))
        head = Head(seq=entry.seq, hash=entry.hash)
        self._seen.plans[entry.plan_id] = replace(self.plan(entry.plan_id), head=head)
        self._connection.execute(
            update(PLANS)
            .where(PLANS.c.plan_id == entry.plan_id)
            .values(head_seq=entry.seq, head_hash=entry.hash)
        )

    def entries(self, plan_id: str, *, after: int = 0, limit: int | None = None) -> Iterator[Entry]:
        events = TASK_EVENTS.c
        query = select(TASK_EVENTS).where(events.plan_id == plan_id, events.seq > after).order_by(events.seq)
        for row in self._connection.execute(query.limit(limit)):
            yield rows.entry_from(row)

    def entries_of(self, task_id: str) -> list[Entry]:
        query = select(TASK_EVENTS).where(TASK_EVENTS.c.task_id == task_id).order_by(TASK_EVENTS.c.seq)
        return [rows.entry_from(row) for row in self._connection.execute(query)]

    # -- everything else

    def add(self, record: AnyRecord) -> None:
        self._connection.execute(rows.TABLES[type(record)].insert().values(rows.record_row(record)))

    def find(self, kind: type[R], /, **where: object) -> list[R]:
        table = rows.TABLES[kind]
        query = select(table).order_by(*(table.c[name] for name in rows.ORDERS[kind]))
        for name, value in where.items():
            query = query.where(table.c[name].is_(None) if value is None else table.c[name] == value)
        return [rows.record_from(kind, row) for row in self._connection.execute(query)]

    def replace(self, record: AnyRecord) -> None:
        table, row = rows.TABLES[type(record)], rows.record_row(record)
        key = [column.name for column in table.primary_key]
        rest = {name: value for name, value in row.items() if name not in key}
        statement = self._insert(table).values(row)
        self._connection.execute(statement.on_conflict_do_update(index_elements=key, set_=rest))


class SqlLedger(Ledger):
    """A ledger in a database."""

    def __init__(self, engine: Engine, clock: Callable[[], str]) -> None:
        self.engine = engine
        self._clock = clock

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with translated(self.engine), self.engine.begin() as connection:
            yield SqlTransaction(connection, self._clock())

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with translated(self.engine), self.engine.connect() as plain:
            level = {"isolation_level": "REPEATABLE READ"} if plain.dialect.name == "postgresql" else {}
            connection = plain.execution_options(reading=True, **level)
            yield SqlTransaction(connection, self._clock())

    def close(self) -> None:
        self.engine.dispose()
