"""What runs have cost."""

from __future__ import annotations

from accordance.domain.spending import Spending
from accordance.service.views.base import View


class SpendingView(View):
    """Tokens and money of a run, or of many."""

    tokens: int
    read_tokens: int
    written_tokens: int
    cached_tokens: int
    cost: float | None
    calls: int
    estimated: bool


def spending_view(spent: Spending) -> SpendingView:
    """Show a sum."""
    return SpendingView(
        tokens=spent.tokens,
        read_tokens=spent.read,
        written_tokens=spent.written,
        cached_tokens=spent.cached,
        cost=spent.cost,
        calls=spent.calls,
        estimated=spent.estimated,
    )
