"""Times as the ledger writes them, for leases and for how long a plan has run."""

from __future__ import annotations

import datetime as dt
from typing import Final

LEASE_SECONDS: Final = 15 * 60
_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


def later(now: str, seconds: float) -> str:
    """Return the time so many seconds later, as the ledger writes it."""
    time = _parsed(now) + dt.timedelta(seconds=seconds)
    return time.strftime(_TIME)


def seconds_between(start: str, end: str) -> float:
    """Return how many seconds lie between two times of the ledger."""
    elapsed = _parsed(end) - _parsed(start)
    return elapsed.total_seconds()


def _parsed(time: str) -> dt.datetime:
    return dt.datetime.fromisoformat(time)
