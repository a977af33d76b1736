"""The executors of a project: whose queue a task goes into, and one run of one of them.

A run is prepared in one transaction that only reads: who does it, what it may cost, how long it may take, what is told. What
stands in its way is found there, before anybody is paid.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal

from accordance.changes.attempt import Commission, Workshop, workshop_of
from accordance.contracts.context import Context
from accordance.domain.case import Budget, claim_context
from accordance.domain.chain import Payload
from accordance.domain.context_pack import budget_for
from accordance.domain.faults import Fault
from accordance.domain.plan_review import PlanState
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.domain.routing import Choice, Kind, RouteRequest, Routing
from accordance.domain.spending import BYTES_PER_TOKEN, Spending
from accordance.errors import OwnWork
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.protocol import Executor, Produced, RunLimits
from accordance.judging.task_input import PreflightFailed
from accordance.project.home import Home
from accordance.runtime.budgets import budget_left, plan_budget, why_unpriced
from accordance.runtime.executor_run import ExecutorRun
from accordance.runtime.ports import TaskAttempt
from accordance.runtime.slots import Bound
from accordance.store.ledger import Ledger, Transaction
from accordance.work.assignment import assignment_under
from accordance.work.coding_tasks import coding_task, wanted_for
from accordance.work.contracts_for import (
    Holding,
    contract_of_change,
    contract_of_message,
    review_context,
)
from accordance.work.offering import kind_of
from accordance.work.own_work import another_reviewer, cannot_review, maker_of
from accordance.work.project_routes import holding_for
from accordance.work.research_tasks import budgets_of
from accordance.work.run_log import RunOf
from accordance.work.tasks import Taken
from accordance.work.time_limits import seconds_for

CONCURRENCY: Final = 4  # runs of one executor at once, where nothing else is said
_HELD: Final = "its plan is held: what it may use is used up"


class _NotBegun(Exception):
    """Something stands in the way of a run: its outcome, though nobody was asked to work."""

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(text)
        self.outcome = Produced(fault=fault, text=text)


def queue_name(executor: str, model: str | None = None) -> str:
    """The queue of an executor, or of one of its models that has bounds of its own."""
    return executor if model is None else f"{executor}/{model}"


@dataclass(frozen=True)
class ProjectAttempts:
    """Runs attempts by the routes of a project."""

    ledger: Ledger
    home: Home
    routing: Routing
    isolation: str | None = (
        None  # of tests, where a person asks for another than the settings do
    )

    @cached_property
    def workshop(self) -> Workshop:
        """Where repositories are changed. Raises InvalidSettings."""
        return workshop_of(self.home, self.isolation)

    @cached_property
    def _holding(self) -> Holding:
        return holding_for(self.home, self.routing)

    def must_be_configured(self) -> None:
        """Read what is read only once. Raises InvalidSettings or InvalidAgents."""
        _ = self._holding

    # -- whose queue a task goes into

    def queues(self) -> dict[str, Bound]:
        """What may run at once, and how much in a minute: for each executor, and for each of its models that says so.

        An outside worker has no queue here.
        """
        queues: dict[str, Bound] = {}
        for name, spec in self.routing.executors.items():
            if spec.kind == "external":
                continue
            runs = spec.concurrency or CONCURRENCY
            whole = Bound(
                runs=runs, executor=name, executor_runs=runs, per_minute=spec.per_minute
            )
            queues[queue_name(name)] = whole
            for model, bounds in spec.bounds.items():
                own = min(runs, bounds.concurrency or runs)
                per_minute = bounds.per_minute or spec.per_minute
                queues[queue_name(name, model)] = replace(
                    whole, runs=own, per_minute=per_minute
                )
        return queues

    def queue_of(self, task: TaskRecord, change: bytes | None) -> str | None:
        """The queue of the executor a task goes to; None if an outside worker asks for it. Raises NoExecutor."""
        kind = kind_of(task)
        choice = self.routing.after(
            wanted_for(task, kind, change), _failures(task, kind)
        )
        if executor_for(choice.spec, self.home.root) is None:
            return None
        has_own_bounds = choice.model in choice.spec.bounds
        return queue_name(choice.executor, choice.model if has_own_bounds else None)

    def holding(self, tx: Transaction, task: TaskRecord) -> Payload:
        """Which contract the routes hold an action to. Raises InvalidSettings or InvalidAgents."""
        return self._holding(tx, task)

    # -- one run

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> Produced:
        """Let the executor of an attempt run."""
        try:
            with self.ledger.read() as tx:
                plan = tx.plan(tx.task(attempt.task_id).plan_id)
                prepared = self._prepare(tx, plan, attempt, stop)
        except _NotBegun as reason:
            return reason.outcome
        produced = self._perform(prepared)
        if produced.fault is Fault.OVER_BUDGET and produced.spending.uses_up(
            plan_budget(plan)
        ):
            return replace(
                produced, fault=Fault.STOPPED, text=_HELD
            )  # the plan's end, not the task's fault
        return produced

    def _perform(self, prepared: ExecutorRun) -> Produced:
        """A change is made in a clone, where it is judged; anything else is only said."""
        job = prepared.job
        if job is None:
            return prepared.begin()
        return self.workshop.carry_out(
            job, prepared.choice, prepared.begin_in, prepared.memory
        )

    def _prepare(
        self,
        tx: Transaction,
        plan: PlanRecord,
        attempt: TaskAttempt,
        stop: threading.Event,
    ) -> ExecutorRun:
        """Read all that a run needs. Raises _NotBegun for what stands in its way, the first reason first."""
        task = tx.task(attempt.task_id)
        kind: Literal["action", "review"] = (
            "action" if attempt.kind == "action" else "review"
        )
        change = coding_task(tx, task) if kind == "action" else None
        choice = self._choose(tx, task, attempt, wanted_for(task, kind, change))
        executor = self._executor_of(choice)
        if task.lease is None:
            raise _NotBegun(Fault.STOPPED, "somebody has taken the task away")
        taken = Taken(task, kind, task.lease)
        limits = self._limits(tx, plan, taken, choice, stop)
        job = None if change is None else self._commission(tx, task, change, limits)
        if job is not None:
            limits = replace(limits, seconds=min(limits.seconds, job.seconds))
        contract = contract_of_message(
            tx, task, kind, change, contract_of_change(choice.spec)
        )
        document = assignment_under(tx, self.home, taken, contract, change)
        return ExecutorRun(
            ledger=self.ledger,
            root=self.home.root,
            run=RunOf(
                plan_id=plan.plan_id,
                task_id=task.task_id,
                kind=attempt.kind,
                attempt=attempt.number,
            ),
            choice=choice,
            executor=executor,
            limits=limits,
            document=document,
            contract=contract,
            context=_context(plan, taken, document, job),
            folder=self.home.new_run(task.task_id, f"{attempt.kind}-{attempt.number}"),
            context_bytes=_context_bytes(tx, taken, choice),
            job=job,
        )

    # -- who does it

    def _choose(
        self,
        tx: Transaction,
        task: TaskRecord,
        attempt: TaskAttempt,
        asked: RouteRequest,
    ) -> Choice:
        """Who runs: by the routes, but nobody reviews their own product. Raises NoExecutor, OwnWork."""
        choice = self._routed(attempt, asked, _failures(task, asked.kind))
        return self._reviewer(tx, task, choice) if asked.kind == "review" else choice

    def _routed(
        self, attempt: TaskAttempt, asked: RouteRequest, failures: int
    ) -> Choice:
        """By the routes. Work that lies in the queue of another executor stays with it: it was queued under other routes."""
        choice = self.routing.after(asked, failures)
        bound = self.queues().get(attempt.queue)
        if bound is None or bound.executor == choice.executor:
            return choice
        return self.routing.everything_to(bound.executor).after(asked, failures)

    def _reviewer(self, tx: Transaction, task: TaskRecord, choice: Choice) -> Choice:
        """Who reviews: nobody their own product, unless the settings allow it. Raises OwnWork."""
        reviewed = tx.task(task.checks) if task.checks else task
        maker = maker_of(tx, reviewed)
        if self.home.settings().review.own_work or not maker.is_choice(choice):
            return choice
        another = another_reviewer(choice, maker)
        if another is None:
            raise OwnWork(cannot_review(choice, reviewed.task_id))
        return another

    def _executor_of(self, choice: Choice) -> Executor:
        executor = executor_for(choice.spec, self.home.root)
        if executor is None:
            raise _NotBegun(Fault.STOPPED, "it waits for somebody who asks for it")
        return executor

    # -- within which limits

    def _limits(
        self,
        tx: Transaction,
        plan: PlanRecord,
        taken: Taken,
        choice: Choice,
        stop: threading.Event,
    ) -> RunLimits:
        """What the executor's settings, the fuses and the task allow, whichever is least."""
        budget = _budget(tx, plan, taken.task, choice)
        own = limits_for(choice.spec)
        seconds = min(own.seconds, _seconds(tx, taken))
        return replace(own, stop=stop, budget=budget, seconds=seconds)

    def _commission(
        self, tx: Transaction, task: TaskRecord, change: bytes, limits: RunLimits
    ) -> Commission:
        """What is to be changed, with what it may cost."""
        try:
            job = self.workshop.commission(tx, task, change)
        except PreflightFailed as error:
            raise _NotBegun(Fault.UNPREPARED, str(error)) from None
        return replace(job, budget=limits.budget)


