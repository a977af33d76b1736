"""What the tests did when faults were put into changed lines: facts of an attempt."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TriedMutant:
    """A fault that was put into a changed line, and whether the tests still passed."""

    file: str
    line: int
    change: str
    survived: bool


@dataclass(frozen=True, slots=True)
class MutationCheck:
    """The faults that were tried on changed lines, of those that were chosen."""

    tried: tuple[TriedMutant, ...] = ()
    chosen: int = 0  # more than were tried, where the time was up
