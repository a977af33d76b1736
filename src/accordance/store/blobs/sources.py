"""Where the bytes of a blob come from, measured before they are kept."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.blobs import Blob

PART_BYTES: Final = 16 << 20
"""Bytes of a part. Stores hold blobs in parts of this size: it can never change."""
_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class KeptBlob:
    """Bytes that can be named in a transaction.

    Small ones travel with their name, or with the file they are in; large ones lie in
    the store already.
    """

    sha256: str
    size: int
    content: bytes | Path | None = None


class BlobSource(ABC):
    """Bytes that can be read again from any place."""

    size: int

    @abstractmethod
    def read(self, start: int, length: int) -> bytes:
        """Return so many bytes from a place; fewer at the end."""


class BytesSource(BlobSource):
    """Bytes in memory."""

    def __init__(self, content: bytes) -> None:
        self._content = memoryview(content)
        self.size = len(content)

    def read(self, start: int, length: int) -> bytes:
        return bytes(self._content[start : start + length])


class FileSource(BlobSource):
    """An open file."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.size = os.fstat(descriptor).st_size

    def read(self, start: int, length: int) -> bytes:
        return os.pread(self._descriptor, length, start)


@contextmanager
def source_of(content: bytes | Path) -> Iterator[BlobSource]:
    """Open bytes or a file as a source. Raises OSError."""
    if isinstance(content, bytes):
        yield BytesSource(content)
        return
    descriptor = os.open(content, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield FileSource(descriptor)
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True)
class MeasuredBlob:
    """A blob with the hashes of its parts."""

    blob: Blob
    parts: tuple[str, ...]


def measured(source: BlobSource) -> MeasuredBlob:
    """Return the name of a source's bytes, and the hashes of their parts."""
    whole = hashlib.sha256()
    parts = []
    for start in part_starts(source.size):
        part = hashlib.sha256()
        for chunk in _chunks(source, start, min(PART_BYTES, source.size - start)):
            whole.update(chunk)
            part.update(chunk)
        parts.append(part.hexdigest())
    return MeasuredBlob(Blob(whole.hexdigest(), source.size), tuple(parts))


def part_starts(size: int) -> range:
    """Return where the parts of a blob begin; an empty blob has one part, too."""
    return range(0, size or 1, PART_BYTES)


def _chunks(source: BlobSource, start: int, length: int) -> Iterator[bytes]:
    end = start + length
    while start < end:
        chunk = source.read(start, min(_CHUNK, end - start))
        if not chunk:  # the file has become shorter: the hash will not fit
            return
        start += len(chunk)
        yield chunk
