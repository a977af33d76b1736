"""Tokens, money and numbers of things in words."""

from __future__ import annotations

import pytest

from accordance.rendering.amounts import counted, spending_text


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
