"""Rows that are written together: on PostgreSQL, in a single statement.

A transaction that writes holds its plan, and others wait for it. A statement for each
table would cost it a round trip each. So rows go to PostgreSQL as JSON, in a statement
that has a part for each table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from sqlalchemy import BigInteger, Boolean, Float, Integer, Table
from sqlalchemy.sql.compiler import IdentifierPreparer

from accordance.errors import LedgerDamaged
from accordance.store.driver import Driver
from accordance.store.tables import METADATA

Verb: TypeAlias = Literal["insert", "replace", "update"]
StoredRow: TypeAlias = Mapping[str, Any]
"""A row as the database keeps it: texts, numbers and None, by column."""

_TYPES: Final = (
    (Boolean, "boolean"),
    (BigInteger, "bigint"),
    (Integer, "int"),
    (Float, "double precision"),
)
_NO_COUNTER: Final = "the counter of events is missing"
_ORDER: Final = {table: place for place, table in enumerate(METADATA.sorted_tables)}
"""The tables, each behind those that it refers to."""


class Shape(NamedTuple):
    """How rows of a table are written."""

    verb: Verb
    table: Table
    columns: tuple[str, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the table's key."""
        return tuple(column.name for column in self.table.primary_key)

    @property
    def beside_key(self) -> tuple[str, ...]:
        """The columns that are written, without the key."""
        return tuple(name for name in self.columns if name not in self.key)


@dataclass(frozen=True, slots=True)
class Change:
    """Rows of a table that are written in the same way."""

    shape: Shape
    rows: Sequence[StoredRow]


@dataclass(frozen=True, slots=True)
class NewEvents:
    """Events that get the next numbers."""

    table: Table
    rows: Sequence[StoredRow]


@dataclass(frozen=True, slots=True)
class Act:
    """A statement of another module, in the words of the database."""

    sql: str
    values: Mapping[str, Any]
    check: Callable[[int], None]
    """Takes how many rows it has written, and may raise an error."""


def write_together(
    driver: Driver,
    changes: Iterable[Change],
    events: NewEvents | None = None,
    acts: Sequence[Act] = (),
) -> None:
    """Write rows, execute acts, and write events at the very end.

    Who takes numbers for events holds up all others that want some until the commit, and
    so must not wait for anything any more. Raises LedgerDamaged, and what acts raise.
    """
    ordered = sorted(changes, key=lambda change: _ORDER[change.shape.table])
    if driver.dialect.name == "postgresql":
        _write_in_a_statement(driver, ordered, events, acts)
        return

    for act in acts:
        act.check(driver.change(act.sql, act.values))
    for change in ordered:
        statement = _statement_for_row(change.shape, driver.dialect.identifier_preparer)
        values_of = _values_for_row(change.shape)
        driver.change_many(statement, list(map(values_of, change.rows)))
    if events is not None:
        _count_and_insert(driver, events)


# -- on SQLite, a statement for each row


@cache
def _statement_for_row(shape: Shape, names: IdentifierPreparer) -> str:
    table = names.format_table(shape.table)
    quoted = [names.quote(name) for name in shape.columns]
    if shape.verb == "update":
        changed = ", ".join(f"{names.quote(name)} = ?" for name in shape.beside_key)
        key = " AND ".join(f"{names.quote(name)} = ?" for name in shape.key)
        return f"UPDATE {table} SET {changed} WHERE {key}"  # noqa: S608

    marks = ", ".join("?" * len(quoted))
    insertion = f"INSERT INTO {table} ({', '.join(quoted)}) VALUES ({marks})"  # noqa: S608
    return f"{insertion}{_instead_of(shape, names)}"


@cache
def _values_for_row(shape: Shape) -> Callable[[StoredRow], Sequence[Any]]:
    """Return what takes the values of a row in the order of their statement."""
    columns = shape.columns
    if shape.verb == "update":
        columns = (*shape.beside_key, *shape.key)
    return itemgetter(*columns)


def _count_and_insert(driver: Driver, events: NewEvents) -> None:
    counters = driver.execute(
        "UPDATE counters SET number = number + ? WHERE name = 'events' RETURNING number",
        (len(events.rows),),
    )
    if not counters:
        raise LedgerDamaged(_NO_COUNTER)
    first = counters[0].number - len(events.rows) + 1
    rows = [
        {**event, "number": number} for number, event in enumerate(events.rows, first)
    ]
    shape = Shape("insert", events.table, tuple(rows[0]))
    write_together(driver, [Change(shape, rows)])


# -- on PostgreSQL, a statement for all


