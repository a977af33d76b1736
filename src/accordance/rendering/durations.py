"""How long ago, and how much longer, in words. The caller brings the time."""

from __future__ import annotations

import datetime as dt
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def ago(at: str, now: str) -> str:
    """Say how long ago a time of the ledger was."""
    seconds = _seconds(at, now)
    if seconds < _MINUTE:
        return "just now"
    return f"{duration(seconds)} ago"


def left(until: str, now: str) -> str:
    """Say how much longer something lasts, with the date unless that is today.

    A clock time alone would look past where it is tomorrow's.
    """
    seconds = _seconds(now, until)
    if seconds <= 0:
        return "run out"
    words = f"{duration(seconds)} left"
    is_today = until[:10] == now[:10]
    if is_today:
        return words
    return f"{words}, until {until[:10]} {until[11:16]} UTC"


def duration(seconds: float) -> str:
    """Return a duration in its largest units: `2 days`, `3 h 20 min`, `45 s`."""
    whole = max(0, round(seconds))
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min"
    if whole < _DAY:
        hours, rest = divmod(whole, _HOUR)
        minutes = rest // _MINUTE
        if minutes:
            return f"{hours} h {minutes} min"
        return f"{hours} h"
    days = whole // _DAY
    if days == 1:
        return f"{days} day"
    return f"{days} days"


def _seconds(start: str, end: str) -> float:
    difference = dt.datetime.fromisoformat(end) - dt.datetime.fromisoformat(start)
    return difference.total_seconds()
