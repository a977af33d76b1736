"""The executors of a project: which queue a task goes into, and the runs of executors.

A run is prepared in a read-only transaction: its executor, its limits and its
instructions. Whatever prevents it is discovered there, before anything costs money.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal

from accordance.changes.attempt import Commission
from accordance.changes.keeping import store_away, with_kept_evidence
from accordance.changes.workshop import Workshop, workshop_of
from accordance.contracts.context import Context
from accordance.domain.case import claim_context
from accordance.domain.chain import Payload
from accordance.domain.context_pack import budget_for
from accordance.domain.executor_specs import Spec, asks_models
from accordance.domain.faults import Fault
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.domain.routing import Choice, Kind, RouteRequest, Routing
from accordance.domain.spending import BYTES_PER_TOKEN, Spending, tighter
from accordance.domain.usage import Budget
from accordance.errors import BlobError, NotServedHere, OwnWork
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.protocol import Executor, RunLimits, RunOutcome
from accordance.judging.task_input import PreflightFailed
from accordance.project.home import Home
from accordance.runtime.budgets import (
    budget_left,
    priced_budget,
    share_of_plan,
    uses_up_plan,
)
from accordance.runtime.executor_run import ExecutorRun
from accordance.runtime.fitness import Lacking
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
from accordance.work.fetching import fetch_for_attempt
from accordance.work.kept_evidence import JudgedRun
from accordance.work.kept_logs import kept_logs
from accordance.work.landing import landing_of
from accordance.work.offering import kind_of
from accordance.work.own_work import another_reviewer, cannot_review, maker_of
from accordance.work.project_routes import holding_for
from accordance.work.research_tasks import budgets_of
from accordance.work.run_log import RunKey
from accordance.work.taking import Taken
from accordance.work.time_limits import seconds_for

CONCURRENCY: Final = 4  # runs of an executor at once, unless its spec sets another
_PLAN_HELD: Final = "its plan is held: its budget is used up"


class _NotBegun(Exception):
    """Something prevents a run; it ends with this outcome before it begins."""

    def __init__(self, fault: Fault, text: str, lacks: str = "") -> None:
        super().__init__(text)
        self.outcome = RunOutcome(fault=fault, text=text, lacks=lacks)


def queue_name(
    executor: str, model: str | None = None, labels: Iterable[str] = ()
) -> str:
    """Return the queue of an executor, or of a model of it with its own bounds.

    Work that asks for workers with labels has a queue of its own.
    """
    name = executor if model is None else f"{executor}/{model}"
    wanted = "+".join(sorted(labels))
    return f"{name}@{wanted}" if wanted else name


@dataclass(frozen=True)
class ProjectAttempts:
    """Runs attempts by the routes of a project."""

    ledger: Ledger
    home: Home
    routing: Routing
    isolation: str | None = None  # of tests, if a person overrides the settings
    labels: frozenset[str] = frozenset()  # of this worker
    lacking: Mapping[str, Lacking] = field(default_factory=dict)
    """By executor that cannot start here: why not."""

    @cached_property
    def workshop(self) -> Workshop:
        """Where repositories are changed. Raises InvalidSettings."""
        return workshop_of(self.home, self.isolation)

    @cached_property
    def _holding(self) -> Holding:
        return holding_for(self.home, self.routing)

    def must_be_configured(self) -> None:
        """Read the settings that are read only once.

        Raises InvalidSettings or InvalidAgents.
        """
        _ = self._holding

    # -- queues

    def queues(self) -> dict[str, Bound]:
        """Return the queues: one for each executor, and for each bounded model of it.

        Outside workers have no queue here, and neither has work that this worker
        cannot do.
        """
        return self._bounds

    @cached_property
    def _bounds(self) -> dict[str, Bound]:
        queues: dict[str, Bound] = {}
        for name, spec in self.routing.executors.items():
            if spec.kind == "external" or name in self.lacking:
                continue
            for labels in self.routing.label_sets(name):
                if labels <= self.labels:
                    queues.update(_queues_of(name, spec, labels))
        return queues

    def queue_of(self, task: TaskRecord, change: bytes | None) -> str | None:
        """Return the queue of the executor a task goes to. Raises NoExecutor.

        None if an outside worker will fetch it.
        """
        kind = kind_of(task)
        request = wanted_for(task, kind, change)
        choice = self.routing.after(request, _failures(task, kind))
        if executor_for(choice.spec, self.home.root) is None:
            return None

        has_own_bounds = choice.model in choice.spec.bounds
        model = choice.model if has_own_bounds else None
        queue = queue_name(choice.executor, model, choice.labels)
        self._must_serve(choice, queue)
        return queue

    def _must_serve(self, choice: Choice, queue: str) -> None:
        """Raise NotServedHere if this worker lacks what the work needs."""
        lacking = self.lacking.get(choice.executor)
        if lacking is not None:
            raise NotServedHere(lacking.text, queue=queue, fault=lacking.fault)
        missing = sorted(choice.labels - self.labels)
        if missing:
            words = "the label" if len(missing) == 1 else "the labels"
            raise NotServedHere(
                f"it needs a worker with {words} {', '.join(missing)}",
                queue=queue,
                way_out=f"start a worker that has {words}",
            )

    def share(
        self, tx: Transaction, task: TaskRecord, queue: str, change: bytes | None
    ) -> Budget | str | None:
        """Return what an attempt reserves of its plan's budget, or why it has to wait.

        None if it reserves nothing: a program, or a plan without a budget.
        """
        bound = self.queues().get(queue)
        spec = self.routing.executors.get(bound.executor) if bound else None
        if spec is None or not asks_models(spec):
            return None

        kind = kind_of(task)
        request = wanted_for(task, kind, change)
        choice = self.routing.after(request, _failures(task, kind))
        return share_of_plan(tx, task, choice)

    def holding(self, tx: Transaction, task: TaskRecord) -> Payload:
        """Return the contract to which the routes hold an action.

        Raises InvalidSettings or InvalidAgents.
        """
        return self._holding(tx, task)

    # -- a run

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        """Run the executor of an attempt."""
        try:
            with self.ledger.read() as tx:
                task = tx.task(attempt.task_id)
                plan = tx.plan(task.plan_id)
                fetch_for_attempt(tx, self.home, task)
                prepared = self._prepare(tx, plan, attempt, stop)
        except _NotBegun as error:
            return error.outcome
        except BlobError as error:
            return store_away(error)

        produced = self._perform(prepared)
        produced = replace(produced, logs=kept_logs(self.ledger, prepared.folder))

        is_over_budget = produced.fault is Fault.OVER_BUDGET
        if is_over_budget and uses_up_plan(plan, produced.spending):
            # The whole plan ends here; that is not a fault of the task.
            return replace(produced, fault=Fault.STOPPED, text=_PLAN_HELD)
        return produced

    def _perform(self, prepared: ExecutorRun) -> RunOutcome:
        """Make a change in a clone, where it is judged; or just get the message."""
        job = prepared.job
        if job is None:
            return prepared.begin()
        produced = self.workshop.carry_out(
            job, prepared.choice, prepared.begin_in, prepared.memory
        )
        run = prepared.run
        judged = JudgedRun(
            plan_id=run.plan_id, task_id=str(run.task_id), attempt=run.attempt
        )
        return with_kept_evidence(self.ledger, self.home.root, judged, produced)

    def _prepare(
        self,
        tx: Transaction,
        plan: PlanRecord,
        attempt: TaskAttempt,
        stop: threading.Event,
    ) -> ExecutorRun:
        """Read everything a run needs. Raises _NotBegun if something prevents it."""
        task = tx.task(attempt.task_id)
        kind = _kind_of(attempt)
        change = coding_task(tx, task) if kind == "action" else None
        # a good change that only has to land may do so in any queue
        is_landing = change is not None and landing_of(tx, task) is not None
        request = wanted_for(task, kind, None if is_landing else change)
        choice = self._choose(tx, task, attempt, request)
        executor = self._executor_of(choice)
        taken = _taken(task, kind)

        limits = self._limits(tx, plan, taken, choice, stop)
        job = None
        if change is not None:
            job = self._commission(tx, task, change, limits)
            limits = replace(limits, seconds=min(limits.seconds, job.seconds))

        contract = contract_of_message(
            tx, task, kind, change, contract_of_change(choice.spec)
        )
        document = assignment_under(tx, self.home, taken, contract, change)
        return ExecutorRun(
            ledger=self.ledger,
            root=self.home.root,
            run=_run_of(plan, attempt),
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

    # -- its executor

    def _choose(
        self,
        tx: Transaction,
        task: TaskRecord,
        attempt: TaskAttempt,
        request: RouteRequest,
    ) -> Choice:
        """Choose an executor by the routes. Raises NoExecutor or OwnWork."""
        choice = self._routed(attempt, request, _failures(task, request.kind))
        if request.kind == "review":
            return self._reviewer(tx, task, choice)
        return choice

    def _routed(
        self, attempt: TaskAttempt, request: RouteRequest, failures: int
    ) -> Choice:
        """Choose by the routes, but keep to the executor whose queue holds the attempt.

        The attempt may have been queued under other routes.
        """
        choice = self.routing.after(request, failures)
        bound = self.queues().get(attempt.queue)
        if bound is None or bound.executor == choice.executor:
            return choice
        return self.routing.everything_to(bound.executor).after(request, failures)

    def _reviewer(self, tx: Transaction, task: TaskRecord, choice: Choice) -> Choice:
        """Choose a reviewer other than the maker, unless the settings allow that.

        Raises OwnWork.
        """
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
            raise _NotBegun(Fault.STOPPED, "it waits for an outside worker")
        return executor

    # -- its limits

    def _limits(
        self,
        tx: Transaction,
        plan: PlanRecord,
        taken: Taken,
        choice: Choice,
        stop: threading.Event,
    ) -> RunLimits:
        """Return the tightest limits of the spec, the fuses and the task."""
        budget = _budget(tx, plan, taken.task, choice)
        limits = limits_for(choice.spec)
        seconds = min(limits.seconds, _seconds(tx, taken))
        return replace(limits, stop=stop, budget=budget, seconds=seconds)

    def _commission(
        self, tx: Transaction, task: TaskRecord, change: bytes, limits: RunLimits
    ) -> Commission:
        """Return what is to be changed, and what that may cost."""
        try:
            job = self.workshop.commission(tx, task, change)
        except PreflightFailed as error:
            text = str(error)
            raise _NotBegun(Fault.UNPREPARED, text, lacks=text) from None
        return replace(job, budget=limits.budget)


def _queues_of(executor: str, spec: Spec, labels: frozenset[str]) -> dict[str, Bound]:
    """Return the queues of an executor, and what each may use."""
    runs = spec.concurrency or CONCURRENCY
    whole = Bound(
        runs=runs, executor=executor, executor_runs=runs, per_minute=spec.per_minute
    )

    queues = {queue_name(executor, None, labels): whole}
    for model, bounds in spec.bounds.items():
        queues[queue_name(executor, model, labels)] = replace(
            whole,
            runs=min(runs, bounds.concurrency or runs),
            per_minute=bounds.per_minute or spec.per_minute,
        )
    return queues


def _kind_of(attempt: TaskAttempt) -> Literal["action", "review"]:
    return "action" if attempt.kind == "action" else "review"


def _taken(task: TaskRecord, kind: Literal["action", "review"]) -> Taken:
    """Return the task with its lease. Raises _NotBegun if it has none any more."""
    if task.lease is None:
        raise _NotBegun(Fault.STOPPED, "the task was taken away from this worker")
    return Taken(task, kind, task.lease)


def _run_of(plan: PlanRecord, attempt: TaskAttempt) -> RunKey:
    return RunKey(
        plan_id=plan.plan_id,
        task_id=attempt.task_id,
        kind=attempt.kind,
        attempt=attempt.number,
    )


def _failures(task: TaskRecord, kind: Kind) -> int:
    """Return how often this kind of work on a task has failed.

    Counted since a person last gave it another chance.
    """
    used = task.progress.standing.used
    if kind == "review" and task.checks is None:
        return used.review_failures
    return used.failures + used.parse_failures


def _budget(
    tx: Transaction, plan: PlanRecord, task: TaskRecord, choice: Choice
) -> Budget:
    """Return what a run may cost.

    Raises _NotBegun if nothing is left, or if its cost could not be known.
    """
    if plan.state is PlanState.HELD or uses_up_plan(plan, Spending()):
        raise _NotBegun(Fault.STOPPED, _PLAN_HELD)

    budget = budget_left(tx, task.task_id, plan.rules.fuses)
    if isinstance(budget, str):
        raise _NotBegun(Fault.OVER_BUDGET, budget)

    reserved = task.lease.reserved if task.lease else None
    if reserved is not None:
        budget = tighter(budget, reserved)

    priced = priced_budget(choice, budget, plan.rules.fuses)
    if isinstance(priced, str):
        raise _NotBegun(Fault.UNPREPARED, priced, lacks=priced)
    return priced


def _seconds(tx: Transaction, taken: Taken) -> float:
    """Return how long a run may take, by its node and the request it serves."""
    is_action = taken.kind == "action"
    seconds = math.inf

    if is_action or taken.task.checks:
        of_node = seconds_for(tx, taken.task)
        if of_node is not None:
            seconds = min(seconds, of_node)
    if is_action:
        of_request = budgets_of(tx, taken.task).time_budget
        if of_request is not None:
            seconds = min(seconds, of_request)
    return seconds


def _context(
    plan: PlanRecord, taken: Taken, document: dict[str, Any], job: Commission | None
) -> Context:
    """Return the context in which the message of a run is checked."""
    if taken.kind == "review":
        reviewed = document["contract"]["task_id"]
        return review_context(plan.rules.node_rubric, task_id=reviewed)
    if job is not None:
        return claim_context(job.asked.task)
    return Context(task_id=taken.task.task_id)


def _context_bytes(tx: Transaction, taken: Taken, choice: Choice) -> int | None:
    """Return how much context a run gets; None: as much as its role has.

    Never more than the request it serves allows.
    """
    if taken.kind != "action":
        return choice.context_bytes

    tokens = budgets_of(tx, taken.task).context_budget
    if tokens is None:
        return choice.context_bytes
    usual = choice.context_bytes or budget_for(taken.task.owner_agent_id)
    return min(usual, tokens * BYTES_PER_TOKEN)
