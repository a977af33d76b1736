"""Own work: nobody reviews what they made themselves, unless `[review] own_work = true` in accordance.toml allows it.

Who made a product is read from its task's events: an executor with its model, where accordance had one run; else whoever
took the task up under a name. A program (kind `command`) has no opinion of its own work: it may do both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.domain.executor_specs import AgentSpec, LlmSpec
from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Choice, Routing
from accordance.errors import NoExecutor, OwnWork
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import wanted_in
from accordance.work.run_log import PROMPTED

_ALLOW: Final = "or set own_work = true under [review] in accordance.toml"
_UNNAMED: Final = (
    "submit"  # a message that came without anybody having taken its task up
)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who made a product."""

    holder: str | None = None  # whoever took the task up, under that name
    executor: str | None = (
        None  # of accordance's own; then the holder is only the process that ran it
    )
    model: str | None = None

    def is_worker(self, name: str) -> bool:
        """Whether it was the worker of that name."""
        return self.executor is None and self.holder == name

    def is_choice(self, choice: Choice) -> bool:
        """Whether it was this executor, with this model."""
        has_opinions = isinstance(choice.spec, AgentSpec | LlmSpec)
        return has_opinions and (self.executor, self.model) == (
            choice.executor,
            choice.model,
        )


def maker_of(tx: Transaction, task: TaskRecord) -> Maker:
    """Who made the current product of a task: whoever had its last attempt."""
    maker = Maker()
    for entry in tx.entries_of(task.task_id):
        said: Mapping[str, Any] = entry.payload
        if entry.kind == Event.CLAIMED:
            holder = said.get("holder")
            maker = Maker(None if holder == _UNNAMED else holder)
        elif entry.kind == PROMPTED and said.get("kind") == "action":
            maker = replace(
                maker, executor=said.get("executor"), model=said.get("model")
            )
    return maker


def reviewed_by(tx: Transaction, task: TaskRecord) -> TaskRecord | None:
    """The task whose product is reviewed when a task is taken up now; None if there is nothing to review."""
    if task.checks:
        return tx.task(task.checks)
    return task if task.progress.state is State.READY_TO_CHECK else None


def is_own_work(tx: Transaction, task: TaskRecord, worker: str) -> bool:
    """Whether taking up a task means to review what the worker made."""
    product_of = reviewed_by(tx, task)
    return product_of is not None and maker_of(tx, product_of).is_worker(worker)


def why_not_own(tx: Transaction, task: TaskRecord, worker: str) -> str | None:
    """Why a worker may not review the product of a task, if it is their own."""
    if not maker_of(tx, task).is_worker(worker):
        return None
    return (
        f"{worker} made this product of task {task.task_id} and cannot review it; let another worker review it"
        f", {_ALLOW}"
    )


def another_reviewer(choice: Choice, maker: Maker) -> Choice | None:
    """Who reviews instead of the maker: the strongest other model of the same executor, if there is one."""
    others = {
        model: tier for model, tier in choice.tiers.items() if model != maker.model
    }
    if not others:
        return None
    model = min(others, key=lambda name: (others[name], name))
    return replace(choice, model=model, tier=others[model])


def cannot_review(choice: Choice, task_id: str) -> str:
    """Why the executor of a review may not do it."""
    return (
        f"{_named(choice)} made this product of task {task_id} and cannot review it; give reviews to another model"
        f' (a route with kind = "review"), {_ALLOW}'
    )


def must_have_others_review(tx: Transaction, plan_id: str, routing: Routing) -> None:
    """Refuse routes by which a model would review its own products, before anything is paid for. Raises OwnWork."""
    modelled = {
        name
        for name, spec in routing.executors.items()
        if isinstance(spec, AgentSpec | LlmSpec)
    }
    if not any(
        route.executor in modelled and route.kind != "action"
        for route in routing.routes
    ):
        return
    seen: set[tuple[object, ...]] = set()
    for task in tx.tasks(plan_id, *(state for state in State if state not in TERMINAL)):
        like = (
            task.owner_agent_id,
            task.node_type,
            task.tags,
            task.is_checked and task.task_id,
        )
        if task.is_work and not task.checks and like not in seen:
            seen.add(like)
            _must_have_another(tx, task, routing)


def _must_have_another(tx: Transaction, task: TaskRecord, routing: Routing) -> None:
    checks = (
        [tx.task(name) for name in tx.node(task.task_id).checked_by]
        if task.is_checked
        else [task]
    )
    try:
        maker = routing.choose(wanted_in(tx, task, "action"))
        reviewers = [routing.choose(wanted_in(tx, check, "review")) for check in checks]
    except NoExecutor:  # that is told elsewhere
        return
    for reviewer in reviewers:
        made = Maker(executor=maker.executor, model=maker.model)
        if made.is_choice(reviewer) and another_reviewer(reviewer, made) is None:
            raise OwnWork(
                f"{_named(reviewer)} would review its own products; give reviews to another model (a route with"
                f' kind = "review"), {_ALLOW}'
            )


def _named(choice: Choice) -> str:
    return f"{choice.executor} ({choice.model})" if choice.model else choice.executor
