"""What calls of a model cost: tokens as they were reported, or estimated where nobody reported them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from accordance.domain.case import Budget, Usage

BYTES_PER_TOKEN: Final = (
    4  # a rule of thumb, for answers that were broken off before they were counted
)
_MILLION: Final = 1_000_000
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost."""

    read: float = 0.0
    written: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """Tokens and money of one call or of many. `cost` is None where nobody knows a price."""

    read: int = 0
    written: int = 0
    cached: int = 0  # of those read
    cost: float | None = None
    calls: int = 0
    estimated: bool = False  # some of it was not reported, only reckoned

    @property
    def tokens(self) -> int:
        """All of them."""
        return self.read + self.written

    def __add__(self, other: Spending) -> Spending:
        known = [one.cost for one in (self, other) if one.cost is not None]
        return Spending(
            read=self.read + other.read,
            written=self.written + other.written,
            cached=self.cached + other.cached,
            cost=sum(known) if known else None,
            calls=self.calls + other.calls,
            estimated=self.estimated or other.estimated,
        )

    def uses_up(self, budget: Budget) -> bool:
        """Whether nothing of the budget is left for another call."""
        left = remaining(budget, self)
        return any(one is not None and one <= 0 for one in (left.tokens, left.cost))

    def usage(self, *, model: str | None, executor: str, duration_ms: int) -> Usage:
        """As the judge wants it; what nobody measured is None."""
        return Usage(
            tokens=self.tokens if self.calls else None,
            cost=self.cost,
            duration_ms=duration_ms,
            model=model,
            executor=executor,
        )


def remaining(budget: Budget, spent: Spending) -> Budget:
    """What is left of a budget. What nobody knows the cost of leaves nothing of the money."""
    cost = math.inf if spent.calls and spent.cost is None else spent.cost or 0.0
    return Budget(
        tokens=None if budget.tokens is None else budget.tokens - spent.tokens,
        cost=None if budget.cost is None else budget.cost - cost,
    )


def tighter(one: Budget, other: Budget) -> Budget:
    """The budget that keeps within both."""
    return Budget(
        tokens=_least(one.tokens, other.tokens), cost=_least(one.cost, other.cost)
    )


def _least(one: _Number | None, other: _Number | None) -> _Number | None:
    return min((limit for limit in (one, other) if limit is not None), default=None)


def total(spent: Iterable[Spending]) -> Spending:
    """All of it together."""
    return sum(spent, start=Spending())


def estimate(prompt: str, answer: str) -> Spending:
    """What a call probably cost that was broken off."""
    return reckoned(_bytes(prompt), _bytes(answer))


def reckoned(read: int, written: int) -> Spending:
    """What a call probably cost, by the bytes of what was asked and answered."""
    return Spending(
        read=_tokens(read), written=_tokens(written), calls=1, estimated=True
    )


def priced(spent: Spending, price: Price) -> float:
    """What it cost at that price."""
    return (spent.read * price.read + spent.written * price.written) / _MILLION


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)
