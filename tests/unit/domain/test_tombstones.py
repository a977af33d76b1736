"""What is left of a deleted plan."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.chain import Head
from accordance.domain.tombstones import Tombstone, ranges_of, tombstone_from

TOMBSTONE = Tombstone(
    plan_id="p", title="A plan", head=Head(seq=4, hash="h"), numbers=((1, 3), (7, 7))
)


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        pytest.param([], (), id="none"),
        pytest.param([5], ((5, 5),), id="one"),
        pytest.param([1, 2, 3], ((1, 3),), id="a row"),
        pytest.param([1, 3, 4, 9], ((1, 1), (3, 4), (9, 9)), id="gaps"),
    ],
)
def test_numbers_as_ranges(
    numbers: list[int], expected: tuple[tuple[int, int], ...]
) -> None:
    """Events of other plans lie between those of a plan."""
    assert ranges_of(numbers) == expected


def test_a_tombstone_can_be_read_again() -> None:
    """With every number that an event of the plan had."""
    assert tombstone_from(TOMBSTONE.to_json()) == TOMBSTONE
    assert list(TOMBSTONE.all_numbers) == [1, 2, 3, 7]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"numbers": [[1, 10**12]]}, id="more numbers than events"),
        pytest.param({"numbers": "many"}, id="no numbers"),
        pytest.param({"events": None}, id="no events"),
    ],
)
def test_a_tombstone_that_is_none(changes: dict[str, Any]) -> None:
    """It is not counted through."""
    with pytest.raises((KeyError, TypeError, ValueError)):
        tombstone_from({**TOMBSTONE.to_json(), **changes})
