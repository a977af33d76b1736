"""What fuses leave for a task and for a plan, after what their runs have used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from accordance.domain.fuses import Fuses
from accordance.domain.spending import Spending, remaining, total
from accordance.domain.usage import Budget


def left_for_task(runs: Sequence[Spending], fuses: Fuses) -> Budget | str:
    """Return what is left for a task, or why there may be no other run of it.

    `runs` are those since a person last gave it another chance.
    """
    spent = total(runs)
    whole = Budget(tokens=fuses.tokens_per_task, cost=fuses.cost_per_task)
    left = remaining(whole, counted(spent, fuses))

    if left.tokens is not None and left.tokens <= 0:
        return (
            f"tokens_per_task: {spent.tokens:,} of {fuses.tokens_per_task:,} tokens"
            " are used up"
        )
    if left.cost is None:
        return left

    unpriced = sum(run.calls for run in runs if run.cost is None)
    if unpriced and fuses.unpriced == "refuse":
        return (
            f"cost_per_task: the price of {unpriced:,} of its calls is unknown;"
            " set `prices` in accordance.toml"
        )
    if left.cost <= 0:
        cost = spent.cost or 0.0
        return f"cost_per_task: {cost:.2f} of {fuses.cost_per_task:.2f} are used up"
    return left


def left_for_plan(fuses: Fuses, tokens: int, cost: float) -> Budget:
    """Return what is left for a plan after its run has used so much."""
    whole = Budget(tokens=fuses.tokens_per_run, cost=fuses.cost_per_run)
    return remaining(whole, Spending(read=tokens, cost=cost))


def counted(spent: Spending, fuses: Fuses) -> Spending:
    """Return what counts of a spending.

    Where runs of unknown price are let run, their cost does not.
    """
    if fuses.unpriced == "run" and spent.cost is None:
        return replace(spent, cost=0.0)
    return spent
