"""Durations in words: exact, rough, and seen from now. The caller brings the time."""

from __future__ import annotations

import datetime as dt
from typing import Final

_MINUTE: Final = 60
_HOUR: Final = 60 * _MINUTE
_DAY: Final = 24 * _HOUR


def duration_text(seconds: float) -> str:
    """Return a duration for people: `4.2 s`, `3 min 07 s`, `2 h 05 min`, `3 d 4 h`."""
    whole = round(seconds)
    if seconds < _MINUTE and whole < _MINUTE:
        return f"{seconds:.1f} s"
    if whole < _HOUR:
        minutes, rest = divmod(whole, _MINUTE)
        return f"{minutes} min {rest:02d} s"
    if whole < _DAY:
        hours, rest = divmod(whole, _HOUR)
        return f"{hours} h {rest // _MINUTE:02d} min"
    days, rest = divmod(whole, _DAY)
    hours = rest // _HOUR
    if not hours:
        return f"{days} d"
    return f"{days} d {hours} h"


def ago(at: str, now: str) -> str:
    """Say how long ago a time of the ledger was."""
    seconds = _seconds(at, now)
    if seconds < _MINUTE:
        return "just now"
    return f"{rough_duration(seconds)} ago"


def left(until: str, now: str) -> str:
    """Say how much longer something lasts, with the date unless that is today.

    A clock time alone would look past where it is tomorrow's.
    """
    seconds = _seconds(now, until)
    if seconds <= 0:
        return "run out"
    words = f"{rough_duration(seconds)} left"
    is_today = until[:10] == now[:10]
    if is_today:
        return words
    return f"{words}, until {until[:10]} {until[11:16]} UTC"


def rough_duration(seconds: float) -> str:
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
