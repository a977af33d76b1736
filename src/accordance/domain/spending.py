"""What calls of a model cost: tokens as reported, or estimated without a report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from accordance.domain.usage import Budget, Usage

BYTES_PER_TOKEN: Final = 4
"""A rule of thumb, for answers that broke off before their tokens were counted."""

_MILLION: Final = 1_000_000
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost."""

    read: float = 0.0
    written: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Tokens and money of some calls. `cost` is None where the price is unknown."""

    read: int = 0
    written: int = 0
    cached: int = 0  # part of `read`
    cost: float | None = None
    calls: int = 0
    estimated: bool = False  # some of it was not reported

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.read + self.written

    def __add__(self, other: Spending) -> Spending:
        known_costs = [
            spending.cost for spending in (self, other) if spending.cost is not None
        ]
        is_estimated = self.estimated or other.estimated
        return Spending(
            read=self.read + other.read,
            written=self.written + other.written,
            cached=self.cached + other.cached,
            cost=sum(known_costs) if known_costs else None,
            calls=self.calls + other.calls,
            estimated=is_estimated,
        )

    def uses_up(self, budget: Budget) -> bool:
        """Whether nothing of the budget is left for another call."""
        left = remaining(budget, self)
        tokens_are_used_up = left.tokens is not None and left.tokens <= 0
        money_is_used_up = left.cost is not None and left.cost <= 0
        return tokens_are_used_up or money_is_used_up

    def usage(self, *, model: str | None, executor: str, duration_ms: int) -> Usage:
        """Return it as the judge wants it; None is what was not measured."""
        return Usage(
            tokens=self.tokens if self.calls else None,
            cost=self.cost,
            duration_ms=duration_ms,
            model=model,
            executor=executor,
        )


def remaining(budget: Budget, spent: Spending) -> Budget:
    """Return what is left of a budget. A call of unknown cost leaves no money."""
    tokens_left = None
    if budget.tokens is not None:
        tokens_left = budget.tokens - spent.tokens

    cost_is_unknown = spent.calls > 0 and spent.cost is None
    cost = math.inf if cost_is_unknown else spent.cost or 0.0
    cost_left = None
    if budget.cost is not None:
        cost_left = budget.cost - cost

    return Budget(tokens=tokens_left, cost=cost_left)


def tighter(first: Budget, second: Budget) -> Budget:
    """Return the budget that keeps within both."""
    tokens = _lower_limit(first.tokens, second.tokens)
    cost = _lower_limit(first.cost, second.cost)
    return Budget(tokens=tokens, cost=cost)


def _lower_limit(first: _Number | None, second: _Number | None) -> _Number | None:
    if first is None:
        return second
    if second is None:
        return first
    return min(first, second)


def total(spent: Iterable[Spending]) -> Spending:
    """Return the sum of all spending."""
    return sum(spent, start=Spending())


def estimate(prompt: str, answer: str) -> Spending:
    """Return what a call that broke off probably cost."""
    return estimate_from_bytes(_bytes(prompt), _bytes(answer))


def estimate_from_bytes(read: int, written: int) -> Spending:
    """Return what a call probably cost, by the bytes of question and answer."""
    return Spending(
        read=_tokens(read),
        written=_tokens(written),
        calls=1,
        estimated=True,
    )


def priced(spent: Spending, price: Price) -> float:
    """Return the cost of the tokens at a price."""
    cost_of_read = spent.read * price.read
    cost_of_written = spent.written * price.written
    return (cost_of_read + cost_of_written) / _MILLION


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _tokens(size: int) -> int:
    """Return the tokens of so many bytes, rounded up."""
    return -(-size // BYTES_PER_TOKEN)
