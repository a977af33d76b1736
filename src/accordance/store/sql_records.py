"""Records on a connection: as the database has them, and as a transaction changed them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Table

from accordance.store import rows, statements
from accordance.store.seals import Key, as_stored, key_of, names_of
from accordance.store.sql_nodes import UnwrittenRecord
from accordance.store.sql_writing import SqlWriting
from accordance.store.storage import AnyRecord, R


class SqlRecords(SqlWriting):
    """The records of a ledger. They are written when the transaction ends."""

    def add(self, record: AnyRecord) -> None:
        self._put(record, is_new=True)

    def replace(self, record: AnyRecord) -> None:
        self._put(record, is_new=False)

    def _put(self, record: AnyRecord, *, is_new: bool) -> None:
        """Note a record that is to be written."""
        table = rows.TABLES[type(record)]
        values = as_stored(table, rows.record_row(record))
        key = key_of(table, values)
        earlier = self._unwritten_of(table).get(key)
        if earlier is not None and is_new:
            self.flush()  # then the database refuses the second record with this key
            earlier = None

        row = dict(zip(names_of(table), values, strict=True))
        is_new = is_new if earlier is None else earlier.is_new
        self._unwritten_of(table)[key] = UnwrittenRecord(record, row, is_new)
        self.wrote(table, values)

    def _unwritten_of(self, table: Table) -> dict[Key, UnwrittenRecord]:
        return self._unwritten.records.setdefault(table, {})

    def find(self, kind: type[R], /, **where: object) -> list[R]:
        table = rows.TABLES[kind]
        stored = statements.stored_row(self._driver.dialect, table, where)
        found = self._read.ahead.find(kind, stored)
        if found is None:
            found = self._find_written(kind, where)

        unwritten = self._unwritten_of(table)
        if not unwritten:
            return found
        current = self._as_it_is_now(found, unwritten, stored)
        if current is None:  # only the database knows their order
            self.flush()
            return self.find(kind, **where)
        return current

    def _find_written(self, kind: type[R], where: Mapping[str, object]) -> list[R]:
        absent = frozenset(name for name, value in where.items() if value is None)
        wanted = frozenset(where) - absent
        query = statements.matching(
            rows.TABLES[kind], rows.ORDERS[kind], wanted, absent
        )
        return [rows.record_from(kind, row) for row in self._driver.all(query, where)]

    def _as_it_is_now(
        self,
        found: list[R],
        unwritten: Mapping[Key, UnwrittenRecord],
        wanted: Mapping[str, object],
    ) -> list[R] | None:
        """Return what was found, as this transaction has changed it.

        None if there are new records beside those.
        """
        fitting: dict[Key, Any] = {}
        for key, each in unwritten.items():
            if wanted.items() <= each.row.items():
                fitting[key] = each.record

        current = []
        for record in found:
            table = rows.TABLES[type(record)]
            key = key_of(table, as_stored(table, rows.record_row(record)))
            if key not in unwritten:
                current.append(record)
            elif key in fitting:
                current.append(fitting.pop(key))

        return None if fitting else current

    def count(self, kind: type[R], /, **where: object) -> int:
        self.flush()
        absent = frozenset(name for name, value in where.items() if value is None)
        wanted = frozenset(where) - absent
        query = statements.counting(rows.TABLES[kind], wanted, absent)
        number: int = self._driver.value(query, where)
        return number
