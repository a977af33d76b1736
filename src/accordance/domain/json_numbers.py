"""Numbers in JSON: true and false are none, though Python counts them as whole numbers."""

from __future__ import annotations


def as_number(value: object) -> float | None:
    """Return a value that is a number; None for any other."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, int | float):
        return None
    return value


def as_whole_number(value: object) -> int | None:
    """Return a value that is written as a whole number; None for any other."""
    if isinstance(value, bool):
        return None
    if not isinstance(value, int):
        return None
    return value
