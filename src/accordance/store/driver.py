"""Statements at the database's own driver.

SQLAlchemy describes tables and statements, and translates each statement once. To
execute a statement through SQLAlchemy as well takes several times what the database
needs for it, and a transaction executes dozens. So translated statements go to the
driver directly, and rows come back as tuples with names. An error is the same that
SQLAlchemy would raise.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NoReturn, TypeAlias

from sqlalchemy import (
    ClauseElement,
    Connection,
    Dialect,
    Insert,
    Select,
)
from sqlalchemy.exc import DBAPIError

Row: TypeAlias = Any
"""A tuple whose columns have names; `_mapping` is the row as a dict."""
Values: TypeAlias = Mapping[str, Any]
Process: TypeAlias = Callable[[Any], Any]
MakeRow: TypeAlias = Callable[[Iterable[Any]], Row]
RowsOf: TypeAlias = Callable[[Any], Iterator[Row]]
"""Reads the rows of the driver's cursor."""
Description: TypeAlias = Sequence[Sequence[Any]]
"""What a driver says of columns: each begins with its name and the code of its type."""

_NO_VALUES: Final[Values] = {}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement in the words of a database, with what its values and rows need."""

    sql: str
    parameters: Callable[[Values], Any]
    """Turns values into what the driver takes."""
    rows_of: RowsOf


_prepared: Final[dict[tuple[str, ClauseElement, tuple[str, ...]], Prepared]] = {}
"""By database, statement, and the columns that it writes."""
_rows_of: Final[dict[str, RowsOf]] = {}
"""How the rows of a statement in the words of a database are read."""


class Driver:
    """The driver's side of a connection that is in a transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect
        self._error = connection.dialect.loaded_dbapi.Error
        self._raw: Any = connection.connection.driver_connection

    # -- statements that SQLAlchemy has described

    def each(
        self, statement: ClauseElement, values: Values = _NO_VALUES
    ) -> Iterator[Row]:
        """Yield the rows of a statement.

        Its translation is kept for good, so it must not be built for each execution.
        """
        prepared = self._prepare(statement, ())
        parameters = prepared.parameters(values)
        return self._rows(prepared.sql, parameters, prepared.rows_of)

    def all(self, statement: ClauseElement, values: Values = _NO_VALUES) -> list[Row]:
        """Return the rows of a statement; see `each`."""
        return list(self.each(statement, values))

    def first(self, statement: ClauseElement, values: Values = _NO_VALUES) -> Row:
        """Return the first row of a statement; None if there is none."""
        rows = self.all(statement, values)
        return rows[0] if rows else None

    def column(
        self, statement: ClauseElement, values: Values = _NO_VALUES
    ) -> list[Any]:
        """Return the first column of the rows of a statement."""
        return [row[0] for row in self.all(statement, values)]

    def value(self, statement: ClauseElement, values: Values = _NO_VALUES) -> Any:
        """Return the first column of the first row; None if there is no row."""
        row = self.first(statement, values)
        return None if row is None else row[0]

    def write(self, statement: ClauseElement, values: Values) -> int:
        """Execute a statement that writes; return how many rows it has written."""
        prepared = self._prepare(statement, tuple(values))
        return self.change(prepared.sql, prepared.parameters(values))

    # -- statements in the words of the database

    def execute(self, sql: str, parameters: Any = ()) -> list[Row]:
        """Execute a statement; return its rows, if it has any.

        The names of its columns are kept for good: values belong into the parameters.
        """
        rows_of = _rows_of.get(sql)
        if rows_of is None:
            rows_of = _rows_of[sql] = _rows_as_described()
        return list(self._rows(sql, parameters, rows_of))

    def change(self, sql: str, parameters: Any = ()) -> int:
        """Execute a statement; return how many rows it has written."""
        try:
            written: int = self._raw.execute(sql, parameters).rowcount
        except self._error as error:
            self._fail(sql, parameters, error)
        return written

    def change_many(self, sql: str, parameters: Sequence[Any]) -> None:
        """Execute a statement once for each set of parameters."""
        try:
            self._raw.cursor().executemany(sql, parameters)
        except self._error as error:
            self._fail(sql, parameters, error)

    # -- helpers

    def _prepare(self, statement: ClauseElement, written: tuple[str, ...]) -> Prepared:
        key = (self.dialect.name, statement, written)
        prepared = _prepared.get(key)
        if prepared is None:
            prepared = _prepared[key] = _translate(statement, written, self.dialect)
        return prepared

    def _rows(self, sql: str, parameters: Any, rows_of: RowsOf) -> Iterator[Row]:
        try:
            cursor = self._raw.execute(sql, parameters)
            yield from rows_of(cursor)
        except self._error as error:
            self._fail(sql, parameters, error)

    def _fail(self, sql: str, parameters: Any, error: Exception) -> NoReturn:
        """Raise what SQLAlchemy raises, and give up a connection that is broken."""
        is_broken = self.dialect.is_disconnect(error, self._raw, None)  # type: ignore[arg-type]
        if is_broken:
            self._connection.invalidate(error)
        raise DBAPIError.instance(
            sql,
            parameters,
            error,
            self._error,
            connection_invalidated=is_broken,
            dialect=self.dialect,
        ) from error


