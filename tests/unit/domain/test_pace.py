"""How long a run will still take: only where there is data."""

from __future__ import annotations

import pytest

from accordance.domain.lifecycle import State
from accordance.domain.pace import MOVES_BY_ITSELF, seconds_left


@pytest.mark.parametrize(
    ("finished", "remaining", "left"),
    [
        pytest.param(0, 10, None, id="nothing is finished: nobody can say"),
        pytest.param(2, 10, None, id="two tasks are no data"),
        pytest.param(3, 0, None, id="nothing is left"),
        pytest.param(3, 6, 60.0, id="twice as many take twice as long"),
    ],
)
def test_seconds_left(finished: int, remaining: int, left: float | None) -> None:
    """By the average of the run so far."""
    told = seconds_left(finished=finished, remaining=remaining, elapsed_seconds=30.0)
    assert told == left


def test_what_waits_for_a_person_is_not_counted() -> None:
    """Nobody knows how long a person takes."""
    others = {State.BLOCKED, State.DONE, State.ABANDONED, State.DEAD_LETTER}
    assert set(State) - MOVES_BY_ITSELF == others
