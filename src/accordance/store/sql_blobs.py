"""Blobs on a connection: small ones are written together, large ones in pieces."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, Row, Select

from accordance.domain.blobs import Blob
from accordance.errors import BlobChanged, BlobMissing, NotFound
from accordance.store import rows, statements
from accordance.store.blobs.keeper import keeper_of
from accordance.store.blobs.sources import KeptBlob
from accordance.store.driver import Driver
from accordance.store.ledger import Transaction
from accordance.store.sql_nodes import ReadRows, UnwrittenRows
from accordance.store.tables import BLOBS

CHUNK: Final = 2000  # rows that are read or written at once
_PIECES: Final = 8  # of blobs, a MiB each at most
_SMALL: Final = 1 << 16  # bytes of a blob that is written together with others
_TOGETHER: Final = 1 << 20  # bytes that are written together


class SqlBlobs(Transaction):
    """A connection, and the blobs that a transaction keeps on it."""

    def __init__(self, connection: Connection, now: str) -> None:
        super().__init__(now)
        if not connection.in_transaction():
            connection.begin()
        self._connection = connection
        self._driver = Driver(connection)
        self._dialect = connection.dialect.name
        self._read = ReadRows()
        self._unwritten = UnwrittenRows()
        self._kept_blobs: dict[str, int] = {}
        """By name: which in turn it was kept as."""
        self._keeper = keeper_of(connection)

    def seal(self) -> None:
        self._write_blobs()  # the new ones are sealed
        super().seal()

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
            self._unwritten.bytes_of_blobs += len(content)
            if self._unwritten.bytes_of_blobs > _TOGETHER:
                self._write_blobs()
            return sha256
        pieces = rows.pieces_of(sha256, content)
        self._kept(sha256, is_new=self._keep_pieces(pieces))
        return sha256

    def _write_blobs(self) -> None:
        """Write the small blobs, sorted by name.

        Two transactions that write the same blobs in different orders would wait for
        each other for good.
        """
        blobs = sorted(self._unwritten.blobs.items())
        self._unwritten.blobs = {}
        self._unwritten.bytes_of_blobs = 0
        if not blobs:
            return
        self.written.blobs += self._insert_blobs(blobs)
        self.written.blobs.sort(key=lambda name: self._kept_blobs.get(name, -1))

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
        for row in self._stream(statements.STORED_BLOBS, CHUNK):
            yield Blob(row.sha256, row.size)

    def _hash_in_store(self, blob: Blob) -> str | None:
        """The name of a blob, if its bytes are in the store as they were kept."""
        try:
            for _ in self._keeper.chunks(self._connection, blob):
                pass
        except (BlobMissing, BlobChanged):
            return None
        return blob.sha256

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
