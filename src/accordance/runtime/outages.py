"""What people read when a database, a disk or a blob store is away, and will be back."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from accordance.errors import BlobStoreUnavailable, LedgerUnavailable

AWAY: Final = (
    OperationalError,
    InterfaceError,
    PoolTimeout,
    LedgerUnavailable,
    BlobStoreUnavailable,
)
"""The database is away or busy; a disk or a blob store takes nothing. All of it passes."""
OUTAGES: Final = (DBAPIError, *AWAY)
"""What may be an outage; `passes` says whether it is."""


def passes(error: Exception) -> bool:
    """Whether the same will do later: something is away, or the database hung up."""
    has_hung_up = isinstance(error, DBAPIError) and error.connection_invalidated
    return has_hung_up or isinstance(error, AWAY)
