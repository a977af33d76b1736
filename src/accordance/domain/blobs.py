"""Blobs: bytes that count, named by their hash, and where they are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

INLINE_BYTES: Final = 256 << 10
"""Blobs up to this size lie in the ledger's database, unless the settings differ."""
GRACE_HOURS: Final = 24
"""Hours after which bytes in the store that no row names are removed."""
PATIENCE_SECONDS: Final = 60
"""Seconds for which a store that is away is asked again."""
DATABASE: Final = "database"
"""The name of the store in which large blobs lie in the ledger's database, too."""


@dataclass(frozen=True, slots=True)
class Blob:
    """The name of some bytes, and how many there are."""

    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BlobConfig:
    """Where the blobs of a ledger are kept."""

    store: str | None = None
    """A folder, s3://BUCKET/PREFIX, or `database`.

    None: beside a SQLite ledger; in the database of any other.
    """
    inline_bytes: int = INLINE_BYTES
    endpoint: str | None = None  # of a store that is S3-compatible
    region: str | None = None
    grace_seconds: float = GRACE_HOURS * 3600.0
    patience_seconds: float = float(PATIENCE_SECONDS)
