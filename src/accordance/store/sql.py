"""The ledger on SQLite and PostgreSQL: one implementation, SQLAlchemy Core."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Select, Table, delete, select

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.lifecycle import State
from accordance.domain.plan import Combine
from accordance.domain.progress import NodeMove
from accordance.domain.records import PlanRecord, RequirementRecord, TaskRecord
from accordance.errors import NotFound
from accordance.store import rows, statements
from accordance.store.failures import translated
from accordance.store.ledger import (
    MAKES_WAY,
    AnyRecord,
    EdgeRow,
    Ledger,
    NodeRow,
    R,
    Transaction,
)
from accordance.store.seals import Values, stored_rows
from accordance.store.tables import (
    BLOBS,
    LEDGER_EVENTS,
    PLANS,
    REQUIREMENTS,
    TASK_EDGES,
    TASK_EVENTS,
    TASK_NODES,
)

_CHUNK: Final = 2000
_MANY: Final = 500
_PIECES: Final = 8  # of blobs, a MiB each at most


@dataclass
class StoredNode:
    """A node that looks its neighbours up when it is asked for them."""

    row: Row[Any]
    ask: Callable[[Select[Any], str], tuple[str, ...]]

    @property
    def task_id(self) -> str:
        return self.row.task_id  # type: ignore[no-any-return]

    @property
    def is_work(self) -> bool:
        return self.row.is_work  # type: ignore[no-any-return]

    @property
    def combine(self) -> Combine:
        return self.row.combine  # type: ignore[no-any-return]

    @property
    def checks(self) -> str | None:
        return self.row.checks  # type: ignore[no-any-return]

    @cached_property
    def parts(self) -> tuple[str, ...]:
        return () if self.is_work else self.ask(statements.PARTS, self.task_id)

    @cached_property
    def parents(self) -> tuple[str, ...]:
        return self.ask(statements.PARENTS, self.task_id)

    @cached_property
    def dependents(self) -> tuple[str, ...]:
        return self.ask(statements.DEPENDENTS, self.task_id)

    @cached_property
    def prerequisites(self) -> tuple[str, ...]:
        return self.ask(statements.PREREQUISITES, self.task_id)

    @cached_property
    def checked_by(self) -> tuple[str, ...]:
        if not self.row.is_checked:
            return ()
        return self.ask(statements.CHECKS, self.task_id)

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        if self.row.rival_group is None:
            return ()
        return self.ask(statements.RIVALS, self.row.rival_group)


@dataclass
class _Seen:
    """What this transaction has read already, as it is now."""

    nodes: dict[str, StoredNode] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    plans: dict[str, PlanRecord] = field(default_factory=dict)


@dataclass
class _Unwritten:
    """What this transaction has changed and not written yet: the rows as the database still has them, and new events."""

    plans: dict[str, PlanRecord] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    entries: list[ChainEntry] = field(default_factory=list)


class SqlTransaction(Transaction):
    """A transaction on a connection. Whoever gave the connection flushes and commits it.

    Where plans and tasks stand is written when the transaction ends, each row once; whatever looks for rows by where
    they stand writes first.
    """

    def __init__(self, connection: Connection, now: str) -> None:
        super().__init__(now)
        self._connection = connection
        self._dialect = connection.dialect.name
        self._seen = _Seen()
        self._unwritten = _Unwritten()
        self._kept: set[str] = set()
        self._held: set[str] = set()

    def flush(self) -> None:
        """Write down what has changed."""
        self._flush_tasks()
        unwritten, self._unwritten = self._unwritten, _Unwritten()
        if unwritten.entries:
            entries = [rows.record_row(entry) for entry in unwritten.entries]
            self._connection.execute(statements.insertion(TASK_EVENTS), entries)
        if plans := rows.changes(rows.plan_row, unwritten.plans, self._seen.plans):
            self._connection.execute(statements.SAVE_PLAN, plans)

    def _flush_tasks(self) -> None:
        """Write down where tasks stand: enough for whoever looks for tasks."""
        unwritten, self._unwritten.tasks = self._unwritten.tasks, {}
        if tasks := rows.changes(rows.task_row, unwritten, self._seen.tasks):
            self._connection.execute(statements.SAVE_NODE, tasks)

    # -- blobs

    def keep(self, content: bytes) -> str:
        sha256 = rows.hash_of(content)
        if sha256 not in self._kept:
            self._kept.add(sha256)
            if self._keep_pieces(content):
                self.written.blobs.append(sha256)
        return sha256

    def _keep_pieces(self, content: bytes) -> bool:
        """A driver copies what it is given several times; of a large blob it is given a piece at a time. Whether it is new."""
        statement = statements.insertion_if_new(self._dialect, BLOBS)
        # the first piece that is there says that all of it is
        return all(
            self._connection.execute(statement, piece).rowcount
            for piece in rows.pieces_of(content)
        )

    def blob(self, sha256: str) -> bytes:
        found = (
            self._connection.execute(statements.BLOB, {"key": sha256}).scalars().all()
        )
        if not found:
            raise NotFound("blob", sha256)
        return b"".join(found)

    # -- plans

    def plans(self) -> list[PlanRecord]:
        self.flush()
        return [
            rows.plan_from(row)
            for row in self._connection.execute(statements.ALL_PLANS)
        ]

    def plan(self, plan_id: str) -> PlanRecord:
        if plan_id not in self._seen.plans:
            self._seen.plans[plan_id] = self._plan(statements.PLAN, plan_id)
        return self._seen.plans[plan_id]

    def lock(self, plan_id: str) -> PlanRecord:
        if plan_id not in self._held:
            self.flush()
            held = self._plan(statements.PLAN_HELD, plan_id)
            self._seen = _Seen(
                plans={plan_id: held}
            )  # what was read before may have changed meanwhile
            self._held.add(plan_id)
        return self.plan(plan_id)

    def _plan(self, query: Select[Any], plan_id: str) -> PlanRecord:
        row = self._connection.execute(query, {"key": plan_id}).first()
        if row is None:
            known = self._connection.execute(
                select(PLANS.c.plan_id).limit(_MANY)
            ).scalars()
            raise NotFound("plan", plan_id, known)
        return rows.plan_from(row)

    def save_plan(self, plan_id: str, **fields: object) -> None:
        plan = self.plan(plan_id)
        self._unwritten.plans.setdefault(plan_id, plan)
        self.written.plans.setdefault(plan_id, plan)
        self._seen.plans[plan_id] = replace(plan, **fields)  # type: ignore[arg-type]

    def begin_plan(
        self,
        plan: PlanRecord,
        nodes: Iterable[NodeRow],
        edges: Iterable[EdgeRow],
        requirements: Iterable[RequirementRecord],
    ) -> None:
        self.flush()
        self._begins(plan.plan_id, is_new=plan.revision == 1)
        row = rows.plan_row(plan)
        if plan.revision == 1:
            self._connection.execute(statements.insertion(PLANS), row)
        else:
            self._make_way(plan.plan_id)
            self._connection.execute(statements.SAVE_PLAN, {"key": plan.plan_id, **row})
        self._seen = _Seen(plans={plan.plan_id: plan})
        self._insert_all(
            TASK_NODES,
            (
                {
                    **rows.task_row(one.task),
                    "combine": one.combine,
                    "rival_group": one.rival_group,
                }
                for one in nodes
            ),
        )
        self._insert_all(TASK_EDGES, map(rows.record_row, edges))
        self._insert_all(REQUIREMENTS, map(rows.record_row, requirements))

    def _make_way(self, plan_id: str) -> None:
        for table in MAKES_WAY:
            self._connection.execute(delete(table).where(table.c.plan_id == plan_id))

    def _insert_all(self, table: Table, values: Iterable[dict[str, Any]]) -> None:
        statement, as_row = statements.bulk(self._connection.dialect, table)
        left = map(as_row, values)
        while chunk := list(islice(left, _CHUNK)):
            self._connection.exec_driver_sql(statement, chunk)

    # -- tasks

    def node(self, task: str) -> StoredNode:
        if task not in self._seen.nodes:
            self._ask(statements.NODE, task)
        try:
            return self._seen.nodes[task]
        except KeyError:
            raise NotFound("task", task, self._near(task)) from None

    def _near(self, task: str) -> list[str]:
        alike = select(TASK_NODES.c.task_id).where(
            TASK_NODES.c.task_id.startswith(task[:4], autoescape=True)
        )
        return list(self._connection.execute(alike.limit(_MANY)).scalars())

    def _ask(self, query: Select[Any], key: str, **more: object) -> tuple[str, ...]:
        """The tasks a query finds. What was seen already stays as it is: this transaction may have moved it."""
        found: dict[str, None] = {}
        nodes = self._seen.nodes
        for row in self._connection.execute(query, {"key": key, **more}):
            task = row.task_id
            found[task] = None
            if task not in nodes:
                nodes[task] = StoredNode(row, self._ask)
        return tuple(found)

    def task(self, task_id: str) -> TaskRecord:
        if task_id not in self._seen.tasks:
            self._seen.tasks[task_id] = rows.task_from(self.node(task_id).row)
        return self._seen.tasks[task_id]

    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        self._flush_tasks()
        for row in self._connection.execute(statements.tasks(states), {"key": plan_id}):
            yield rows.task_from(row)

    def apply(self, changes: Sequence[NodeMove]) -> None:
        last = {change.task_id: change for change in changes}
        first: dict[str, State] = {}
        for change in changes:
            first.setdefault(change.task_id, change.before.state)
        for task_id, change in last.items():
            kept = {} if change.after.state is first[task_id] else {"lease": None}
            self.save_task(task_id, progress=change.after, updated_at=self.now, **kept)

    def save_task(self, task_id: str, **fields: object) -> None:
        task = self.task(task_id)
        self._unwritten.tasks.setdefault(task_id, task)
        self.written.tasks.setdefault(task_id, task)
        self._seen.tasks[task_id] = replace(task, **fields)  # type: ignore[arg-type]

    def turns(
        self,
        plan_id: str,
        kinds: tuple[str, ...] = (),
        *,
        most: int,
        after: TaskRecord | None = None,
    ) -> list[TaskRecord]:
        self._flush_tasks()
        if after is None:
            found = self._ask(statements.turns(kinds), plan_id, most=most)
        else:
            behind = {
                "turn": rows.turn_of_task(after),
                "priority": after.priority,
                "place": after.place,
            }
            found = self._ask(
                statements.turns_behind(kinds), plan_id, most=most, **behind
            )
        return [self.task(one) for one in found]

    def expired(self, plan_id: str) -> list[str]:
        self._flush_tasks()
        return list(self._ask(statements.EXPIRED, plan_id, now=self.now))

    def count_states(self, plan_id: str) -> dict[State, int]:
        self._flush_tasks()
        found = self._connection.execute(statements.STATES, {"key": plan_id})
        return {rows.state_from(state): count for state, count in found}

    # -- events

    def add_entry(self, entry: ChainEntry) -> None:
        self._unwritten.entries.append(entry)
        self.save_plan(entry.plan_id, head=Head(seq=entry.seq, hash=entry.hash))

    def entries(
        self, plan_id: str, *, after: int = 0, limit: int | None = None
    ) -> Iterator[ChainEntry]:
        self.flush()
        query = statements.EVENTS_AFTER.limit(limit)
        for row in self._connection.execute(query, {"key": plan_id, "after": after}):
            yield rows.entry_from(row)

    def entries_of(self, task_id: str) -> list[ChainEntry]:
        self.flush()
        found = self._connection.execute(statements.EVENTS_OF_TASK, {"key": task_id})
        return [rows.entry_from(row) for row in found]

    # -- everything else

    def add(self, record: AnyRecord) -> None:
        table = rows.TABLES[type(record)]
        self._connection.execute(statements.insertion(table), rows.record_row(record))
        self._wrote(record)

    def find(self, kind: type[R], /, **where: object) -> list[R]:
        absent = frozenset(name for name, value in where.items() if value is None)
        wanted = frozenset(where) - absent
        query = statements.matching(
            rows.TABLES[kind], rows.ORDERS[kind], wanted, absent
        )
        return [
            rows.record_from(kind, row)
            for row in self._connection.execute(query, where)
        ]

    def replace(self, record: AnyRecord) -> None:
        table = rows.TABLES[type(record)]
        self._connection.execute(
            statements.replacement(self._dialect, table), rows.record_row(record)
        )
        self._wrote(record)

    # -- seals, and what `verify` looks at

    def beside_the_record(self, task_id: str) -> dict[str, Any]:
        row = self.node(task_id).row
        return {"combine": row.combine, "rival_group": row.rival_group}

    def ledger_head(self) -> Head:
        if self._dialect == "postgresql":
            self._connection.execute(statements.HOLD_LEDGER_CHAIN)
        return self.last_of_ledger()

    def last_of_ledger(self) -> Head:
        last = self._connection.execute(statements.LEDGER_HEAD).first()
        return Head() if last is None else Head(seq=last.seq, hash=last.hash)

    def add_ledger_entry(self, entry: ChainEntry) -> None:
        values = {
            column.name: getattr(entry, column.name) for column in LEDGER_EVENTS.c
        }
        self._connection.execute(statements.insertion(LEDGER_EVENTS), values)

    def ledger_entries(self) -> Iterator[ChainEntry]:
        for row in self._stream(statements.ALL_LEDGER_EVENTS, _CHUNK):
            yield rows.entry_from(row)

    def plan_ids(self, table: Table = PLANS) -> set[str]:
        self.flush()
        return set(
            self._connection.execute(select(table.c.plan_id).distinct()).scalars()
        )

    def stored(self, table: Table, plan_id: str | None = None) -> Iterator[Values]:
        self.flush()
        query = stored_rows(table, self._dialect)
        if plan_id is not None:
            query = query.where(table.c.plan_id == plan_id)
        yield from map(tuple, self._stream(query, _CHUNK))

    def blobs(self) -> Iterator[tuple[str, str | None]]:
        pieces = self._stream(statements.ALL_BLOBS, _PIECES)
        for name, parts in groupby(pieces, key=itemgetter(0)):
            content, is_whole = hashlib.sha256(), True
            for at, piece in enumerate(parts):
                is_whole = is_whole and piece.part == at
                is_bytes = isinstance(piece.content, bytes)
                content.update(
                    piece.content if is_bytes else str(piece.content).encode()
                )
            yield name, content.hexdigest() if is_whole else None

    def _stream(self, query: Select[Any], many: int) -> Iterator[Row[Any]]:
        """Rows, so many at a time."""
        with self._connection.execute(
            query, execution_options={"yield_per": many}
        ) as found:
            yield from found


@contextmanager
def within(connection: Connection, now: str) -> Iterator[SqlTransaction]:
    """A ledger's transaction within somebody else's: they commit, and everything was written by then."""
    transaction = SqlTransaction(connection, now)
    yield transaction
    transaction.seal()
    transaction.flush()


class SqlLedger(Ledger):
    """A ledger in a database."""

    def __init__(self, engine: Engine, clock: Callable[[], str]) -> None:
        self.engine = engine
        self._clock = clock

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with (
            translated(self.engine),
            self.engine.begin() as connection,
            within(connection, self._clock()) as tx,
        ):
            yield tx

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with translated(self.engine), self.engine.connect() as plain:
            level = (
                {"isolation_level": "REPEATABLE READ"}
                if plain.dialect.name == "postgresql"
                else {}
            )
            connection = plain.execution_options(reading=True, **level)
            yield SqlTransaction(connection, self._clock())

    def close(self) -> None:
        self.engine.dispose()
