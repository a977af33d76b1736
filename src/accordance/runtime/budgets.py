"""What a run may cost: what is left for its task or for its plan, whichever is less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.case import Budget
from accordance.domain.chain import ChainEntry
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import FORGIVES
from accordance.domain.records import PlanRecord
from accordance.domain.routing import Choice
from accordance.domain.spending import Spending, remaining, tighter, total
from accordance.executors.pricing import nobody_knows
from accordance.store.ledger import Transaction
from accordance.work.run_log import RAN, spending_of

_FORGIVEN_BY: Final = frozenset(event.value for event in FORGIVES)


def budget_left(tx: Transaction, task_id: str, fuses: Fuses) -> Budget | str:
    """What another run of a task may cost, or why it may cost nothing any more."""
    of_plan = plan_budget(tx.plan(tx.task(task_id).plan_id))
    if fuses.tokens_per_task is None and fuses.cost_per_task is None:
        return of_plan
    runs = [
        spending_of(entry.payload)
        for entry in _since_forgiven(tx.entries_of(task_id))
        if entry.kind == RAN
    ]
    spent, unpriced = total(runs), sum(run.calls for run in runs if run.cost is None)
    left = remaining(
        Budget(tokens=fuses.tokens_per_task, cost=fuses.cost_per_task), spent
    )
    if left.tokens is not None and left.tokens <= 0:
        return f"tokens_per_task: {spent.tokens:,} of {fuses.tokens_per_task:,} tokens are used up"
    if left.cost is not None and unpriced:
        return f"cost_per_task: nobody knows the price of {unpriced:,} of its calls; say so with `prices` in accordance.toml"
    if left.cost is not None and left.cost <= 0:
        return (
            f"cost_per_task: {spent.cost:.2f} of {fuses.cost_per_task:.2f} are used up"
        )
    return tighter(left, of_plan)


def plan_budget(plan: PlanRecord) -> Budget:
    """What is left for a plan as a whole, in this run of it."""
    fuses = plan.rules.fuses
    spent = Spending(read=plan.tokens, cost=plan.cost)
    return remaining(
        Budget(tokens=fuses.tokens_per_run, cost=fuses.cost_per_run), spent
    )


def why_unpriced(choice: Choice, budget: Budget) -> str | None:
    """Why a run whose cost is bounded cannot begin: nobody knows what its model costs."""
    if budget.cost is None or not nobody_knows(choice.spec, choice.model):
        return None
    return (
        f"a fuse bounds the cost, and nobody knows what the model {choice.model} costs; say so in accordance.toml: "
        f"[executors.{choice.executor}.prices] with {{ input, output }} for a million tokens, or take the fuse out"
    )


def _since_forgiven(entries: list[ChainEntry]) -> Iterator[ChainEntry]:
    """The events since a person last gave the task a chance."""
    last = max(
        (at for at, entry in enumerate(entries) if entry.kind in _FORGIVEN_BY),
        default=-1,
    )
    yield from entries[last + 1 :]
