"""What a run may cost: what is left for its task or its plan, whichever is less."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from accordance.domain.budgets import counted, left_for_plan, left_for_task
from accordance.domain.chain import ChainEntry
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import FORGIVES
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.domain.reservations import reservation, why_wait
from accordance.domain.routing import Choice
from accordance.domain.spending import Spending, tighter
from accordance.domain.usage import Budget
from accordance.executors.pricing import has_unknown_price, is_free
from accordance.store.ledger import Transaction
from accordance.work.run_log import RAN, spending_of

_FORGIVING_EVENTS: Final = frozenset(event.value for event in FORGIVES)


def budget_left(tx: Transaction, task_id: str, fuses: Fuses) -> Budget | str:
    """Return what another run of a task may cost, or why there may be no other run."""
    plan_id = tx.task(task_id).plan_id
    left = _left_for_task(tx, task_id, fuses)
    if isinstance(left, str):
        return left
    return tighter(left, plan_budget(tx.plan(plan_id)))


def share_of_plan(
    tx: Transaction, task: TaskRecord, choice: Choice
) -> Budget | str | None:
    """Return what an attempt reserves of its plan's budget, or why it has to wait.

    None where nothing bounds it, or nothing is left: then its run ends at once, and
    that says why.
    """
    plan = tx.plan(task.plan_id)
    fuses = plan.rules.fuses
    if fuses.tokens_per_run is None and fuses.cost_per_run is None:
        return None

    task_left = _left_for_task(tx, task.task_id, fuses)
    if isinstance(task_left, str):
        return None
    plan_left = plan_budget(plan)
    priced = priced_budget(choice, plan_left, fuses)
    if isinstance(priced, str):
        return None
    if is_free(choice.spec, choice.model):
        priced = replace(priced, cost=None)

    wanted = reservation(task_left, priced)
    if wanted is None:
        return None
    return why_wait(wanted, plan_left, tx.reserved(plan.plan_id)) or wanted


def _left_for_task(tx: Transaction, task_id: str, fuses: Fuses) -> Budget | str:
    """Return what is left for a task, or why there may be no other run of it."""
    if fuses.tokens_per_task is None and fuses.cost_per_task is None:
        return Budget()

    entries = _since_forgiven(tx.entries_of(task_id))
    runs = [spending_of(entry.payload) for entry in entries if entry.kind == RAN]
    return left_for_task(runs, fuses)


def plan_budget(plan: PlanRecord) -> Budget:
    """Return what is left for a plan as a whole, in this run of it."""
    return left_for_plan(plan.rules.fuses, plan.tokens, plan.cost)


def uses_up_plan(plan: PlanRecord, spent: Spending) -> bool:
    """Whether nothing is left for a plan after this spending."""
    return counted(spent, plan.rules.fuses).uses_up(plan_budget(plan))


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
