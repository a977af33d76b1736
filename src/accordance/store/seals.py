"""Seals: hashes of rows in the chains of events.

With them `verify` sees every row that was changed, added or removed. A transaction that
writes a row also writes its seal, a hash of all its columns, into the chain of its
plan, or into the ledger's own chain if the row belongs to no plan. A table or a column
that is added later is sealed without another line here.

A column without a value is left out of the hash. So a migration may add a column that
is empty at first, and all the seals of old ledgers still hold; a migration that renames
a column, or fills it, has to seal the rows anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    Integer,
    Select,
    Table,
    case,
    cast,
    literal,
    null,
    select,
    type_coerce,
)
from sqlalchemy.types import NullType

from accordance.domain.chain import Payload
from accordance.store.columns import Json, Words, json_text, storable
from accordance.store.server_tables import DELIVERIES, KEPT_REPLIES, WEBHOOKS
from accordance.store.tables import (
    ATTEMPT_QUEUE,
    ATTEMPT_STARTS,
    BLOB_OBJECTS,
    BLOB_STORES,
    BLOBS,
    COUNTERS,
    LEDGER_EVENTS,
    LOOSE_BLOBS,
    METADATA,
    PLANS,
    QUEUE_PAUSES,
    TASK_EVENTS,
    TASK_NODES,
    WORKERS,
)

ROWS_WRITTEN: Final = "ROWS_WRITTEN"
ROWS_TAKEN_OVER: Final = "ROWS_TAKEN_OVER"  # by a migration, as they were then
SEALS: Final = (ROWS_WRITTEN, ROWS_TAKEN_OVER)
PLAN_BEGAN: Final = "PLAN_BEGAN"
PLAN_DELETED: Final = "PLAN_DELETED"  # all that is left of it

Key: TypeAlias = tuple[Any, ...]
Values: TypeAlias = tuple[Any, ...]

CHAINS: Final = (TASK_EVENTS, LEDGER_EVENTS)
"""Sealed by their own hashes."""
UNSEALED: Final[Mapping[Table, str]] = {
    WORKERS: "who is alive right now, by the database's clock; gone when they end",
    ATTEMPT_QUEUE: "who works on which attempt right now; gone when it is settled",
    QUEUE_PAUSES: "which providers rest right now, by the database's clock",
    ATTEMPT_STARTS: "what began within the last minute; gone after that",
    LOOSE_BLOBS: "what no row names, on its way into the blob store or out of it",
    BLOB_STORES: "where the blob store is now; the blobs in it carry their hashes",
    KEPT_REPLIES: "replies to requests that may come again; gone after a day",
    WEBHOOKS: "an event of the ledger says who made or removed each",
    DELIVERIES: "what was sent to whom; it follows from the events",
}
"""Tables whose rows follow from nothing that happened, and why."""
HEAD: Final = (PLANS.c.head_seq, PLANS.c.head_hash)
"""Where a chain ends: compared with the chain, and unknown to the event that carries
the seal."""
CLOCK: Final = TASK_NODES.c.lease_until
"""Moves whenever the holder of a task extends the lease. Only whether there is a lease
is sealed."""

_SEALED: Final = json.JSONEncoder(sort_keys=True, default=repr)
_HELD: Final = "held"
_MOST: Final = 500  # rows in one event


class Row(NamedTuple):
    """A row as it lies in the database: its key, and the values its seal covers."""

    key: Key
    values: Values


def sealed_tables() -> list[Table]:
    """Return the tables whose rows are sealed one by one.

    Blobs carry their hash as their name; the counter is compared with the events.
    """
    others = {*CHAINS, *UNSEALED, BLOBS, BLOB_OBJECTS, COUNTERS}
    return [table for table in METADATA.sorted_tables if table not in others]


def belongs_to_a_plan(table: Table) -> bool:
    """Whether a table's rows are sealed in the chain of their plan."""
    return "plan_id" in table.c


