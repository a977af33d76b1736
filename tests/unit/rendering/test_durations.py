"""Durations: exact, rough, and seen from now."""

from __future__ import annotations

import pytest

from accordance.rendering.durations import ago, duration_text, left, rough_duration

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
    assert rough_duration(44.6) == "45 s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(0, "0.0 s", id="nothing"),
        pytest.param(4.24, "4.2 s", id="seconds with a tenth"),
        pytest.param(59.96, "1 min 00 s", id="never sixty seconds"),
        pytest.param(187, "3 min 07 s", id="minutes"),
        pytest.param(3600, "1 h 00 min", id="an hour"),
        pytest.param(7_530, "2 h 05 min", id="hours, without seconds"),
        pytest.param(259_200, "3 d", id="whole days"),
        pytest.param(275_000, "3 d 4 h", id="days and hours"),
    ],
)
def test_a_duration(seconds: float, text: str) -> None:
    """Two units at most."""
    assert duration_text(seconds) == text
