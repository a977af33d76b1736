"""Nothing in a finished ledger can be changed, taken away or added without `verify` seeing it.

The tables and columns are read from the metadata: whatever is added to them later is tried here without another line.
Every edit is made in a transaction that is rolled back, so that one ledger serves them all. SQLite gets every edit; on
PostgreSQL, whose part is only how values come back, one of each kind is enough.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Table,
    and_,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.types import Boolean, Float, Integer, LargeBinary

from accordance.audit.verifying import verify_ledger
from accordance.domain.blobs import BlobConfig
from accordance.project.home import Home
from accordance.store.columns import Json
from accordance.store.opening import open_ledger
from accordance.store.seals import CHAINS, CLOCK, UNSEALED
from accordance.store.sql import SqlTransaction
from accordance.store.tables import (
    BLOB_OBJECTS,
    BLOBS,
    METADATA,
    QUESTIONS,
    TASK_EVENTS,
)
from tests.ledger.everything import everything
from tests.ledger.project import Clock, Project
from tests.postgresql import fresh_database

TABLES = [table for table in METADATA.sorted_tables if table not in UNSEALED]
COLUMNS = [
    pytest.param(table, column, id=f"{table.name}.{column.name}")
    for table in TABLES
    for column in table.c
    if column.computed is None
]
T = TypeVar("T")
NOW = "2026-03-02T00:00:00.000000Z"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """The database of a ledger in which everything has happened."""
    folder = tmp_path_factory.mktemp("finished")
    place: str | Path = folder / "ledger.db"
    if request.param == "postgresql":
        place = fresh_database(request.getfixturevalue("postgresql_server"))
    clock = Clock()
    blobs = BlobConfig(store=str(folder / "blobs"))
    ledger = open_ledger(place, clock=clock, blobs=blobs)
    everything(Project(ledger, Home(folder), clock), ledger.engine)
    yield ledger.engine
    ledger.close()


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """A transaction below the ledger's, which no foreign key holds up; it is undone."""
    with engine.connect() as plain:
        if engine.dialect.name == "sqlite":
            cursor = plain.connection.cursor()
            cursor.execute("PRAGMA foreign_keys=OFF")
            yield plain
            plain.rollback()
            cursor.execute("PRAGMA foreign_keys=ON")
        else:
            plain.execute(text("SET LOCAL session_replication_role = replica"))
            yield plain
            plain.rollback()


def findings(connection: Connection) -> list[str]:
    """What does not hold."""
    found = verify_ledger(SqlTransaction(connection, NOW))
    return [fault for one in found for fault in (*one.integrity, *one.completeness)]


def named(table: Table, row: Any) -> str:
    """How a finding names a row."""
    if table in CHAINS:
        return "event"
    if table in (BLOBS, BLOB_OBJECTS):
        return f"blobs {row.sha256[:12]}"
    key = "/".join(str(row._mapping[column])[:40] for column in table.primary_key)
    return f"{table.name} {key}"


def this(table: Table, row: Any) -> Any:
    """The condition that finds a row."""
    return and_(*(column == row._mapping[column] for column in table.primary_key))


def other_value(column: Column[Any], value: Any) -> Any:
    """A value of the column's type that looks like the one there."""
    if isinstance(column.type, Json):
        return {**value, "x": 1} if isinstance(value, dict) else ["x", value]
    if isinstance(column.type, Boolean):
        return not value
    if isinstance(column.type, Integer | Float):
        return (value or 0) + 1
    if isinstance(column.type, LargeBinary):
        return value + b"x"
    return f"{value[:-1]}{'1' if value[-1:] != '1' else '2'}" if value else "1"


def edits(
    connection: Connection, table: Table, column: Column[Any]
) -> Iterator[tuple[Any, Any]]:
    """Rows, and what a column of theirs is set to: another value, none, and a value where there was none."""
    rows = list(connection.execute(select(table).order_by(*table.primary_key)))
    filled = [row for row in rows if row._mapping[column] is not None]
    if filled:
        first = filled[0]
        if (
            column is not CLOCK
        ):  # how long somebody still has a task moves without an event
            yield first, other_value(column, first._mapping[column])
        if column.nullable:
            yield first, None
    if empty := next((row for row in rows if row._mapping[column] is None), None):
        yield empty, other_value(column, {} if isinstance(column.type, Json) else None)


