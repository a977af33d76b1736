"""When a transaction writes: each row once, and events at its very end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Table, select

from accordance.domain.chain import ChainEntry, Head
from accordance.domain.lifecycle import Event
from accordance.errors import LedgerDamaged
from accordance.store import rows, signals, statements
from accordance.store.seals import Values, names_of, stored_rows
from accordance.store.sql_blobs import CHUNK, SqlBlobs
from accordance.store.sql_nodes import UnwrittenRows
from accordance.store.tables import (
    LEDGER_EVENTS,
    PLANS,
    TASK_EVENTS,
    TASK_NODES,
)
from accordance.store.together import (
    Act,
    Change,
    NewEvents,
    Shape,
    Verb,
    write_together,
)

_PORTION: Final = 1 << 20  # characters of events that are written at once


class SqlWriting(SqlBlobs):
    """What is still to be written on a connection.

    All of it is written when the transaction ends, together and each row once. Queries
    that look for rows by what was changed write first.
    """

    def __init__(self, connection: Connection, now: str) -> None:
        super().__init__(connection, now)
        self._acts: list[Act] = []

    # -- writing

    def finish(self) -> None:
        """Write everything, at the end of the transaction.

        The numbers of events come last. A transaction that takes some holds up all
        others that want numbers until it commits, and waits for nothing any more.
        """
        self._write_blobs()
        changes = [*self._changed_tasks(), *self._changed_plans(), *self._records()]
        entries = self._unwritten.entries
        ledger_entries = self._unwritten.ledger_entries
        self._unwritten = UnwrittenRows()

        self._write(changes, TASK_EVENTS, entries)
        self._write([], LEDGER_EVENTS, ledger_entries)

    def at_the_end(self, act: Act) -> None:
        """Execute a statement of another module when everything is written."""
        self._acts.append(act)

    def act_now(self) -> None:
        """Execute what is to be executed at the end."""
        write_together(self._driver, (), acts=self._take_acts())

    def _take_acts(self) -> list[Act]:
        acts = self._acts
        self._acts = []
        return acts

    def flush(self) -> None:
        """Write everything but blobs and events: enough for any other query."""
        changes = [*self._changed_tasks(), *self._changed_plans(), *self._records()]
        self._unwritten.tasks = {}
        self._unwritten.plans = {}
        self._unwritten.records = {}
        self._read.ahead.forget_records()
        self._read.ahead.forget_line()
        write_together(self._driver, changes)

    def _flush_tasks(self) -> None:
        """Write where tasks stand: enough for queries that look for tasks."""
        changes = self._changed_tasks()
        self._unwritten.tasks = {}
        self._read.ahead.forget_line()
        write_together(self._driver, changes)

    def _write(
        self, changes: Sequence[Change], table: Table, entries: Sequence[ChainEntry]
    ) -> None:
        """Write rows and events; what an import seals takes several statements."""
        acts = self._take_acts()
        for events in _portions(entries, table, self._driver.dialect):
            write_together(self._driver, changes, NewEvents(table, events), acts)
            changes, acts = [], []  # they are written with the first portion
        write_together(self._driver, changes, acts=acts)

    def _changed_tasks(self) -> list[Change]:
        changed = []
        for task_id, before in self._unwritten.tasks.items():
            task = self._read.tasks[task_id]
            if task != before:
                changed.append(rows.moving_row(task))
        return self._as_changes("update", TASK_NODES, changed)

    def _changed_plans(self) -> list[Change]:
        changed = rows.changed_plans(self._unwritten.plans, self._read.plans)
        return self._as_changes("update", PLANS, changed)

    def _as_changes(
        self, verb: Verb, table: Table, new_rows: Sequence[dict[str, Any]]
    ) -> list[Change]:
        """Return rows as a change, if there are any. All have the same columns."""
        if not new_rows:
            return []
        dialect = self._driver.dialect
        stored = [statements.stored_row(dialect, table, row) for row in new_rows]
        return [Change(Shape(verb, table, tuple(new_rows[0])), stored)]

    def _records(self) -> Iterator[Change]:
        for table, by_key in self._unwritten.records.items():
            columns = names_of(table)
            new = [each.row for each in by_key.values() if each.is_new]
            if new:
                yield Change(Shape("insert", table, columns), new)
            replacing = [each.row for each in by_key.values() if not each.is_new]
            if replacing:
                yield Change(Shape("replace", table, columns), replacing)

    def take_question_numbers(self, count: int) -> int:
        statement = statements.TAKE_QUESTION_NUMBERS
        counter = self._driver.first(statement, {"count": count})
        if counter is None:
            raise LedgerDamaged("the counter of questions is missing")
        last: int = counter.number
        return last - count + 1

    # -- events

    def add_entry(self, entry: ChainEntry) -> None:
        self._unwritten.entries.append(entry)
        self.save_plan(entry.plan_id, head=Head(seq=entry.seq, hash=entry.hash))

    def add_old_entry(self, entry: ChainEntry) -> None:
        """Add an event to a chain whose plan may be unreadable.

        The head of the plan is not moved.
        """
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

    def entries_of(self, task_id: str, kind: str | None = None) -> list[ChainEntry]:
        entries = self._written_entries_of(task_id, kind)
        for entry in self._unwritten.entries:
            if entry.task_id == task_id and kind in (None, entry.kind):
                entries.append(entry)
        return entries

    def _written_entries_of(self, task_id: str, kind: str | None) -> list[ChainEntry]:
        beginnings = self._read.ahead.beginnings
        if kind is None:
            written = self._driver.all(statements.EVENTS_OF_TASK, {"key": task_id})
        elif kind == Event.CLAIMED and task_id in beginnings:
            return list(beginnings[task_id])
        else:
            keys = {"key": task_id, "kind": kind}
            written = self._driver.all(statements.EVENTS_OF_KIND, keys)
        return [rows.entry_from(row) for row in written]

    def last_number(self) -> int:
        return signals.last_number(self._connection)

    # -- the ledger's own chain

    def ledger_head(self) -> Head:
        if self._dialect == "postgresql":
            self._driver.all(statements.HOLD_LEDGER_CHAIN)
        return self.last_of_ledger()

    def last_of_ledger(self) -> Head:
        unwritten = self._unwritten.ledger_entries
        if unwritten:
            newest = unwritten[-1]
            return Head(seq=newest.seq, hash=newest.hash)
        last = self._driver.first(statements.LEDGER_HEAD)
        return Head() if last is None else Head(seq=last.seq, hash=last.hash)

    def add_ledger_entry(self, entry: ChainEntry) -> None:
        self._unwritten.ledger_entries.append(entry)

    def ledger_entries(self) -> Iterator[ChainEntry]:
        for row in self._stream(statements.ALL_LEDGER_EVENTS, CHUNK):
            yield rows.entry_from(row)
        yield from self._unwritten.ledger_entries

    # -- what `verify` reads

    def plan_ids(self, table: Table = PLANS) -> set[str]:
        self.flush()
        query = select(table.c.plan_id).distinct()
        return set(self._connection.execute(query).scalars())

    def stored(self, table: Table, plan_id: str | None = None) -> Iterator[Values]:
        self.flush()
        query = stored_rows(table, self._dialect)
        if plan_id is not None:
            query = query.where(table.c.plan_id == plan_id)
        for row in self._stream(query, CHUNK):
            yield tuple(row)

    # -- helpers

    def _write_all(
        self, verb: Verb, table: Table, new_rows: Iterable[dict[str, Any]]
    ) -> None:
        """Write many rows, so many at once."""
        remaining = iter(new_rows)
        while portion := list(islice(remaining, CHUNK)):
            write_together(self._driver, self._as_changes(verb, table, portion))


def _portions(
    entries: Iterable[ChainEntry], table: Table, dialect: Dialect
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of events that have no number yet, bounded in size."""
    portion = []
    size = 0
    for entry in entries:
        row = {}
        for name, process in statements.stored_columns(dialect, table).items():
            if name != "number":
                value = getattr(entry, name)
                row[name] = value if process is None else process(value)
        portion.append(row)
        size += len(row["payload"])
        if size > _PORTION:
            yield portion
            portion = []
            size = 0
    if portion:
        yield portion
