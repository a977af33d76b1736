"""What runs have cost, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accordance.service.views.spending import SpendingView


def spent_text(spent: SpendingView) -> str:
    """A sum in words: tokens, and money where somebody knows the price."""
    about = "about " if spent.estimated else ""
    cost = f", cost {spent.cost:.4f}" if spent.cost is not None else ""
    calls = "1 call" if spent.calls == 1 else f"{spent.calls:,} calls"
    return f"{about}{spent.tokens:,} tokens in {calls}{cost}"