def _failures(task: TaskRecord, kind: Kind) -> int:
    """How often this kind of work on a task has failed since a person last gave it a chance."""
    used = task.progress.standing.used
    if kind == "review" and task.checks is None:
        return used.review_failures
    return used.failures + used.parse_failures


def _budget(
    tx: Transaction, plan: PlanRecord, task: TaskRecord, choice: Choice
) -> Budget:
    """What a run may cost. Raises _NotBegun if it may cost nothing, or nobody could say what it costs."""
    if plan.state is PlanState.HELD or Spending().uses_up(plan_budget(plan)):
        raise _NotBegun(Fault.STOPPED, _HELD)
    budget = budget_left(tx, task.task_id, plan.rules.fuses)
    if isinstance(budget, str):
        raise _NotBegun(Fault.OVER_BUDGET, budget)
    if why := why_unpriced(choice, budget):
        raise _NotBegun(Fault.UNPREPARED, why)
    return budget


def _seconds(tx: Transaction, taken: Taken) -> float:
    """How long a run may take: the least of what the node and the request it serves allow."""
    is_action = taken.kind == "action"
    of_node = seconds_for(tx, taken.task) if is_action or taken.task.checks else None
    of_request = budgets_of(tx, taken.task).time_budget if is_action else None
    return min(
        seconds for seconds in (of_node, of_request, math.inf) if seconds is not None
    )


def _context(
    plan: PlanRecord, taken: Taken, document: dict[str, Any], job: Commission | None
) -> Context:
    """What the message of a run is checked against."""
    if taken.kind == "review":
        return review_context(
            plan.rules.node_rubric, task_id=document["contract"]["task_id"]
        )
    return claim_context(job.asked.task) if job else Context(task_id=taken.task.task_id)


def _context_bytes(tx: Transaction, taken: Taken, choice: Choice) -> int | None:
    """How much context a run is told: never more than the request it serves allows; None where nothing is said."""
    tokens = (
        budgets_of(tx, taken.task).context_budget if taken.kind == "action" else None
    )
    if tokens is None:
        return choice.context_bytes
    usual = choice.context_bytes or budget_for(taken.task.owner_agent_id)
    return min(usual, tokens * BYTES_PER_TOKEN)
