"""The ledger on SQLite and PostgreSQL: one implementation, SQLAlchemy Core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Engine,
    Row,
    Select,
    and_,
    delete,
    select,
)

from accordance.domain.chain import ChainEntry
from accordance.domain.filters import Filter, Subject
from accordance.domain.lifecycle import State
from accordance.domain.named_things import Named
from accordance.domain.paging import Key, Page, PageRequest
from accordance.domain.progress import NodeMove
from accordance.domain.records import (
    PlanRecord,
    QuestionRecord,
    RequirementRecord,
    TaskRecord,
)
from accordance.domain.reservations import all_reserved
from accordance.domain.turns import in_line, turn_of
from accordance.domain.usage import Budget
from accordance.errors import NotFound
from accordance.store import rows, signals, statements
from accordance.store.blobs.keeper import ANNOUNCE, BlobKeeper, keeper_of
from accordance.store.blobs.sources import KeptBlob
from accordance.store.clock import time_on
from accordance.store.failures import translated
from accordance.store.ledger import Ledger, Transaction
from accordance.store.listings import Listing, Record
from accordance.store.looking import looking
from accordance.store.name_queries import names_query
from accordance.store.page_queries import ledger_events_query, page_query
from accordance.store.reading_ahead import read_ahead
from accordance.store.sql_nodes import ReadRows, StoredNode
from accordance.store.sql_records import SqlRecords
from accordance.store.storage import (
    MAKES_WAY,
    AmendedRows,
    EdgeRow,
    NodeRow,
)
from accordance.store.tables import (
    BLOB_OBJECTS,
    BLOBS,
    METADATA,
    PLANS,
    REQUIREMENTS,
    TASK_EDGES,
    TASK_NODES,
)

_MANY: Final = 500  # ids among which a similar id is looked for
_LOADERS: Final[Mapping[Subject, Callable[[Row[Any]], Any]]] = {
    Subject.PLANS: rows.plan_from,
    Subject.TASKS: rows.task_from,
    Subject.DEAD_LETTERS: rows.task_from,
    Subject.EVENTS: rows.entry_from,
    Subject.QUESTIONS: partial(rows.record_from, QuestionRecord),
}


class SqlTransaction(SqlRecords):
    """A transaction on a connection. The owner of the connection commits it."""

    def __init__(self, connection: Connection, now: str) -> None:
        super().__init__(connection, now)
        self._locked_plans: set[str] = set()

    # -- plans

    def plans(self) -> list[PlanRecord]:
        self.flush()
        return [rows.plan_from(row) for row in self._driver.all(statements.ALL_PLANS)]

    def plan(self, plan_id: str) -> PlanRecord:
        plans = self._read.plans
        if plan_id not in plans:
            plans[plan_id] = self._plan(statements.PLAN, plan_id)
        return plans[plan_id]

    def lock(self, plan_id: str) -> PlanRecord:
        if plan_id not in self._locked_plans:
            self.flush()
            plan = self._plan(statements.PLAN_HELD, plan_id)
            # what was read before may have changed meanwhile
            self._read = ReadRows(plans={plan_id: plan})
            self._locked_plans.add(plan_id)
        return self.plan(plan_id)

    def _plan(self, query: Select[Any], plan_id: str) -> PlanRecord:
        row = self._driver.first(query, {"key": plan_id})
        if row is None:
            some_plans = select(PLANS.c.plan_id).limit(_MANY)
            known = self._connection.execute(some_plans).scalars()
            raise NotFound("plan", plan_id, known)
        return rows.plan_from(row)

    def save_plan(self, plan_id: str, **fields: object) -> None:
        plan = self.plan(plan_id)
        self._unwritten.plans.setdefault(plan_id, plan)
        self.written.plans.setdefault(plan_id, plan)
        self._read.plans[plan_id] = replace(plan, **fields)  # type: ignore[arg-type]

    def begin_plan(
        self,
        plan: PlanRecord,
        nodes: Iterable[NodeRow],
        edges: Iterable[EdgeRow],
        requirements: Iterable[RequirementRecord],
    ) -> None:
        self.flush()
        is_new = plan.revision == 1
        self._begins(plan.plan_id, is_new=is_new)

        row = rows.plan_row(plan)
        if is_new:
            self._driver.write(statements.insertion(PLANS), row)
        else:
            self._make_way(plan.plan_id)
            self._driver.write(statements.SAVE_PLAN, {"key": plan.plan_id, **row})
        self._read = ReadRows(plans={plan.plan_id: plan})

        self._write_all("insert", TASK_NODES, map(_node_values, nodes))
        self._write_all("insert", TASK_EDGES, map(rows.record_row, edges))
        self._write_all("insert", REQUIREMENTS, map(rows.record_row, requirements))

    def _make_way(self, plan_id: str) -> None:
        for table in MAKES_WAY:
            self._connection.execute(delete(table).where(table.c.plan_id == plan_id))

    def write_amended(self, amended: AmendedRows) -> None:
        self.flush()
        self._amends(amended)
        plan_id = amended.plan_id
        of_plan = TASK_EDGES.c.plan_id == plan_id
        self._connection.execute(delete(TASK_EDGES).where(of_plan))
        for task_id in amended.removed_tasks:
            removed = TASK_NODES.c.task_id == task_id
            self._connection.execute(delete(TASK_NODES).where(removed))
        for requirement_id in amended.removed_requirements:
            removed = and_(
                REQUIREMENTS.c.plan_id == plan_id,
                REQUIREMENTS.c.requirement_id == requirement_id,
            )
            self._connection.execute(delete(REQUIREMENTS).where(removed))

        requirements = map(rows.record_row, amended.requirements)
        self._write_all("replace", TASK_NODES, map(_node_values, amended.nodes))
        self._write_all("insert", TASK_EDGES, map(rows.record_row, amended.edges))
        self._write_all("replace", REQUIREMENTS, requirements)
        # neighbours that were read before may have changed
        self._read = ReadRows(plans=self._read.plans)

    def forget_plan(self, plan_id: str) -> None:
        self.flush()
        self._forgets(plan_id)
        for table in reversed(METADATA.sorted_tables):
            if "plan_id" in table.c:
                of_plan = table.c.plan_id == plan_id
                self._connection.execute(delete(table).where(of_plan))
        self._read = ReadRows()

    def forget_blobs(self, names: Iterable[str]) -> None:
        self._write_blobs()
        for name in names:
            self._connection.execute(delete(BLOBS).where(BLOBS.c.sha256 == name))
            is_in_store = BLOB_OBJECTS.c.sha256 == name
            released = self._connection.execute(delete(BLOB_OBJECTS).where(is_in_store))
            if released.rowcount:  # its bytes go later
                self._connection.execute(ANNOUNCE, {"key": name})

    # -- tasks

    def node(self, task: str) -> StoredNode:
        if task not in self._read.nodes:
            self._ask(statements.NODE, task)
        try:
            return self._read.nodes[task]
        except KeyError:
            raise NotFound("task", task, self._similar_ids(task)) from None

    def _similar_ids(self, task: str) -> list[str]:
        task_id = TASK_NODES.c.task_id
        begins_alike = task_id.startswith(task[:4], autoescape=True)
        query = select(task_id).where(begins_alike).limit(_MANY)
        return list(self._connection.execute(query).scalars())

    def _ask(self, query: Select[Any], key: str, **more: object) -> tuple[str, ...]:
        """Return the tasks of a query, each once.

        What was read already stays as it is: this transaction may have moved it.
        """
        task_ids: dict[str, None] = {}
        nodes = self._read.nodes
        for row in self._driver.all(query, {"key": key, **more}):
            task_id = row.task_id
            task_ids[task_id] = None
            if task_id not in nodes:
                nodes[task_id] = StoredNode(row, self._ask)
        return tuple(task_ids)

    def read_ahead(
        self, plan_id: str, tasks: Sequence[str], ended: Sequence[str]
    ) -> None:
        if self._dialect != "postgresql":
            return  # statements cost no round trips
        ahead = read_ahead(self._driver, plan_id, tasks, ended)
        self._read.ahead = ahead
        nodes = self._read.nodes
        for task_id, row in ahead.nodes.items():
            if task_id not in nodes:
                nodes[task_id] = StoredNode(row, self._ask)
        for task_id, parents in ahead.parents.items():
            if task_id in nodes:
                nodes[task_id].parents = parents
        for task_id, dependents in ahead.dependents.items():
            if task_id in nodes:
                nodes[task_id].dependents = dependents

    def task(self, task_id: str) -> TaskRecord:
        tasks = self._read.tasks
        if task_id not in tasks:
            tasks[task_id] = rows.task_from(self.node(task_id).row)
        return tasks[task_id]

    def tasks(self, plan_id: str, *states: State) -> Iterator[TaskRecord]:
        self._flush_tasks()
        query = statements.tasks(states)
        for row in self._driver.each(query, {"key": plan_id}):
            yield rows.task_from(row)

    def apply(self, changes: Sequence[NodeMove]) -> None:
        state_before: dict[str, State] = {}
        last: dict[str, NodeMove] = {}
        for change in changes:
            state_before.setdefault(change.task_id, change.before.state)
            last[change.task_id] = change

        for task_id, change in last.items():
            fields: dict[str, object] = {"progress": change.after}
            if change.after.state is not state_before[task_id]:
                fields["lease"] = None
            self.save_task(task_id, updated_at=self.now, **fields)

    def save_task(self, task_id: str, **fields: object) -> None:
        task = self.task(task_id)
        self._unwritten.tasks.setdefault(task_id, task)
        self.written.tasks.setdefault(task_id, task)
        self._read.tasks[task_id] = replace(task, **fields)  # type: ignore[arg-type]

    def beside_the_record(self, task_id: str) -> dict[str, Any]:
        row = self.node(task_id).row
        return {"combine": row.combine, "rival_group": row.rival_group}

    def turns(
        self,
        plan_id: str,
        kinds: tuple[str, ...] = (),
        *,
        most: int,
        after: TaskRecord | None = None,
    ) -> list[TaskRecord]:
        moved = self._unwritten.tasks
        task_ids: Sequence[str] | None = None
        if after is None and not kinds:
            task_ids = self._read.ahead.first_in_line(most, moved)
        if task_ids is None:
            task_ids = self._in_line(plan_id, kinds, most + len(moved), after)

        tasks = [self.task(task_id) for task_id in dict.fromkeys([*task_ids, *moved])]
        of_plan = [task for task in tasks if task.plan_id == plan_id]
        return in_line(of_plan, kinds, after)[:most]

    def _in_line(
        self,
        plan_id: str,
        kinds: tuple[str, ...],
        most: int,
        after: TaskRecord | None,
    ) -> Sequence[str]:
        """Return the first tasks in line, as the database has it."""
        if after is None:
            return self._ask(statements.turns(kinds), plan_id, most=most)
        return self._ask(
            statements.turns_behind(kinds),
            plan_id,
            most=most,
            turn=turn_of(after),
            priority=after.priority,
            place=after.place,
        )

    def expired(self, plan_id: str) -> list[str]:
        self._flush_tasks()
        return list(self._ask(statements.EXPIRED, plan_id, now=self.now))

    def reserved(self, plan_id: str) -> Budget:
        self._flush_tasks()
        leases = self._driver.all(statements.RESERVED, {"key": plan_id})
        return all_reserved(Budget(tokens=tokens, cost=cost) for tokens, cost in leases)

    def states_by_place(
        self, plan_id: str, *, since: int | None = None
    ) -> list[tuple[int, State]]:
        self._flush_tasks()
        query = statements.PLACES if since is None else statements.PLACES_SINCE
        parameters = {"key": plan_id, "since": since}
        places = self._driver.all(query, parameters)
        return [(place, rows.state_from(state)) for place, state in places]

    def count_states(self, plan_id: str) -> dict[State, int]:
        self._flush_tasks()
        counts = self._driver.all(statements.STATES, {"key": plan_id})
        return {rows.state_from(state): count for state, count in counts}

    # -- lists

    def page(
        self, listing: Listing[Record], wanted: Filter, request: PageRequest
    ) -> Page[Record]:
        self.flush()
        behind = listing.begins_behind(wanted, request)
        most = request.limit + 1
        query = page_query(wanted, behind, self._dialect).limit(most)

        load = _LOADERS[listing.subject]
        records = [load(row) for row in self._connection.execute(query)]
        if listing.subject is Subject.EVENTS:
            records += self._ledger_events(wanted, behind, most)
            records.sort(key=listing.key)
        return listing.page(wanted, request, records)

    def named_like(self, subject: Subject, beginning: str, most: int) -> list[Named]:
        self.flush()
        query = names_query(subject, beginning, self._dialect).limit(most)
        return [Named(*row) for row in self._connection.execute(query)]

    def _ledger_events(
        self, wanted: Filter, behind: Key | None, most: int
    ) -> list[ChainEntry]:
        """Events of the ledger's own chain, where the filter lets any through."""
        query = ledger_events_query(wanted, behind, self._dialect)
        if query is None:
            return []
        result = self._connection.execute(query.limit(most))
        return [rows.entry_from(row) for row in result]