# -- translating


def _translate(
    statement: ClauseElement, written: tuple[str, ...], dialect: Dialect
) -> Prepared:
    if isinstance(statement, Insert):
        statement = statement.inline()  # nothing is read back
    columns = list(written) or None
    compiled: Any = statement.compile(dialect=dialect, column_keys=columns)

    if isinstance(statement, Select):
        rows_of = _rows_as_selected(statement, dialect)
    else:
        rows_of = _rows_as_described()
    return Prepared(str(compiled), _parameters(compiled, dialect), rows_of)


def _parameters(compiled: Any, dialect: Dialect) -> Callable[[Values], Any]:
    """Return the function that turns values into parameters."""
    names = compiled.positiontup if compiled.positional else compiled.params
    constants: dict[str, Any] = {}
    processes: list[tuple[str, Process | None]] = []
    for name in names:
        bind = compiled.binds[name]
        kind = bind.type.dialect_impl(dialect)
        processes.append((name, kind.bind_processor(dialect)))
        if not bind.required:
            constants[name] = bind.value

    def positional(values: Values) -> tuple[Any, ...]:
        given = {**constants, **values} if constants else values
        return tuple(
            [
                given[name] if process is None else process(given[name])
                for name, process in processes
            ]
        )

    def named(values: Values) -> dict[str, Any]:
        return dict(zip(names, positional(values), strict=True))

    return positional if compiled.positional else named


def _rows_as_described() -> RowsOf:
    """Read rows with the names that the driver says, and its values as they are."""

    def make_row(description: Description | None) -> MakeRow | None:
        if description is None:
            return None  # a statement without rows
        make: MakeRow = row_type(tuple([column[0] for column in description]))._make
        return make

    return _described_once(make_row)


def _rows_as_selected(statement: Select[Any], dialect: Dialect) -> RowsOf:
    """Read rows with the names and types of the selected columns."""
    return _described_once(partial(_selected_row, statement, dialect))


def _described_once(
    make_row: Callable[[Any], MakeRow | None],
) -> RowsOf:
    """Ask the first cursor for its description, and none after it.

    psycopg builds a description anew for each cursor, column by column. That takes
    longer than the statement itself.
    """
    makers: list[MakeRow | None] = []

    def rows_of(cursor: Any) -> Iterator[Row]:
        if not makers:
            makers.append(make_row(cursor.description))
        make = makers[0]
        return iter(()) if make is None else map(make, cursor)

    return rows_of


def _selected_row(
    statement: Select[Any], dialect: Dialect, description: Description
) -> MakeRow:
    """Return the function that turns the driver's tuples into rows."""
    names = []
    processes: list[tuple[int, Process]] = []
    for place, column in enumerate(statement.selected_columns):
        names.append(getattr(column, "name", None) or f"column_{place}")
        kind = column.type.dialect_impl(dialect)
        type_code = description[place][1]
        process = kind.result_processor(dialect, type_code)
        if process is not None:
            processes.append((place, process))
    make: MakeRow = row_type(tuple(names))._make
    if not processes:
        return make

    def row(fetched: Iterable[Any]) -> Row:
        values = list(fetched)
        for place, process in processes:
            values[place] = process(values[place])
        return make(values)

    return row


@cache
def row_type(names: tuple[str, ...]) -> Any:
    """Return the type of rows with such columns."""
    base = namedtuple("Row", names, rename=True)  # type: ignore[misc]  # noqa: PYI024 - made at run time
    return type("Row", (base,), {"__slots__": (), "_mapping": property(base._asdict)})
