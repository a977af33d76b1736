"""Own work: workers do not review what they made themselves.

`[review] own_work = true` in accordance.toml allows it. The maker of a product is read
from the events of its task: the executor with its model, where accordance ran it; else
the worker who took the task up under a name. A program (kind `command`) has no opinion
of its own work, so it may do both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accordance.domain.access import author_behind
from accordance.domain.executor_specs import AgentSpec, LlmSpec
from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Choice, Routing
from accordance.errors import NoExecutor, OwnWork
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import wanted_in
from accordance.work.landing import REBASES
from accordance.work.run_log import PROMPTED

_ALLOW: Final = "or set own_work = true under [review] in accordance.toml"
_UNNAMED: Final = "submit"
"""The holder of a task that was handed in without being taken up."""
_OPEN_STATES: Final = tuple(state for state in State if state not in TERMINAL)


@dataclass(frozen=True, slots=True)
class Maker:
    """Who made a product."""

    holder: str | None = None  # the worker who took the task up
    executor: str | None = None
    """An executor that accordance ran; the holder is then the process it ran in."""
    model: str | None = None

    def is_worker(self, name: str) -> bool:
        """Whether the maker is the worker of that name, or another of the same key."""
        if self.executor is not None or self.holder is None:
            return False
        return author_behind(self.holder) == author_behind(name)

    def is_choice(self, choice: Choice) -> bool:
        """Whether the maker is this executor, with this model."""
        if not isinstance(choice.spec, AgentSpec | LlmSpec):
            return False
        return (self.executor, self.model) == (choice.executor, choice.model)


def maker_of(tx: Transaction, task: TaskRecord) -> Maker:
    """Return who made the current product of a task, in its last attempt."""
    maker = Maker()
    for entry in tx.entries_of(task.task_id):
        payload: Mapping[str, Any] = entry.payload
        if REBASES in payload:
            continue  # no executor worked in that attempt
        if entry.kind == Event.CLAIMED:
            holder = payload.get("holder")
            maker = Maker(None if holder == _UNNAMED else holder)
        elif entry.kind == PROMPTED and payload.get("kind") == "action":
            executor, model = payload.get("executor"), payload.get("model")
            maker = replace(maker, executor=executor, model=model)
    return maker


def reviewed_by(tx: Transaction, task: TaskRecord) -> TaskRecord | None:
    """Return the task whose product the next worker on a task reviews, if any."""
    if task.checks:
        return tx.task(task.checks)
    return task if task.progress.state is State.READY_TO_CHECK else None


def is_own_work(tx: Transaction, task: TaskRecord, worker: str) -> bool:
    """Whether a worker who takes up a task would review their own product."""
    reviewed = reviewed_by(tx, task)
    return reviewed is not None and maker_of(tx, reviewed).is_worker(worker)


def why_not_own(tx: Transaction, task: TaskRecord, worker: str) -> str | None:
    """Return why a worker may not review the product of a task, if it is their own."""
    if not maker_of(tx, task).is_worker(worker):
        return None
    return (
        f"{worker} made this product of task {task.task_id} and cannot review it;"
        f" let another worker review it, {_ALLOW}"
    )


def another_reviewer(choice: Choice, maker: Maker) -> Choice | None:
    """Return the strongest other model of the same executor, if there is any."""
    tiers = {
        model: tier for model, tier in choice.tiers.items() if model != maker.model
    }
    if not tiers:
        return None
    model = min(tiers, key=lambda name: (tiers[name], name))
    return replace(choice, model=model, tier=tiers[model])


def cannot_review(choice: Choice, task_id: str) -> str:
    """Return why the executor of a review may not do it."""
    return (
        f"{_name_of(choice)} made this product of task {task_id} and cannot review it;"
        f' give reviews to another model (a route with kind = "review"), {_ALLOW}'
    )


def must_have_others_review(tx: Transaction, plan_id: str, routing: Routing) -> None:
    """Refuse routes by which a model would review its own products. Raises OwnWork.

    That happens before anything is paid for.
    """
    if not _routes_reviews_to_models(routing):
        return

    checked: set[tuple[object, ...]] = set()
    for task in tx.tasks(plan_id, *_OPEN_STATES):
        if not task.is_work or task.checks:
            continue
        # tasks that look the same to the routes need to be checked only once
        checks_of = task.task_id if task.is_checked else None
        features = (task.owner_agent_id, task.node_type, task.tags, checks_of)
        if features not in checked:
            checked.add(features)
            _must_have_another(tx, task, routing)


def _routes_reviews_to_models(routing: Routing) -> bool:
    models = {
        name
        for name, spec in routing.executors.items()
        if isinstance(spec, AgentSpec | LlmSpec)
    }
    reviewers = {route.executor for route in routing.routes if route.kind != "action"}
    return not models.isdisjoint(reviewers)


def _must_have_another(tx: Transaction, task: TaskRecord, routing: Routing) -> None:
    checks = [task]
    if task.is_checked:
        checks = [tx.task(check_id) for check_id in tx.node(task.task_id).checked_by]

    try:
        choice = routing.choose(wanted_in(tx, task, "action"))
        reviewers = [routing.choose(wanted_in(tx, check, "review")) for check in checks]
    except NoExecutor:  # reported elsewhere
        return

    maker = Maker(executor=choice.executor, model=choice.model)
    for reviewer in reviewers:
        if maker.is_choice(reviewer) and another_reviewer(reviewer, maker) is None:
            raise OwnWork(
                f"{_name_of(reviewer)} would review its own products; give reviews to"
                f' another model (a route with kind = "review"), {_ALLOW}'
            )


def _name_of(choice: Choice) -> str:
    return f"{choice.executor} ({choice.model})" if choice.model else choice.executor
