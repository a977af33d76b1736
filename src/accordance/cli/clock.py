"""The time, for lines that say how long ago something was."""

from __future__ import annotations

import datetime as dt


def now() -> str:
    """The time as the ledger writes it."""
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
