"""What a plan can cost at most, by its fuses and the prices that are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from accordance.domain.fuses import Fuses

_MILLION: Final = 1_000_000
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class CostAtMost:
    """The limits of a plan. None: nothing limits it."""

    tasks: int
    calls: int | None
    tokens: int | None
    seconds: int | None
    money: float | None


def cost_at_most(
    fuses: Fuses,
    tasks: int,
    dearest_price: float | None = None,
) -> CostAtMost:
    """Return what a plan of so many tasks can use up before a person is asked.

    `dearest_price` is what a million tokens cost at most; None where it is unknown.
    """
    tokens = _limit(fuses.tokens_per_run, fuses.tokens_per_task, tasks)
    money = _limit(fuses.cost_per_run, fuses.cost_per_task, tasks)
    if tokens is not None and dearest_price is not None:
        by_tokens = tokens / _MILLION * dearest_price
        money = by_tokens if money is None else min(money, by_tokens)
    return CostAtMost(
        tasks=tasks,
        calls=_limit(fuses.calls_per_run, fuses.calls_per_task, tasks),
        tokens=tokens,
        seconds=fuses.run_seconds,
        money=money,
    )


def _limit(
    for_run: _Number | None,
    for_task: _Number | None,
    tasks: int,
) -> _Number | None:
    """Return the tighter of the limit of the whole run and that of each task."""
    limits = []
    if for_run is not None:
        limits.append(for_run)
    if for_task is not None:
        limits.append(for_task * tasks)
    return min(limits, default=None)
