"""What a run may cost: what is left for its task or its plan, whichever is less."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from accordance.domain.chain import ChainEntry
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import FORGIVES
from accordance.domain.records import PlanRecord
from accordance.domain.routing import Choice
from accordance.domain.spending import Spending, remaining, tighter, total
from accordance.domain.usage import Budget
from accordance.executors.pricing import has_unknown_price
from accordance.store.ledger import Transaction
from accordance.work.run_log import RAN, spending_of

_FORGIVING_EVENTS: Final = frozenset(event.value for event in FORGIVES)


def budget_left(tx: Transaction, task_id: str, fuses: Fuses) -> Budget | str:
    """Return what another run of a task may cost, or why there may be no other run."""
    plan_id = tx.task(task_id).plan_id
    left_for_plan = plan_budget(tx.plan(plan_id))
    if fuses.tokens_per_task is None and fuses.cost_per_task is None:
        return left_for_plan

    entries = _since_forgiven(tx.entries_of(task_id))
    runs = [spending_of(entry.payload) for entry in entries if entry.kind == RAN]
    spent = total(runs)
    task_budget = Budget(tokens=fuses.tokens_per_task, cost=fuses.cost_per_task)
    left = remaining(task_budget, _counted(spent, fuses))

    if left.tokens is not None and left.tokens <= 0:
        return (
            f"tokens_per_task: {spent.tokens:,} of {fuses.tokens_per_task:,} tokens"
            " are used up"
        )
    if left.cost is not None:
        unpriced = sum(run.calls for run in runs if run.cost is None)
        if unpriced and fuses.unpriced == "refuse":
            return (
                f"cost_per_task: the price of {unpriced:,} of its calls is unknown;"
                " set `prices` in accordance.toml"
            )
        if left.cost <= 0:
            cost = spent.cost or 0.0
            return f"cost_per_task: {cost:.2f} of {fuses.cost_per_task:.2f} are used up"
    return tighter(left, left_for_plan)


def _counted(spent: Spending, fuses: Fuses) -> Spending:
    """Return what counts of a spending.

    Where runs of unknown price are let run, their cost does not.
    """
    if fuses.unpriced == "run" and spent.cost is None:
        return replace(spent, cost=0.0)
    return spent


def plan_budget(plan: PlanRecord) -> Budget:
    """Return what is left for a plan as a whole, in this run of it."""
    fuses = plan.rules.fuses
    whole = Budget(tokens=fuses.tokens_per_run, cost=fuses.cost_per_run)
    spent = Spending(read=plan.tokens, cost=plan.cost)
    return remaining(whole, spent)


def uses_up_plan(plan: PlanRecord, spent: Spending) -> bool:
    """Whether nothing is left for a plan after this spending."""
    return _counted(spent, plan.rules.fuses).uses_up(plan_budget(plan))


def priced_budget(choice: Choice, budget: Budget, fuses: Fuses) -> Budget | str:
    """Return the budget of a run, or why it cannot begin.

    It cannot where its cost is bounded and its price unknown, unless the fuses let
    such runs run: then nothing but the tokens bounds them.
    """
    if budget.cost is None or not has_unknown_price(choice.spec, choice.model):
        return budget
    if fuses.unpriced == "run":
        return replace(budget, cost=None)
    return (
        f"a fuse bounds the cost, but the price of the model {choice.model} is unknown;"
        f" set [executors.{choice.executor}.prices] in accordance.toml to"
        " { input, output } for a million tokens, or remove the fuse"
    )


def _since_forgiven(entries: list[ChainEntry]) -> list[ChainEntry]:
    """Return the events since a person last gave the task another chance."""
    first = 0
    for index, entry in enumerate(entries):
        if entry.kind in _FORGIVING_EVENTS:
            first = index + 1
    return entries[first:]
