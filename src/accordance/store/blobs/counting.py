"""How many blobs there are, and whether those in the store are as they were kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, text

from accordance.domain.blobs import Blob
from accordance.errors import BlobChanged, BlobMissing
from accordance.store.blobs.keeper import BlobKeeper
from accordance.store.looking import looking

_COUNTS: Final = text(
    "SELECT (SELECT count(DISTINCT sha256) FROM blobs),"
    " (SELECT coalesce(sum(length(content)), 0) FROM blobs),"
    " (SELECT count(*) FROM blob_objects),"
    " (SELECT coalesce(sum(size), 0) FROM blob_objects),"
    " (SELECT count(*) FROM loose_blobs)"
)
_STORED: Final = text("SELECT sha256, size FROM blob_objects ORDER BY sha256")


@dataclass(frozen=True, slots=True)
class BlobCounts:
    """Blobs and bytes, in the database and in the store."""

    in_database: int
    bytes_in_database: int
    in_store: int
    bytes_in_store: int
    loose: int


def count_blobs(engine: Engine) -> BlobCounts:
    """Count all blobs of a ledger."""
    with looking(engine) as connection:
        counts = connection.execute(_COUNTS).one()
    return BlobCounts(*map(int, counts))


def check_stored(
    engine: Engine, keeper: BlobKeeper
) -> Iterator[tuple[Blob, str | None]]:
    """Read every blob in the store; yield it with what is wrong, if anything.

    Raises BlobStoreUnavailable, BlobStoreForeign.
    """
    with looking(engine) as connection:
        blobs = [Blob(*row) for row in connection.execute(_STORED)]
        for blob in blobs:
            yield blob, _problem(connection, keeper, blob)


def _problem(connection: Connection, keeper: BlobKeeper, blob: Blob) -> str | None:
    try:
        for _ in keeper.chunks(connection, blob):
            pass
    except BlobMissing:
        return "missing"
    except BlobChanged:
        return "changed"
    return None
