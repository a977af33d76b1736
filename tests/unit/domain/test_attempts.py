"""When something is tried again."""

from __future__ import annotations

import pytest

from accordance.domain.attempts import times_in_a_row, why_not_again


@pytest.mark.parametrize(
    ("failed", "same", "reason"),
    [
        pytest.param(1, 1, None, id="the first failure"),
        pytest.param(2, 1, None, id="another failure, and an attempt is left"),
        pytest.param(2, 2, "REPEATED_ERROR", id="the same failure again"),
        pytest.param(3, 1, "MAX_ATTEMPTS_EXCEEDED", id="no attempt is left"),
        pytest.param(
            3,
            3,
            "MAX_ATTEMPTS_EXCEEDED",
            id="both: the attempts are what a person counts",
        ),
    ],
)
def test_trying_again(failed: int, same: int, reason: str | None) -> None:
    """Three attempts, and never the same error twice in a row."""
    assert why_not_again(failed, 3, same, 2) == reason


@pytest.mark.parametrize(
    ("earlier", "count"),
    [([], 1), (["a"], 2), (["a", "b"], 1), (["b", "a", "a"], 3), (["a", "a", "b"], 1)],
)
def test_times_in_a_row(earlier: list[str], count: int) -> None:
    """Only an unbroken row at the end counts."""
    assert times_in_a_row(earlier, "a") == count
