"""How long a run will still take, by how long it has taken so far."""

from __future__ import annotations

from typing import Final

from accordance.domain.lifecycle import State

ENOUGH_TO_TELL: Final = 3
"""Tasks that must have been finished before the rest is estimated."""
MOVES_BY_ITSELF: Final = frozenset(
    (
        State.PENDING,
        State.READY,
        State.IN_PROGRESS,
        State.READY_TO_CHECK,
        State.TO_BE_MODIFY,
        State.FAILED,
    )
)
"""The states of tasks that a run still has to do with; others wait for a person."""


def seconds_left(
    *,
    finished: int,
    remaining: int,
    elapsed_seconds: float,
) -> float | None:
    """Return how many seconds a run will still take; None where it cannot be estimated.

    `finished` are the tasks that this run has finished since it began. The estimate
    is the average of the run, with everything it does at once.
    """
    if finished < ENOUGH_TO_TELL or not remaining:
        return None
    return elapsed_seconds / finished * remaining
