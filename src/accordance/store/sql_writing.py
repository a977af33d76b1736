"""When a transaction writes: each row once, and events at its very end."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, Table, select

from accordance.domain.blobs import Blob
from accordance.domain.chain import ChainEntry, Head
from accordance.errors import BlobChanged, BlobMissing, LedgerDamaged, NotFound
from accordance.store import rows, signals, statements
from accordance.store.blobs.keeper import keeper_of
from accordance.store.blobs.sources import KeptBlob
from accordance.store.driver import Driver
from accordance.store.ledger import Transaction
from accordance.store.seals import Values, stored_rows
from accordance.store.sql_nodes import ReadRows, UnwrittenRows
from accordance.store.tables import BLOBS, LEDGER_EVENTS, PLANS, TASK_EVENTS

_CHUNK: Final = 2000  # rows that are read or written at once
_PIECES: Final = 8  # of blobs, a MiB each at most


class SqlWriting(Transaction):
    """A connection, and what is still to be written on it.

    Where plans and tasks stand is written when the transaction ends, each row once.
    Queries that look for rows by where they stand write first.
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
        self._kept_blobs: set[str] = set()
        self._keeper = keeper_of(connection)

    # -- writing

    def finish(self) -> None:
        """Write everything, at the end of the transaction.

        The numbers of events come last. A transaction that takes some holds up all
        others that want numbers until it commits, and waits for nothing any more.
        """
        self.flush()
        entries = self._unwritten.entries
        ledger_entries = self._unwritten.ledger_entries
        self._unwritten.entries = []
        self._unwritten.ledger_entries = []

        if entries:
            self._insert_events(TASK_EVENTS, entries)
        if ledger_entries:
            self._insert_events(LEDGER_EVENTS, ledger_entries)

    def _insert_events(self, table: Table, entries: Sequence[ChainEntry]) -> None:
        """Insert events with the next numbers, which no other transaction gets."""
        columns = statements.stored_columns(self._connection.dialect, table)
        events = []
        for entry in entries:
            event = {}
            for name, process in columns:
                value = getattr(entry, name)
                event[name] = value if process is None else process(value)
            events.append(event)

        if self._dialect == "postgresql":
            inserted = self._insert_numbered(table, events)
        else:
            inserted = self._count_and_insert(table, events)
        if not inserted:
            raise LedgerDamaged("the counter of events is missing")

    def _insert_numbered(self, table: Table, events: list[dict[str, Any]]) -> bool:
        """Let PostgreSQL count and insert in one statement; whether it could count."""
        statement = statements.numbered_insertion(table)
        values = {"events": json.dumps(events), "count": len(events)}
        return self._driver.change(statement, values) > 0

    def _count_and_insert(self, table: Table, events: list[dict[str, Any]]) -> bool:
        """Count, and insert events with their numbers; whether it could count."""
        counters = self._driver.execute(statements.COUNT_ON, (len(events),))
        if not counters:
            return False
        first = counters[0].number - len(events) + 1
        for number, event in enumerate(events, first):
            event["number"] = number
        statement = statements.bulk(self._connection.dialect, table).statement
        self._driver.change_many(statement, [tuple(event.values()) for event in events])
        return True

    def take_question_numbers(self, count: int) -> int:
        statement = statements.TAKE_QUESTION_NUMBERS
        counter = self._driver.first(statement, {"count": count})
        if counter is None:
            raise LedgerDamaged("the counter of questions is missing")
        last: int = counter.number
        return last - count + 1

    def flush(self) -> None:
        """Write where plans and tasks stand."""
        self._flush_tasks()
        unwritten = self._unwritten.plans
        self._unwritten.plans = {}
        changes = rows.plan_changes(unwritten, self._read.plans)
        self._driver.write_all(statements.SAVE_PLAN, changes)

    def _flush_tasks(self) -> None:
        """Write where tasks stand: enough for queries that look for tasks."""
        unwritten = self._unwritten.tasks
        self._unwritten.tasks = {}
        changes = rows.changes(rows.task_row, unwritten, self._read.tasks)
        self._driver.write_all(statements.SAVE_NODE, changes)

    # -- blobs

    def keep(self, content: bytes) -> str:
        sha256 = rows.hash_of(content)
        if sha256 in self._kept_blobs:
            return sha256

        is_large = len(content) > self._keeper.config.inline_bytes
        if is_large and self._keeper.take_staged(sha256):
            return self.keep_blob(KeptBlob(sha256, len(content)))
        pieces = rows.pieces_of(sha256, content)
        self._kept(sha256, is_new=self._keep_pieces(pieces))
        return sha256

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
        self._kept_blobs.add(sha256)
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
        query = statements.BLOB_SIZE
        size: int | None = self._driver.value(query, {"key": sha256})
        if size is None:
            size = self._keeper.size_of(self._connection, sha256)
        return size

    def blobs(self) -> Iterator[tuple[str, str | None]]:
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

    def entries_of(self, task_id: str) -> list[ChainEntry]:
        written = self._driver.all(statements.EVENTS_OF_TASK, {"key": task_id})
        entries = [rows.entry_from(row) for row in written]
        for entry in self._unwritten.entries:
            if entry.task_id == task_id:
                entries.append(entry)
        return entries

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