def _node_values(node: NodeRow) -> dict[str, Any]:
    values = rows.task_row(node.task)
    values["combine"] = node.combine
    values["rival_group"] = node.rival_group
    return values


@contextmanager
def within(connection: Connection, now: str) -> Iterator[SqlTransaction]:
    """Run a ledger's transaction within another on the same connection.

    The owner of the connection commits it; everything was written by then.
    """
    transaction = SqlTransaction(connection, now)
    yield transaction
    transaction.seal()
    transaction.finish()


class SqlLedger(Ledger):
    """A ledger in a database."""

    def __init__(self, engine: Engine, clock: Callable[[], str] | None = None) -> None:
        """Open it; without a clock of the caller's, that of the database counts."""
        self.engine = engine
        self._clock = clock

    def _time(self, connection: Connection) -> str:
        return self._clock() if self._clock else time_on(connection)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        with (
            translated(self.engine),
            self.engine.begin() as connection,
            within(connection, self._time(connection)) as tx,
        ):
            yield tx
        tx.do_afterwards()

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        options: dict[str, Any] = {}
        if self.engine.dialect.name == "postgresql":
            options["isolation_level"] = "REPEATABLE READ"
        with looking(self.engine, **options) as connection:
            yield SqlTransaction(connection, self._time(connection))

    @property
    def blobs(self) -> BlobKeeper:
        """Where its blobs are kept."""
        return keeper_of(self.engine)

    def put(self, content: bytes | Path) -> KeptBlob:
        return self.blobs.put(self.engine, content)

    def stage(self, content: bytes) -> None:
        self.blobs.stage(self.engine, content)

    def check_store(self) -> str:
        return self.blobs.check(self.engine)

    def wait_for_change(self, *, after: int, seconds: float) -> int:
        with translated(self.engine):
            return signals.wait_for_change(self.engine, after, seconds)

    def close(self) -> None:
        self.engine.dispose()
