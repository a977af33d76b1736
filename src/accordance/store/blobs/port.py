"""A store of blobs: content-addressed, in parts, checked whenever it is read.

Every store has the same layout, so that any tool can copy it into another:

    accordance-store.json     which ledger the store belongs to
    ab/abcd.../00000          the parts of a blob, 16 MiB each, under its hash

A part is put whole or not at all, after its hash was compared. So an upload that was
cut off goes on with the parts that are missing, by any process that takes it up again.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from typing import Final, NamedTuple

from accordance.domain.blobs import Blob
from accordance.errors import BlobChanged, BlobMissing
from accordance.store.blobs.sources import (
    PART_BYTES,
    BlobSource,
    MeasuredBlob,
    part_starts,
)

LABEL: Final = "accordance-store.json"
"""The object that says which ledger a store belongs to."""
_AT_ONCE: Final = 4  # parts that are put at the same time, and held in memory
_AHEAD: Final = 2  # parts that are got before they are needed
_PART: Final = re.compile(r"[0-9a-f]{2}/([0-9a-f]{64})/[0-9]{5}")


class StoredObject(NamedTuple):
    """An object of a store, as a listing shows it."""

    key: str
    size: int


class BlobStore(ABC):
    """A place for large blobs. Subclasses only know how to move whole objects."""

    place: str
    """Where it is, for people."""

    # -- objects, in each store's own way

    @abstractmethod
    def write(self, key: str, content: bytes) -> None:
        """Put an object, whole or not at all. Raises BlobStoreUnavailable."""

    @abstractmethod
    def read(self, key: str) -> bytes | None:
        """Return an object; None if there is none. Raises BlobStoreUnavailable."""

    @abstractmethod
    def objects(self, prefix: str = "") -> Iterator[StoredObject]:
        """Yield the objects whose keys begin like that, in the order of the keys.

        A prefix ends at a slash. Raises BlobStoreUnavailable.
        """

    @abstractmethod
    def remove(self, keys: Iterable[str]) -> None:
        """Remove objects; those that are gone already do not matter.

        Raises BlobStoreUnavailable.
        """

    # -- blobs

    def put(self, measured: MeasuredBlob, source: BlobSource) -> None:
        """Put a blob; parts that are there already are not put again.

        Raises BlobStoreUnavailable, and BlobChanged if the source is not what was
        measured.
        """
        missing = self._missing_parts(measured.blob)

        def put_part(number: int) -> None:
            content = source.read(number * PART_BYTES, PART_BYTES)
            if hashlib.sha256(content).hexdigest() != measured.parts[number]:
                raise BlobChanged(measured.blob.sha256, "what was to be kept")
            self.write(_key(measured.blob.sha256, number), content)

        if len(missing) == 1:
            put_part(missing[0])
            return
        with ThreadPoolExecutor(_AT_ONCE, "blob-part") as pool:
            for _ in pool.map(put_part, missing):
                pass

    def has(self, blob: Blob) -> bool:
        """Whether all parts of a blob are there, by their names and sizes."""
        return not self._missing_parts(blob)

    def _missing_parts(self, blob: Blob) -> list[int]:
        sizes = dict(self.objects(_folder(blob.sha256)))
        missing = []
        for number, start in enumerate(part_starts(blob.size)):
            size = min(PART_BYTES, blob.size - start)
            if sizes.get(_key(blob.sha256, number)) != size:
                missing.append(number)
        return missing

    def chunks(self, blob: Blob) -> Iterator[bytes]:
        """Yield the bytes of a blob.

        Raises BlobMissing, and BlobChanged at the end if the hash does not fit: what
        was read must not be used before the last chunk has come.
        """
        digest = hashlib.sha256()
        size = 0
        for content in self._parts(blob):
            digest.update(content)
            size += len(content)
            yield content
        if (digest.hexdigest(), size) != (blob.sha256, blob.size):
            raise BlobChanged(blob.sha256, self.place)

    def _parts(self, blob: Blob) -> Iterator[bytes]:
        """Yield the parts of a blob; the next ones are fetched meanwhile."""
        keys = [_key(blob.sha256, n) for n, _ in enumerate(part_starts(blob.size))]
        if len(keys) == 1:
            yield self._present(blob, self.read(keys[0]))
            return
        with ThreadPoolExecutor(_AHEAD, "blob-part") as pool:
            coming: deque[Future[bytes | None]] = deque()
            try:
                for key in keys:
                    coming.append(pool.submit(self.read, key))
                    if len(coming) == _AHEAD:
                        yield self._present(blob, coming.popleft().result())
                while coming:
                    yield self._present(blob, coming.popleft().result())
            finally:
                for future in coming:
                    future.cancel()

    def _present(self, blob: Blob, part: bytes | None) -> bytes:
        if part is None:
            raise BlobMissing(blob.sha256, self.place)
        return part

    def delete(self, sha256: str) -> None:
        """Remove a blob, whole or in part."""
        self.remove([stored.key for stored in self.objects(_folder(sha256))])

    def blobs(self) -> Iterator[Blob]:
        """Yield every blob of which there is a part, with the bytes that are there."""

        def name_of(stored: StoredObject) -> str:
            match = _PART.fullmatch(stored.key)
            return match[1] if match else ""

        for sha256, parts in groupby(self.objects(), key=name_of):
            if sha256:
                yield Blob(sha256, sum(part.size for part in parts))

    # -- whose store it is

    def owner(self) -> str | None:
        """Return the id of the ledger whose store it is; None if it has no label."""
        raw = self.read(LABEL)
        if raw is None:
            return None
        try:
            return str(json.loads(raw)["ledger"])
        except (ValueError, TypeError, KeyError):
            return ""  # no ledger's: it was changed from outside

    def give_to(self, ledger_id: str) -> None:
        """Write the label."""
        label = {"about": "blobs of an accordance ledger", "ledger": ledger_id}
        self.write(LABEL, json.dumps(label, indent=1).encode())


def _folder(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}/"


def _key(sha256: str, part: int) -> str:
    return f"{_folder(sha256)}{part:05}"
