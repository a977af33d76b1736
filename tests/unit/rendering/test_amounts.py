"""Durations, tokens and money in words."""

from __future__ import annotations

import pytest

from accordance.rendering.amounts import counted, duration_text, spending_text


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


@pytest.mark.parametrize(
    ("calls", "cost", "is_estimated", "text"),
    [
        pytest.param(1, None, False, "1,234 tokens in 1 call", id="no price"),
        pytest.param(
            2, 0.5, False, "1,234 tokens in 2 calls, cost 0.5000", id="priced"
        ),
        pytest.param(2, None, True, "about 1,234 tokens in 2 calls", id="estimated"),
    ],
)
def test_spending(
    calls: int, cost: float | None, is_estimated: bool, text: str
) -> None:
    """What is not known is left out, and what is estimated says so."""
    spent = spending_text(
        tokens=1234, calls=calls, cost=cost, is_estimated=is_estimated
    )
    assert spent == text


def test_a_noun_with_its_number() -> None:
    """One is not many."""
    assert (counted(1, "task"), counted(2000, "task")) == ("1 task", "2,000 tasks")
