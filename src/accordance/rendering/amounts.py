"""Durations, tokens and money in words."""

from __future__ import annotations

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
    if hours:
        return f"{days} d {hours} h"
    return f"{days} d"


def spending_text(
    *, tokens: int, calls: int, cost: float | None, is_estimated: bool
) -> str:
    """Return tokens and calls in words, with the cost where the price is known."""
    about = "about " if is_estimated else ""
    money = f", cost {cost:.4f}" if cost is not None else ""
    call_count = "1 call" if calls == 1 else f"{calls:,} calls"
    return f"{about}{tokens:,} tokens in {call_count}{money}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 task`, `2 tasks`."""
    if number == 1:
        return f"{number:,} {noun}"
    return f"{number:,} {noun}s"
