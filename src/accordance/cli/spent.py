"""The cost of runs, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accordance.rendering.amounts import spending_text

if TYPE_CHECKING:
    from accordance.service.views.spending import SpendingView


def spent_text(spent: SpendingView) -> str:
    """Tokens and calls in words, with the cost where the price is known."""
    return spending_text(
        tokens=spent.tokens,
        calls=spent.calls,
        cost=spent.cost,
        is_estimated=spent.estimated,
    )