def few(connection: Connection, tries: Iterable[T], most: int) -> Iterable[T]:
    """All of them on SQLite, some on PostgreSQL."""
    return (
        tries if connection.dialect.name == "sqlite" else itertools.islice(tries, most)
    )


def test_the_ledger_has_rows_in_every_table(connection: Connection) -> None:
    """And all of them hold, before anything is changed."""
    empty = [
        table.name
        for table in TABLES
        if not connection.execute(select(func.count()).select_from(table)).scalar()
    ]
    assert empty == []
    assert findings(connection) == []


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_changed_column_shows(
    connection: Connection, table: Table, column: Column[Any]
) -> None:
    """Whatever it is changed to: the finding names the table and the row."""
    tried = 0
    for row, value in few(connection, edits(connection, table, column), most=1):
        step = connection.begin_nested()
        try:
            connection.execute(
                update(table).where(this(table, row)).values({column: value})
            )
        except IntegrityError:
            tried += 1  # the database itself refuses it
        else:
            tried += 1
            assert any(named(table, row) in fault for fault in findings(connection)), (
                row,
                value,
            )
        step.rollback()
    assert tried


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_deleted_row_shows(connection: Connection, table: Table) -> None:
    """Any of them. Of the chains the first, the last and one between; each link is held to the next in the same way."""
    rows = list(connection.execute(select(table).order_by(*table.primary_key)))
    if table in CHAINS:
        rows = [rows[0], rows[len(rows) // 2], rows[-1]]
    for row in few(connection, rows, most=2):
        step = connection.begin_nested()
        connection.execute(delete(table).where(this(table, row)))
        assert any(named(table, row) in fault for fault in findings(connection)), row
        step.rollback()


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_an_added_row_shows(connection: Connection, table: Table) -> None:
    """A copy of a row under another key, which no event explains."""
    row = connection.execute(
        select(table).order_by(*(c.desc() for c in table.primary_key))
    ).first()
    assert row is not None
    values = {
        column: row._mapping[column] for column in table.c if column.computed is None
    }
    key = [column for column in table.primary_key if column.name != "plan_id"] or list(
        table.primary_key
    )
    values[key[-1]] = other_value(key[-1], values[key[-1]])
    if table in CHAINS or table is QUESTIONS:
        values[table.c.number] = 1_000_000  # the database lets no number be used twice
    connection.execute(insert(table).values(values))
    added = connection.execute(
        select(table).where(
            and_(*(column == values[column] for column in table.primary_key))
        )
    ).one()
    wanted = (
        "chain does not end" if table.name == "task_events" else named(table, added)
    )
    assert any(wanted in fault for fault in findings(connection))


def test_swapped_numbers_show(connection: Connection) -> None:
    """Two events of one chain that change their numbers stand in the wrong order."""
    first, second = connection.execute(
        select(TASK_EVENTS).order_by(TASK_EVENTS.c.number).limit(2)
    )
    for row, number in ((first, 0), (second, first.number), (first, second.number)):
        connection.execute(
            update(TASK_EVENTS).where(this(TASK_EVENTS, row)).values(number=number)
        )
    faults = findings(connection)
    wanted = f"its number {first.number} is not behind {second.number}"
    assert any(wanted in fault for fault in faults), faults


def test_a_plan_that_is_gone_altogether_shows(connection: Connection) -> None:
    """All its rows, its chain and itself: the ledger's own chain still knows it."""
    plan_id = (
        connection.execute(select(METADATA.tables["plans"].c.plan_id)).scalars().first()
    )
    for table in reversed(TABLES):
        if "plan_id" in table.c:
            connection.execute(delete(table).where(table.c.plan_id == plan_id))
    assert f"plans {plan_id}: the row is missing" in findings(connection)


def test_all_plans_gone_show(connection: Connection) -> None:
    """A ledger without plans is not the same as a ledger that had some."""
    for table in reversed(TABLES):
        if "plan_id" in table.c:
            connection.execute(delete(table))
    assert findings(connection)
