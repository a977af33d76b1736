"""A name that fits several things names them, as far as a line goes."""

from __future__ import annotations

import pytest

from accordance.errors import AmbiguousName


@pytest.mark.parametrize(
    ("count", "way_out"),
    [
        pytest.param(2, "give an id: t0, t1", id="all of them"),
        pytest.param(7, "give an id: t0, t1, t2, t3, t4 and 2 more", id="some of many"),
    ],
)
def test_candidates(count: int, way_out: str) -> None:
    """The rest is counted."""
    error = AmbiguousName("task", "t", [f"t{at}" for at in range(count)])
    assert (error.text, error.way_out) == (f"'t' fits {count} tasks", way_out)
