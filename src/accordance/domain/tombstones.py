"""What is left of a deleted plan in the ledger's own chain.

The tombstone says where the plan's chain ended, and which numbers its events had, so
that the numbers of all other events can still be recomputed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accordance.domain.chain import Head


@dataclass(frozen=True, slots=True, kw_only=True)
class Tombstone:
    """A plan that was deleted."""

    plan_id: str
    title: str
    head: Head
    numbers: tuple[tuple[int, int], ...]
    """The numbers of its events, as ranges from the first to the last."""

    def to_json(self) -> dict[str, Any]:
        """The tombstone as plain JSON."""
        return {
            "plan_id": self.plan_id,
            "title": self.title,
            "events": self.head.seq,
            "head": self.head.hash,
            "numbers": [list(pair) for pair in self.numbers],
        }

    @property
    def all_numbers(self) -> Iterator[int]:
        """Every number that its events had."""
        for first, last in self.numbers:
            yield from range(first, last + 1)


def tombstone_from(payload: Mapping[str, Any]) -> Tombstone:
    """Return the tombstone of an event. Raises KeyError, TypeError or ValueError."""
    events = int(payload["events"])
    numbers = tuple((int(first), int(last)) for first, last in payload["numbers"])
    sizes = [last - first + 1 for first, last in numbers]
    counted = sum(sizes)
    if counted != events:
        raise ValueError("every event has one number")
    return Tombstone(
        plan_id=str(payload["plan_id"]),
        title=str(payload["title"]),
        head=Head(seq=events, hash=str(payload["head"])),
        numbers=numbers,
    )


def ranges_of(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return ascending numbers as ranges."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)
