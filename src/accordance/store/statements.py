"""The statements a ledger asks again and again, built once: building one costs more than running it.

Values come as parameters; `key` is what a statement looks up by. Each is answered by an index, whatever a plan's size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Dialect,
    Insert,
    Integer,
    Select,
    Table,
    and_,
    bindparam,
    func,
    insert,
    or_,
    select,
    text,
    update,
)

from accordance.domain.lifecycle import State
from accordance.store.tables import (
    BLOBS,
    LEDGER_EVENTS,
    PLANS,
    TASK_EDGES,
    TASK_EVENTS,
    TASK_NODES,
)

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

_NODES: Final = TASK_NODES.c
_EVENTS: Final = TASK_EVENTS.c
_KEY: Final[Any] = bindparam("key")

BLOB: Final = (
    select(BLOBS.c.content).where(BLOBS.c.sha256 == _KEY).order_by(BLOBS.c.part)
)

ALL_BLOBS: Final = select(BLOBS.c.sha256, BLOBS.c.part, BLOBS.c.content).order_by(
    BLOBS.c.sha256, BLOBS.c.part
)

ALL_PLANS: Final = select(PLANS).order_by(PLANS.c.imported_at.desc(), PLANS.c.plan_id)
PLAN: Final = select(PLANS).where(PLANS.c.plan_id == _KEY)
PLAN_HELD: Final = PLAN.with_for_update()
SAVE_PLAN: Final = update(PLANS).where(PLANS.c.plan_id == _KEY)

NODE: Final = select(TASK_NODES).where(_NODES.task_id == _KEY)
SAVE_NODE: Final = update(TASK_NODES).where(_NODES.task_id == _KEY)
CHECKS: Final = select(TASK_NODES).where(_NODES.checks == _KEY).order_by(_NODES.place)
RIVALS: Final = (
    select(TASK_NODES)
    .where(_NODES.rival_group == _KEY)
    .order_by(_NODES.priority.desc(), _NODES.place)
)
EXPIRED: Final = (
    select(TASK_NODES)
    .where(_NODES.plan_id == _KEY, _NODES.lease_until < bindparam("now"))
    .order_by(_NODES.lease_until)
)
STATES: Final = (
    select(_NODES.state, func.count())
    .where(_NODES.plan_id == _KEY)
    .group_by(_NODES.state)
)

_ENTRY: Final = [column for column in TASK_EVENTS.c if column.computed is None]
EVENTS_OF_TASK: Final = (
    select(*_ENTRY).where(_EVENTS.task_id == _KEY).order_by(_EVENTS.seq)
)
EVENTS_AFTER: Final = (
    select(*_ENTRY)
    .where(_EVENTS.plan_id == _KEY, _EVENTS.seq > bindparam("after"))
    .order_by(_EVENTS.seq)
)

HOLD_LEDGER_CHAIN: Final = text("SELECT pg_advisory_xact_lock(7242078)")
ALL_LEDGER_EVENTS: Final = select(LEDGER_EVENTS).order_by(LEDGER_EVENTS.c.seq)
LEDGER_HEAD: Final = (
    select(LEDGER_EVENTS.c.seq, LEDGER_EVENTS.c.hash)
    .order_by(LEDGER_EVENTS.c.seq.desc())
    .limit(1)
)

CHANNEL: Final = "accordance_events"
"""Where PostgreSQL says that events were added, with the number of the last."""
LAST_NUMBER: Final = "SELECT number FROM counters WHERE name = 'events'"
_COUNT_ON: Final = "UPDATE counters SET number = number + {} WHERE name = 'events' RETURNING number"  # fmt: skip
TAKE_NUMBERS: Final[Mapping[str, str]] = {
    "sqlite": _COUNT_ON.format("?"),
    "postgresql": _COUNT_ON.format("%s")
    + ", pg_notify('accordance_events', number::text)",
}
"""So many numbers for events. Numbers are visible in the order of commits, since the
row is held until then: whoever reads everything after a number misses nothing."""


def _neighbours(here: str, there: str, kind: str) -> Select[Any]:
    """The nodes at the other end of a task's edges of one kind, in the plan's order."""
    edge = TASK_EDGES.c
    return (
        select(TASK_NODES)
        .join(TASK_EDGES, edge[there] == _NODES.task_id)
        .where(edge[here] == _KEY, edge.edge_type == kind)
        .order_by(edge.place)
    )


PARTS: Final = _neighbours("from_task_id", "to_task_id", "DECOMPOSE")
PARENTS: Final = _neighbours("to_task_id", "from_task_id", "DECOMPOSE")
DEPENDENTS: Final = _neighbours("from_task_id", "to_task_id", "DEPENDS_ON")
PREREQUISITES: Final = _neighbours("to_task_id", "from_task_id", "DEPENDS_ON")


@cache
def insertion(table: Table) -> Insert:
    """A row into a table."""
    return insert(table)


@cache
def written_columns(table: Table) -> tuple[str, ...]:
    """The columns of a table that the database does not compute itself."""
    return tuple(column.name for column in table.c if column.computed is None)


class Bulk(NamedTuple):
    """Many rows into a table, past what SQLAlchemy does for each: as the driver takes them."""

    statement: str
    row: Callable[[Mapping[str, Any]], tuple[Any, ...]]


@cache
def bulk(dialect: Dialect, table: Table) -> Bulk:
    """The statement, and what turns a row into its parameters."""
    written = [column for column in table.c if column.computed is None]
    columns = [(column.name, column.type.bind_processor(dialect)) for column in written]
    quoted = dialect.identifier_preparer
    names = ", ".join(quoted.format_column(column) for column in written)
    marks = ", ".join(["?" if dialect.paramstyle == "qmark" else "%s"] * len(columns))

    def row(values: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(
            [
                values[name] if process is None else process(values[name])
                for name, process in columns
            ]
        )

    return Bulk(
        f"INSERT INTO {quoted.format_table(table)} ({names}) VALUES ({marks})",  # noqa: S608
        row,
    )


def _insert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT of the database at hand; only its dialect is loaded."""
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_into_postgresql

        return insert_into_postgresql(table)
    from sqlalchemy.dialects.sqlite import insert as insert_into_sqlite

    return insert_into_sqlite(table)


