"""When a transaction writes: each row once, and events at its very end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Dialect, Row, Select, Table, select

from accordance.domain.blobs import Blob
from accordance.domain.chain import ChainEntry, Head
from accordance.domain.lifecycle import Event
from accordance.errors import BlobChanged, BlobMissing, LedgerDamaged, NotFound
from accordance.store import rows, signals, statements
from accordance.store.blobs.keeper import keeper_of
from accordance.store.blobs.sources import KeptBlob
from accordance.store.driver import Driver
from accordance.store.ledger import Transaction
from accordance.store.seals import Values, sealed_columns, stored_rows
from accordance.store.sql_nodes import ReadRows, UnwrittenRows
from accordance.store.tables import (
    BLOBS,
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

_CHUNK: Final = 2000  # rows that are read or written at once
_PIECES: Final = 8  # of blobs, a MiB each at most
_SMALL: Final = 1 << 16  # bytes of a blob that is written together with others


class SqlWriting(Transaction):
    """A connection, and what is still to be written on it.

    All of it is written when the transaction ends, together and each row once. Queries
    that look for rows by what was changed write first.
    """

    def __init__(self, connection: Connection, now: str) -> None:
        super().__init__(now)
        if not connection.in_transaction():
            connection.begin()
        self._connection = connection
        self._driver = Driver(connection)
        self._dialect = connection.dialect.name
        self._read = ReadRows()
        self._unwritten = UnwrittenRows()
        self._acts: list[Act] = []
        self._kept_blobs: dict[str, int] = {}
        """By name: which in turn it was kept as."""
        self._keeper = keeper_of(connection)

    # -- writing

    def seal(self) -> None:
        self._write_blobs()  # the new ones are sealed
        super().seal()

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
        if ledger_entries:
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
        dialect = self._driver.dialect
        events = [_event_row(entry, table, dialect) for entry in entries]
        new_events = NewEvents(table, events) if events else None
        write_together(self._driver, changes, new_events, self._take_acts())

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
            columns = tuple(column.name for column in sealed_columns(table))
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

    # -- blobs

    def keep(self, content: bytes) -> str:
        sha256 = rows.hash_of(content)
        if sha256 in self._kept_blobs:
            return sha256

        is_large = len(content) > self._keeper.config.inline_bytes
        if is_large and self._keeper.take_staged(sha256):
            return self.keep_blob(KeptBlob(sha256, len(content)))
        if len(content) <= _SMALL:
            self._kept_blobs[sha256] = len(self._kept_blobs)
            self._unwritten.blobs[sha256] = content
            return sha256
        pieces = rows.pieces_of(sha256, content)
        self._kept(sha256, is_new=self._keep_pieces(pieces))
        return sha256

    def _write_blobs(self) -> None:
        """Write the small blobs, in an order that all transactions keep to.

        Otherwise two of them, each with a blob that the other one wants to write, would
        wait for each other for good.
        """
        blobs = sorted(self._unwritten.blobs.items())
        self._unwritten.blobs = {}
        if not blobs:
            return
        self.written.blobs += self._insert_blobs(blobs)
        self.written.blobs.sort(key=self._kept_blobs.__getitem__)

    def _insert_blobs(self, blobs: Sequence[tuple[str, bytes]]) -> list[str]:
        """Insert blobs of a single piece; return the names of those that are new."""
        if self._dialect == "postgresql":
            names, contents = zip(*blobs, strict=True)
            values = {"names": list(names), "contents": list(contents)}
            written = self._driver.execute(statements.INSERT_BLOBS, values)
            return [row.sha256 for row in written]
        return [
            sha256
            for sha256, content in blobs
            if self._keep_pieces(rows.pieces_of(sha256, content))
        ]

    def keep_blob(self, kept: KeptBlob) -> str:
        sha256 = kept.sha256
        if sha256 in self._kept_blobs:
            return sha256
        if isinstance(kept.content, bytes):
            return self.keep(kept.content)

        if kept.content is None:
            is_new = self._keeper.name(self._connection, kept)
        else:
            is_new = self._keep_pieces(rows.pieces_of_file(kept))
        self._kept(sha256, is_new=is_new)
        return sha256

    def _kept(self, sha256: str, *, is_new: bool) -> None:
        self._kept_blobs.setdefault(sha256, len(self._kept_blobs))
        if is_new:
            self.written.blobs.append(sha256)

    def _keep_pieces(self, pieces: Iterable[dict[str, Any]]) -> bool:
        """Write a blob piece by piece; return whether it is new.

        A driver copies what it is given several times, so of a large blob it is given
        a piece at a time.
        """
        statement = statements.insertion_if_new(self._dialect, BLOBS)
        for piece in pieces:
            is_new = self._driver.write(statement, piece)
            if not is_new:  # then all the other pieces are there too
                return False
        return True

    def blob(self, sha256: str) -> bytes:
        return b"".join(self.blob_chunks(sha256))

    def blob_chunks(self, sha256: str) -> Iterator[bytes]:
        self._write_blobs()
        result = self._connection.execute(statements.BLOB, {"key": sha256})
        is_here = False
        for piece in result.scalars():
            is_here = True
            yield piece
        if is_here:
            return

        size = self._keeper.size_of(self._connection, sha256)
        if size is None:
            raise NotFound("blob", sha256)
        yield from self._keeper.chunks(self._connection, Blob(sha256, size))

    def blob_size(self, sha256: str) -> int | None:
        self._write_blobs()
        query = statements.BLOB_SIZE
        size: int | None = self._driver.value(query, {"key": sha256})
        if size is None:
            size = self._keeper.size_of(self._connection, sha256)
        return size

    def blobs(self) -> Iterator[tuple[str, str | None]]:
        self._write_blobs()
        pieces = self._stream(statements.ALL_BLOBS, _PIECES)
        for name, parts in groupby(pieces, key=itemgetter(0)):
            yield name, _hash_of_pieces(parts)
        for blob in self.stored_blobs():
            yield blob.sha256, self._hash_in_store(blob)

    def stored_blobs(self) -> Iterator[Blob]:
        """Yield the blobs whose bytes lie in the blob store."""
        for row in self._stream(statements.STORED_BLOBS, _CHUNK):
            yield Blob(row.sha256, row.size)

    def _hash_in_store(self, blob: Blob) -> str | None:
        """The name of a blob, if its bytes are in the store as they were kept."""
        try:
            for _ in self._keeper.chunks(self._connection, blob):
                pass
        except (BlobMissing, BlobChanged):
            return None
        return blob.sha256

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
        for row in self._stream(statements.ALL_LEDGER_EVENTS, _CHUNK):
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
        for row in self._stream(query, _CHUNK):
            yield tuple(row)

    # -- helpers

    def _insert_all(self, table: Table, values: Iterable[dict[str, Any]]) -> None:
        """Insert many rows, as the driver takes them."""
        statement, as_parameters = statements.bulk(self._connection.dialect, table)
        parameters = map(as_parameters, values)
        while chunk := list(islice(parameters, _CHUNK)):
            self._driver.change_many(statement, chunk)

    def _stream(self, query: Select[Any], at_once: int) -> Iterator[Row[Any]]:
        """Yield rows, and read so many at once."""
        options = {"yield_per": at_once}
        with self._connection.execute(query, execution_options=options) as result:
            yield from result


def _event_row(entry: ChainEntry, table: Table, dialect: Dialect) -> dict[str, Any]:
    """Return the row of an event that has no number yet."""
    row = {}
    for name, process in statements.stored_columns(dialect, table).items():
        if name != "number":
            value = getattr(entry, name)
            row[name] = value if process is None else process(value)
    return row


def _hash_of_pieces(pieces: Iterable[Row[Any]]) -> str | None:
    """Return the hash of a blob; None if a piece of it is missing."""
    digest = hashlib.sha256()
    is_whole = True
    for number, piece in enumerate(pieces):
        is_whole = is_whole and piece.part == number
        content = piece.content
        if not isinstance(content, bytes):  # it was changed from outside
            content = str(content).encode()
        digest.update(content)
    return digest.hexdigest() if is_whole else None
