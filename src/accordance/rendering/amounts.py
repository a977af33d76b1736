"""Tokens, money and numbers of things in words."""

from __future__ import annotations


def spending_text(
    *,
    tokens: int,
    calls: int,
    cost: float | None,
    is_estimated: bool,
) -> str:
    """Return tokens and calls in words, with the cost where the price is known."""
    about = "about " if is_estimated else ""
    money = ""
    if cost is not None:
        money = f", cost {cost:.4f}"
    call_count = "1 call" if calls == 1 else f"{calls:,} calls"
    return f"{about}{tokens:,} tokens in {call_count}{money}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 task`, `2 tasks`."""
    if number == 1:
        return f"{number:,} {noun}"
    return f"{number:,} {noun}s"