def _write_in_a_statement(
    driver: Driver,
    changes: Sequence[Change],
    events: NewEvents | None,
    acts: Sequence[Act],
) -> None:
    values: dict[str, Any] = {}
    for number, change in enumerate(changes):
        values[f"rows_{number}"] = json.dumps(change.rows)
        if change.shape.verb == "update":
            [key] = change.shape.key
            values[f"keys_{number}"] = [row[key] for row in change.rows]
    for act in acts:
        if values.keys() & act.values.keys():
            raise ValueError(f"two acts bring the same values: {[*act.values]}")
        values.update(act.values)
    if events is not None:
        values["events"] = json.dumps(events.rows)
        values["count"] = len(events.rows)
    if not values:
        return

    statement = _statement_for_all(
        tuple(change.shape for change in changes),
        tuple(act.sql for act in acts),
        Shape("insert", events.table, tuple(events.rows[0])) if events else None,
        driver.dialect.identifier_preparer,
    )
    [written] = driver.execute(statement, values)
    for act, count in zip(acts, written, strict=False):
        act.check(count)
    if events is not None and written.events != len(events.rows):
        raise LedgerDamaged(_NO_COUNTER)


@cache
def _statement_for_all(
    shapes: tuple[Shape, ...],
    acts: tuple[str, ...],
    events: Shape | None,
    names: IdentifierPreparer,
) -> str:
    """Return a statement with a part for each; it counts what acts and events wrote."""
    parts = {f"act_{number}": f"{act} RETURNING 1" for number, act in enumerate(acts)}
    counted = list(parts)
    for number, shape in enumerate(shapes):
        parts[f"part_{number}"] = _part(shape, number, names)
    if events is not None:
        parts["counter"] = _take_numbers(tuple(parts))
        parts["events"] = _insert_with_numbers(events, names)
        counted.append("events")

    named = ", ".join(f"{name} AS ({part})" for name, part in parts.items())
    counts = ", ".join(f"(SELECT count(*) FROM {name}) AS {name}" for name in counted)  # noqa: S608
    return f"WITH {named} SELECT {counts or 1}"


def _part(shape: Shape, number: int, names: IdentifierPreparer) -> str:
    """Return the part of a statement that writes rows of a shape.

    PostgreSQL cannot know how few rows come. The list of keys keeps it from reading the
    whole table.
    """
    table = names.format_table(shape.table)
    rows = _rows(shape, f"rows_{number}", names)
    if shape.verb == "update":
        [key] = [names.quote(name) for name in shape.key]
        changed = ", ".join(
            f"{names.quote(name)} = new.{names.quote(name)}"
            for name in shape.beside_key
        )
        return (
            f"UPDATE {table} SET {changed} FROM {rows}"  # noqa: S608
            f" WHERE {table}.{key} = new.{key}"
            f" AND {table}.{key} = ANY(%(keys_{number})s::text[]) RETURNING 1"
        )

    columns = ", ".join(names.quote(name) for name in shape.columns)
    return (
        f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {rows}"  # noqa: S608
        f"{_instead_of(shape, names)} RETURNING 1"
    )


def _instead_of(shape: Shape, names: IdentifierPreparer) -> str:
    """Return what follows an insertion, so that a row may replace that with its key."""
    if shape.verb != "replace":
        return ""
    key = ", ".join(names.quote(name) for name in shape.key)
    changed = ", ".join(
        f"{names.quote(name)} = excluded.{names.quote(name)}"
        for name in shape.beside_key
    )
    return f" ON CONFLICT ({key}) DO UPDATE SET {changed}"


def _rows(shape: Shape, parameter: str, names: IdentifierPreparer) -> str:
    """Return the rows of a parameter, in the types of a table."""
    typed = _typed_columns(shape, names)
    return f"json_to_recordset(%({parameter})s::json) AS new({typed})"


def _typed_columns(shape: Shape, names: IdentifierPreparer) -> str:
    return ", ".join(
        f"{names.quote(name)} {_type_of(shape.table, name)}" for name in shape.columns
    )


def _type_of(table: Table, name: str) -> str:
    for kind, postgresql in _TYPES:
        if isinstance(table.c[name].type, kind):
            return postgresql
    return "text"


def _take_numbers(parts: tuple[str, ...]) -> str:
    """Return the part that takes numbers, when all other parts are done.

    It asks how many rows they have written, so PostgreSQL has to finish them first.
    """
    done = [f"(SELECT count(*) FROM {part}) IS NOT NULL" for part in parts]  # noqa: S608
    conditions = " AND ".join(["name = 'events'", *done])
    return (
        "UPDATE counters SET number = number + %(count)s::bigint"  # noqa: S608
        f" WHERE {conditions} RETURNING number AS last,"
        " pg_notify('accordance_events', number::text)"
    )


def _insert_with_numbers(events: Shape, names: IdentifierPreparer) -> str:
    """Return the insertion of events with the numbers that were taken.

    The row of the counter is held until the commit, so numbers become visible in the
    order of commits: a reader of everything after a number misses nothing.
    """
    columns = ", ".join(names.quote(name) for name in events.columns)
    typed = _typed_columns(events, names)
    return (
        f"INSERT INTO {names.format_table(events.table)} ({columns}, number)"  # noqa: S608
        f" SELECT {columns}, last - %(count)s::bigint + place"
        f" FROM counter, ROWS FROM (json_to_recordset(%(events)s::json) AS ({typed}))"
        f" WITH ORDINALITY AS new({columns}, place) RETURNING 1"
    )
