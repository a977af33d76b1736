"""The statements of a ledger, built once: building costs more than running.

Values come as parameters; `key` is what a statement looks up by. Each is answered by an
index, whatever a plan's size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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
    literal,
    or_,
    select,
    text,
    update,
)

from accordance.domain.lifecycle import State
from accordance.store.tables import (
    BLOB_OBJECTS,
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

INSERT_BLOBS: Final = (
    "INSERT INTO blobs (sha256, part, content)"
    " SELECT sha256, 0, content"
    " FROM unnest(%(names)s::text[], %(contents)s::bytea[]) AS new(sha256, content)"
    " ON CONFLICT DO NOTHING RETURNING sha256"
)
"""Inserts blobs of a single piece, in the words of PostgreSQL; returns the new ones."""
BLOB_SIZE: Final = select(func.sum(func.length(BLOBS.c.content))).where(
    BLOBS.c.sha256 == _KEY
)
STORED_BLOBS: Final = select(BLOB_OBJECTS).order_by(BLOB_OBJECTS.c.sha256)

ALL_PLANS: Final = select(PLANS).order_by(PLANS.c.imported_at.desc(), PLANS.c.plan_id)
PLAN: Final = select(PLANS).where(PLANS.c.plan_id == _KEY)
PLAN_HELD: Final = PLAN.with_for_update()
SAVE_PLAN: Final = update(PLANS).where(PLANS.c.plan_id == _KEY)

NODE: Final = select(TASK_NODES).where(_NODES.task_id == _KEY)
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
RESERVED: Final = select(_NODES.lease_tokens, _NODES.lease_cost).where(
    _NODES.plan_id == _KEY, _NODES.lease_until.is_not(None)
)
STATES: Final = (
    select(_NODES.state, func.count())
    .where(_NODES.plan_id == _KEY)
    .group_by(_NODES.state)
)

PLACES: Final = (
    select(_NODES.place, _NODES.state)
    .where(_NODES.plan_id == _KEY)
    .order_by(_NODES.place)
)
_MOVED_SINCE: Final = select(_EVENTS.task_id).where(
    _EVENTS.plan_id == _KEY, _EVENTS.number > bindparam("since", type_=BigInteger())
)
PLACES_SINCE: Final = PLACES.where(_NODES.task_id.in_(_MOVED_SINCE))

_ENTRY: Final = [column for column in TASK_EVENTS.c if column.computed is None]
EVENTS_OF_TASK: Final = (
    select(*_ENTRY).where(_EVENTS.task_id == _KEY).order_by(_EVENTS.seq)
)
EVENTS_OF_KIND: Final = (
    select(*_ENTRY)
    .where(_EVENTS.task_id == _KEY, _EVENTS.kind == bindparam("kind"))
    .order_by(_EVENTS.seq)
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
TAKE_QUESTION_NUMBERS: Final = text(
    "UPDATE counters SET number = number + :count WHERE name = 'questions'"
    " RETURNING number"
)
"""Takes numbers for questions, which no other question ever gets."""


def _neighbours(here: str, there: str, kind: str) -> Select[Any]:
    """Select the nodes at the other end of a task's edges, in the plan's order."""
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
    """Return the statement that inserts a row."""
    return insert(table)


Process: TypeAlias = Callable[[Any], Any]


@cache
def stored_columns(dialect: Dialect, table: Table) -> Mapping[str, Process | None]:
    """Return the columns that are written, each with what its values pass through."""
    return {
        column.name: column.type.bind_processor(dialect)
        for column in table.c
        if column.computed is None
    }


def stored_row(
    dialect: Dialect, table: Table, row: Mapping[str, Any]
) -> dict[str, Any]:
    """Return some columns of a row as the database keeps them."""
    processes = stored_columns(dialect, table)
    stored = {}
    for name, value in row.items():
        process = processes[name]
        stored[name] = value if process is None else process(value)
    return stored


def _insert(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an INSERT of the database at hand; only its dialect is loaded."""
    if dialect == "postgresql":
        from sqlalchemy.dialects.postgresql import insert as insert_into_postgresql

        return insert_into_postgresql(table)
    from sqlalchemy.dialects.sqlite import insert as insert_into_sqlite

    return insert_into_sqlite(table)


@cache
def insertion_if_new(dialect: str, table: Table) -> Insert:
    """Return the statement that inserts a row, unless its key is there."""
    return _insert(dialect, table).on_conflict_do_nothing()


@cache
def turns(kinds: tuple[str, ...]) -> Select[Any]:
    """Select what should be taken up next, of some kinds of nodes or of all.

    The parameter `most` says how many.
    """
    query = (
        select(TASK_NODES)
        .where(_NODES.plan_id == _KEY, _NODES.queue.is_not(None))
        .order_by(_NODES.queue, _NODES.priority.desc(), _NODES.place)
        .limit(bindparam("most", type_=Integer()))
    )
    if not kinds:
        return query
    return query.where(_NODES.node_type.in_([literal(kind) for kind in kinds]))


@cache
def turns_behind(kinds: tuple[str, ...]) -> Select[Any]:
    """Select the same behind a task.

    The parameters `turn`, `priority` and `place` name the task.
    """
    turn = bindparam("turn", type_=Integer())
    place = bindparam("place", type_=Integer())
    priority = bindparam("priority", type_=BigInteger())

    has_lower_priority = _NODES.priority < priority
    is_later = and_(_NODES.priority == priority, _NODES.place > place)
    is_behind = or_(_NODES.queue > turn, has_lower_priority, is_later)
    # follows from the rest, and lets the index begin there
    is_in_range = _NODES.queue >= turn
    return turns(kinds).where(is_in_range, is_behind)


@cache
def tasks(states: tuple[State, ...]) -> Select[Any]:
    """Select the tasks of a plan in its order, in some states or in all."""
    query = select(TASK_NODES).where(_NODES.plan_id == _KEY).order_by(_NODES.place)
    if not states:
        return query
    names = [literal(state.value) for state in states]
    return query.where(_NODES.state.in_(names))


@cache
def matching(
    table: Table, order: tuple[str, ...], wanted: frozenset[str], absent: frozenset[str]
) -> Select[Any]:
    """Select the rows with given values in some columns, and NULL in those `absent`."""
    columns = table.c
    query = select(table).order_by(*(columns[name] for name in order))
    for name in sorted(wanted):
        query = query.where(columns[name] == bindparam(name))
    for name in sorted(absent):
        query = query.where(columns[name].is_(None))
    return query


@cache
def counting(
    table: Table, wanted: frozenset[str], absent: frozenset[str]
) -> Select[Any]:
    """Count the rows that `matching` selects."""
    rows = matching(table, (), wanted, absent).subquery()
    return select(func.count()).select_from(rows)