@cache
def insertion_if_new(dialect: str, table: Table) -> Insert:
    """A row into a table, unless its key is there."""
    return _insert(dialect, table).on_conflict_do_nothing()


@cache
def replacement(dialect: str, table: Table) -> Insert:
    """A row into a table, in place of the one with its key."""
    key = [column.name for column in table.primary_key]
    statement = _insert(dialect, table)
    rest = {
        column.name: statement.excluded[column.name]
        for column in table.c
        if column.name not in key
    }
    return statement.on_conflict_do_update(index_elements=key, set_=rest)


@cache
def turns(kinds: tuple[str, ...]) -> Select[Any]:
    """What should be taken up next, of some kinds of nodes or of all; the parameter `most` says how many."""
    found = (
        select(TASK_NODES)
        .where(_NODES.plan_id == _KEY, _NODES.queue.is_not(None))
        .order_by(_NODES.queue, _NODES.priority.desc(), _NODES.place)
        .limit(bindparam("most", type_=Integer()))
    )
    return found.where(_NODES.node_type.in_(kinds)) if kinds else found


@cache
def turns_behind(kinds: tuple[str, ...]) -> Select[Any]:
    """The same behind a task, which the parameters `turn`, `priority` and `place` name."""
    turn, place = (
        bindparam("turn", type_=Integer()),
        bindparam("place", type_=Integer()),
    )
    priority = bindparam("priority", type_=BigInteger())
    later = or_(
        _NODES.priority < priority,
        and_(_NODES.priority == priority, _NODES.place > place),
    )
    return turns(kinds).where(
        _NODES.queue
        >= turn,  # says what follows from the rest, and lets the index begin there
        or_(_NODES.queue > turn, later),
    )


@cache
def tasks(states: tuple[State, ...]) -> Select[Any]:
    """The tasks of a plan in its order, in some states or in all."""
    found = select(TASK_NODES).where(_NODES.plan_id == _KEY).order_by(_NODES.place)
    return (
        found.where(_NODES.state.in_([state.value for state in states]))
        if states
        else found
    )


@cache
def matching(
    table: Table, order: tuple[str, ...], wanted: frozenset[str], absent: frozenset[str]
) -> Select[Any]:
    """The rows with given values in the columns `wanted` and none in those `absent`."""
    found = select(table).order_by(*(table.c[name] for name in order))
    for name in sorted(wanted):
        found = found.where(table.c[name] == bindparam(name))
    for name in sorted(absent):
        found = found.where(table.c[name].is_(None))
    return found