@cache
def sealed_columns(table: Table) -> tuple[Column[Any], ...]:
    """Return the columns that a seal covers.

    That is everything but what the database computes, and the head of a chain.
    """
    head = set(HEAD)
    columns = []
    for column in table.c:
        if column.computed is None and column not in head:
            columns.append(column)
    return tuple(columns)


@cache
def names_of(table: Table) -> tuple[str, ...]:
    """Return the names of the columns that a seal covers."""
    return tuple(column.name for column in sealed_columns(table))


@cache
def _processes(table: Table) -> tuple[tuple[str, Callable[[Any], Any] | None], ...]:
    return tuple((column.name, _process(column)) for column in sealed_columns(table))


def _process(column: Column[Any]) -> Callable[[Any], Any] | None:
    if column is CLOCK:
        return lambda value: None if value is None else _HELD
    if isinstance(column.type, Words):
        return storable
    if isinstance(column.type, Json):
        return json_text
    if isinstance(column.type, Boolean):
        return lambda value: None if value is None else int(value)
    if isinstance(column.type, Float):
        return lambda value: None if value is None else float(value)
    return None


def as_stored(table: Table, row: Mapping[str, Any]) -> Values:
    """Return the values of a row as the database will keep them."""
    return tuple(
        [
            row[name] if process is None else process(row[name])
            for name, process in _processes(table)
        ]
    )


@cache
def stored_rows(table: Table, dialect: str) -> Select[Any]:
    """Select all rows of a table, as they lie there.

    Nothing is read into our types, so nothing can be unreadable.
    """
    columns = [_as_it_lies(column, dialect) for column in sealed_columns(table)]
    return select(*columns)


def _as_it_lies(column: Column[Any], dialect: str) -> Any:
    if column is CLOCK:
        is_held = column.is_not(None)
        value = case((is_held, literal(_HELD)), else_=null())
        return value.label(column.name)
    if isinstance(column.type, Boolean) and dialect == "postgresql":
        return cast(column, Integer).label(column.name)
    return type_coerce(column, NullType()).label(column.name)


@cache
def _key_places(table: Table) -> tuple[int, ...]:
    names = [column.name for column in sealed_columns(table)]
    return tuple(names.index(column.name) for column in table.primary_key)


def key_of(table: Table, values: Values) -> Key:
    """Return the key of a row."""
    return tuple([values[place] for place in _key_places(table)])


def seal_of(table: Table, values: Values) -> str:
    """Return the seal of a row."""
    filled = {}
    for (name, _), value in zip(_processes(table), values, strict=True):
        if value is not None:
            filled[name] = value
    content = _SEALED.encode(filled)
    return hashlib.sha256(content.encode()).hexdigest()


def seals(
    rows: Iterable[tuple[Table, Values]], blobs: Iterable[str] = ()
) -> Iterator[Payload]:
    """Yield the payloads of events that seal rows and blobs, bounded in size."""
    remaining_rows = iter(rows)
    remaining_blobs = iter(blobs)
    while True:
        payload: dict[str, object] = {}
        sealed = [
            [table.name, list(key_of(table, values)), seal_of(table, values)]
            for table, values in islice(remaining_rows, _MOST)
        ]
        if sealed:
            payload["rows"] = sealed
        names = list(islice(remaining_blobs, _MOST))
        if names:
            payload["blobs"] = names
        if not payload:
            return
        yield payload


def seals_in(payload: Payload) -> Iterator[tuple[str, Key, str]]:
    """Yield the table, the key and the seal of every row that an event seals.

    Raises ValueError or TypeError if it cannot be read.
    """
    rows: Any = payload.get("rows", ())
    for table, key, seal in rows:
        yield str(table), tuple(key), str(seal)


def blobs_in(payload: Payload) -> Sequence[str]:
    """Return the blobs that an event seals."""
    names: Any = payload.get("blobs", ())
    return [str(name) for name in names]
