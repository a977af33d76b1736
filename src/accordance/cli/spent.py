"""What runs have cost, for people and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accordance.domain.spending import Spending


def spent_json(by_task: Mapping[str | None, Spending]) -> dict[str, Any]:
    """All of it together, and task by task; what was spent on the plan as a whole stands under an empty name."""
    from accordance.domain.spending import total

    return {
        "spent": one_json(total(by_task.values())),
        "spent_by_task": {task or "": one_json(spent) for task, spent in by_task.items()},
    }


def one_json(spent: Spending) -> dict[str, Any]:
    """One sum."""
    return {
        "tokens": spent.tokens,
        "read_tokens": spent.read,
        "written_tokens": spent.written,
        "cached_tokens": spent.cached,
        "cost": spent.cost,
        "calls": spent.calls,
        "estimated": spent.estimated,
    }


def spent_text(spent: Mapping[str, Any]) -> str:
    """One sum in words: tokens, and money where somebody knows the price."""
    about = "about " if spent["estimated"] else ""
    cost = f", cost {spent['cost']:.4f}" if spent["cost"] is not None else ""
    calls = "1 call" if spent["calls"] == 1 else f"{spent['calls']:,} calls"
    return f"{about}{spent['read_tokens'] + spent['written_tokens']:,} tokens in {calls}{cost}"
