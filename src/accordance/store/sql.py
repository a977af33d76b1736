"""The ledger on SQLite and PostgreSQL: one implementation, SQLAlchemy Core."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, Select, Table, delete, select

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.filters import Filter, Subject
from accordance.domain.lifecycle import State
from accordance.domain.paging import Key, Page, PageRequest
from accordance.domain.plan import Combine
from accordance.domain.progress import NodeMove
from accordance.domain.records import (
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.errors import LedgerDamaged, NotFound
from accordance.store import rows, signals, statements
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
from accordance.store.listings import Listing, Record
from accordance.store.page_queries import ledger_events_query, page_query
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
_LOADERS: Final[Mapping[Subject, Callable[[Row[Any]], Any]]] = {
    Subject.PLANS: rows.plan_from,
    Subject.TASKS: rows.task_from,
    Subject.DEAD_LETTERS: rows.task_from,
    Subject.EVENTS: rows.entry_from,
    Subject.QUESTIONS: partial(rows.record_from, QuestionRecord),
}


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
    """What this transaction has changed and not written yet.

    Plans and tasks are kept as the database still has them. Events are kept until the
    transaction ends, since their numbers are taken last.
    """

    plans: dict[str, PlanRecord] = field(default_factory=dict)
    tasks: dict[str, TaskRecord] = field(default_factory=dict)
    entries: list[ChainEntry] = field(default_factory=list)
    ledger_entries: list[ChainEntry] = field(default_factory=list)


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

    def finish(self) -> None:
        """Write down everything, at the end of the transaction.

        The numbers of events come last: whoever takes some holds up all who want
        numbers until they commit, and waits for nothing any more.
        """
        self.flush()
        entries, self._unwritten.entries = self._unwritten.entries, []
        own, self._unwritten.ledger_entries = self._unwritten.ledger_entries, []
        count = len(entries) + len(own)
        if not count:
            return

        number = self._take_numbers(count)
        if entries:
            values = _numbered(entries, number, TASK_EVENTS)
            self._connection.execute(statements.insertion(TASK_EVENTS), values)
        if own:
            values = _numbered(own, number + len(entries), LEDGER_EVENTS)
            self._connection.execute(statements.insertion(LEDGER_EVENTS), values)

    def _take_numbers(self, count: int) -> int:
        """Return the first of so many numbers, which no other transaction gets."""
        statement = statements.TAKE_NUMBERS[self._dialect]
        taken = self._connection.exec_driver_sql(statement, (count,)).first()
        if taken is None:
            raise LedgerDamaged("the counter of events is missing")
        last: int = taken[0]
        return last - count + 1

    def flush(self) -> None:
        """Write down where plans and tasks stand."""
        self._flush_tasks()
        unwritten, self._unwritten.plans = self._unwritten.plans, {}
        if plans := rows.changes(rows.plan_row, unwritten, self._seen.plans):
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

    def add_old_entry(self, entry: ChainEntry) -> None:
        """Add an event to a chain whose plan may be unreadable; its head is not moved."""
        self._unwritten.entries.append(entry)

    def entries(
        self, plan_id: str, *, after: int = 0, limit: int | None = None
    ) -> Iterator[ChainEntry]:
        query = statements.EVENTS_AFTER.limit(limit)
        keys = {"key": plan_id, "after": after}
        written = map(rows.entry_from, self._connection.execute(query, keys))
        unwritten = [
            entry
            for entry in self._unwritten.entries
            if entry.plan_id == plan_id and entry.seq > after
        ]
        return islice(chain(written, unwritten), limit)

    def entries_of(self, task_id: str) -> list[ChainEntry]:
        found = self._connection.execute(statements.EVENTS_OF_TASK, {"key": task_id})
        written = [rows.entry_from(row) for row in found]
        unwritten = [
            entry for entry in self._unwritten.entries if entry.task_id == task_id
        ]
        return [*written, *unwritten]

    def last_number(self) -> int:
        return signals.last_number(self._connection)

    # -- lists

    def page(
        self, listing: Listing[Record], wanted: Filter, request: PageRequest
    ) -> Page[Record]:
        self.flush()
        behind = listing.begins_behind(wanted, request)
        most = request.limit + 1
        query = page_query(wanted, behind, self._dialect).limit(most)
        read = _LOADERS[listing.subject]
        records = [read(row) for row in self._connection.execute(query)]
        if listing.subject is Subject.EVENTS:
            records += self._ledger_events(wanted, behind, most)
            records.sort(key=listing.key)
        return listing.page(wanted, request, records)

    def _ledger_events(
        self, wanted: Filter, behind: Key | None, most: int
    ) -> list[ChainEntry]:
        """Events of the ledger's own chain, where the filter lets any through."""
        query = ledger_events_query(wanted, behind, self._dialect)
        if query is None:
            return []
        found = self._connection.execute(query.limit(most))
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
        if self._unwritten.ledger_entries:
            newest = self._unwritten.ledger_entries[-1]
            return Head(seq=newest.seq, hash=newest.hash)
        last = self._connection.execute(statements.LEDGER_HEAD).first()
        return Head() if last is None else Head(seq=last.seq, hash=last.hash)

    def add_ledger_entry(self, entry: ChainEntry) -> None:
        self._unwritten.ledger_entries.append(entry)

    def ledger_entries(self) -> Iterator[ChainEntry]:
        for row in self._stream(statements.ALL_LEDGER_EVENTS, _CHUNK):
            yield rows.entry_from(row)
        yield from self._unwritten.ledger_entries

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


def _numbered(
    entries: Iterable[ChainEntry], first: int, table: Table
) -> list[dict[str, Any]]:
    """The rows of events, numbered from a first number on."""
    names = statements.written_columns(table)
    numbered = []
    for number, entry in enumerate(entries, first):
        row = {name: getattr(entry, name) for name in names}
        row["number"] = number
        numbered.append(row)
    return numbered


@contextmanager
def within(connection: Connection, now: str) -> Iterator[SqlTransaction]:
    """A ledger's transaction within somebody else's: they commit, and everything was written by then."""
    transaction = SqlTransaction(connection, now)
    yield transaction
    transaction.seal()
    transaction.finish()


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

    def wait_for_change(self, *, after: int, seconds: float) -> int:
        with translated(self.engine):
            return signals.wait_for_change(self.engine, after, seconds)

    def close(self) -> None:
        self.engine.dispose()
