"""The cost of runs, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accordance.service.views.spending import SpendingView


def spent_text(spent: SpendingView) -> str:
    """Tokens and calls in words, with the cost where the price is known."""
    about = "about " if spent.estimated else ""
    cost = f", cost {spent.cost:.4f}" if spent.cost is not None else ""
    calls = "1 call" if spent.calls == 1 else f"{spent.calls:,} calls"
    return f"{about}{spent.tokens:,} tokens in {calls}{cost}"
