"""Durations as people write them: `90`, `90s`, `10m`, `2h`, `500ms`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from accordance.domain.short_plans.entries import Entry, Leaf, expected

_WRITTEN: Final = re.compile(r"([0-9]{1,12})\s*(ms|s|m|h)?")
_MILLISECONDS: Final[Mapping[str, int]] = {
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}


def duration_in(entry: Entry, key: str) -> int:
    """Return a duration in milliseconds; a number alone counts seconds."""
    if isinstance(entry, Leaf) and not isinstance(entry.value, bool):
        match = _WRITTEN.fullmatch(str(entry.value).strip())
        if match is not None and int(match[1]):
            return int(match[1]) * _MILLISECONDS[match[2] or "s"]
    raise expected("a duration such as 90s, 10m or 2h", key, entry)


def duration_text(milliseconds: int) -> str:
    """Return a duration in the largest unit that says it in whole numbers."""
    for unit in ("h", "m", "s"):
        count, rest = divmod(milliseconds, _MILLISECONDS[unit])
        if not rest:
            return f"{count}{unit}"
    return f"{milliseconds}ms"
