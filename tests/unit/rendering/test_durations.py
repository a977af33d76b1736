"""How long ago, and how much longer."""

from __future__ import annotations

import pytest

from accordance.rendering.durations import ago, duration, left

NOON = "2026-03-01T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-03-01T11:59:30.000000Z", "just now"),
        ("2026-03-01T12:00:05.000000Z", "just now"),
        ("2026-03-01T11:15:00.000000Z", "45 min ago"),
        ("2026-03-01T08:40:00.000000Z", "3 h 20 min ago"),
        ("2026-02-28T11:00:00.000000Z", "1 day ago"),
        ("2026-02-20T12:00:00.000000Z", "9 days ago"),
    ],
)
def test_ago(at: str, words: str) -> None:
    """In the largest units; a clock that is a little ahead does no harm."""
    assert ago(at, NOON) == words


@pytest.mark.parametrize(
    ("until", "words"),
    [
        ("2026-03-01T12:15:00.000000Z", "15 min left"),
        ("2026-03-01T14:00:00.000000Z", "2 h left"),
        ("2026-03-02T11:00:00.000000Z", "23 h left, until 2026-03-02 11:00 UTC"),
        ("2026-03-01T11:00:00.000000Z", "run out"),
    ],
)
def test_left(until: str, words: str) -> None:
    """A clock time of tomorrow never looks past."""
    assert left(until, NOON) == words


def test_seconds() -> None:
    """Less than a minute."""
    assert duration(44.6) == "45 s"
