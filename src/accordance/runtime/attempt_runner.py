"""One run of one executor: who does it, what they are told, within which limits."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

from accordance.changes.attempt import Commission, Workshop, workshop_of
from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.domain.case import Budget, claim_context
from accordance.domain.context_pack import Piece, budget_for
from accordance.domain.faults import Fault
from accordance.domain.plan_review import PlanState
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.domain.routing import PROMPTS, Choice, Kind, Routing, Wanted
from accordance.domain.spending import BYTES_PER_TOKEN, Spending
from accordance.errors import ContextTooLarge, OwnWork
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.code_map import code_map
from accordance.executors.leftover import run_tidily
from accordance.executors.opinion import Opinion
from accordance.executors.prompt_building import tell
from accordance.executors.protocol import Assignment, Executor, Limits, Produced, Seen
from accordance.executors.showing import show
from accordance.judging.task_input import PreflightFailed
from accordance.project.home import Home
from accordance.runtime.budgets import budget_left, plan_budget, why_unpriced
from accordance.runtime.slots import Bound
from accordance.runtime.workflow import Attempt
from accordance.store.ledger import Ledger, Transaction
from accordance.work.assignment import MERGE_CONFLICT, assignment, with_conflict
from accordance.work.coding_tasks import wanted_in
from accordance.work.contracts_for import (
    Holding,
    contract_of_change,
    contract_of_message,
    review_context,
)
from accordance.work.handing_out import kind_of
from accordance.work.own_work import another_reviewer, cannot_review, maker_of
from accordance.work.project_routes import holding_for
from accordance.work.research_tasks import budgets_of
from accordance.work.run_log import KeptAnswers, RunOf, keep_prompt
from accordance.work.tasks import Taken
from accordance.work.time_limits import seconds_for
from accordance.workspace.branch import conflicts

_PROMPTS: Final[Mapping[str, str]] = {
    SUBMIT.version: "coder.v1",
    EDITS.version: "editor.v1",
    ANSWER.version: "researcher.v1",
}
"""What agents are told by what their message is held to, where no route says otherwise."""
_HELD: Final = "its plan is held: what it may use is used up"
CONCURRENCY: Final = 4  # runs of one executor at once, where nothing else is said


def queue_name(executor: str, model: str | None = None) -> str:
    """The queue of an executor, or of one of its models that has bounds of its own."""
    return executor if model is None else f"{executor}/{model}"


@dataclass(frozen=True)
class Executing:
    """Runs attempts by the routes of a project."""

    ledger: Ledger
    home: Home
    routing: Routing
    isolation: str | None = None  # of tests, where a person asks for another than the settings do

    @cached_property
    def holding(self) -> Holding:
        """Which contracts the routes hold actions to. Raises InvalidSettings or InvalidAgents."""
        return holding_for(self.home, self.routing)

    @cached_property
    def workshop(self) -> Workshop:
        """Where repositories are changed. Raises InvalidSettings."""
        return workshop_of(self.home, self.isolation)

    def queue_of(self, tx: Transaction, task: TaskRecord) -> str | None:
        """The queue of the executor a task goes to; None if somebody elsewhere asks for it. Raises NoExecutor."""
        kind = kind_of(task)
        choice = self.routing.after(wanted_in(tx, task, kind), _failures(task, kind))
        if executor_for(choice.spec, self.home.root) is None:
            return None
        return queue_name(choice.executor, choice.model if choice.model in choice.spec.bounds else None)

    def queues(self) -> dict[str, Bound]:
        """What may run at once, and how much in a minute: for each executor, and for each of its models that says so.

        Whoever works elsewhere has no queue here.
        """
        found: dict[str, Bound] = {}
        for name, spec in self.routing.executors.items():
            if spec.kind == "external":
                continue
            runs = spec.concurrency or CONCURRENCY
            whole = Bound(runs=runs, executor=name, executor_runs=runs, per_minute=spec.per_minute)
            found[queue_name(name)] = whole
            for model, bounds in spec.bounds.items():
                own = min(runs, bounds.concurrency or runs)
                per_minute = bounds.per_minute or spec.per_minute
                found[queue_name(name, model)] = replace(whole, runs=own, per_minute=per_minute)
        return found

    def run(self, one: Attempt, stop: threading.Event) -> Produced:
        """Let the executor of an attempt run."""
        with self.ledger.read() as tx:
            task = tx.task(one.task_id)
            kind = _kind(one.kind)
            choice = self._choose(one, wanted_in(tx, task, kind), _failures(task, kind))
            if kind == "review":
                choice = self._reviewer(tx, task, choice)
            executor = executor_for(choice.spec, self.home.root)
            if executor is None:
                return Produced(fault=Fault.STOPPED, text="it waits for somebody who asks for it")
            if task.lease is None:  # whatever came of it would be refused
                return Produced(fault=Fault.STOPPED, text="somebody has taken the task away")
            plan = tx.plan(task.plan_id)
            budget = _budget(tx, plan, task, choice)
            if isinstance(budget, Produced):
                return budget
            at_most = _seconds(tx, task, one.kind)
            try:
                job = self.workshop.commission(tx, task) if one.kind == "action" else None
            except PreflightFailed as error:
                return Produced(fault=Fault.UNPREPARED, text=str(error))
            run = self._run_of(tx, Taken(task, kind, task.lease), one, choice, job)
        limits = replace(limits_for(choice.spec), stop=stop, budget=budget)
        limits = replace(limits, seconds=min(limits.seconds, math.inf if at_most is None else at_most))
        produced = self._carried_out(executor, run, limits, job)
        if produced.fault is Fault.OVER_BUDGET and produced.spending.uses_up(plan_budget(plan)):
            return replace(produced, fault=Fault.STOPPED, text=_HELD)
        return produced

    def _carried_out(self, executor: Executor, run: _Run, limits: Limits, job: Commission | None) -> Produced:
        if job is None:
            return replace(run.begin(executor, limits), stronger=bool(run.choice.stronger))
        limits = replace(limits, seconds=min(limits.seconds, job.seconds))
        return self.workshop.carry_out(
            replace(job, budget=limits.budget),
            run.choice,
            lambda work, opinion: run.begin(executor, limits, work, opinion, conflicts(job.start, work)),
            run.memory,
        )

    def _choose(self, one: Attempt, asked: Wanted, failures: int) -> Choice:
        """By the routes; work that was put into the queue of another executor is that one's: whoever did it had others."""
        choice = self.routing.after(asked, failures)
        bound = self.queues().get(one.queue)
        if bound is None or bound.executor == choice.executor:
            return choice
        return self.routing.everything_to(bound.executor).after(asked, failures)

    def _reviewer(self, tx: Transaction, task: TaskRecord, choice: Choice) -> Choice:
        """Who reviews: nobody their own product, unless the settings allow it. Raises OwnWork."""
        product_of = tx.task(task.checks) if task.checks else task
        maker = maker_of(tx, product_of)
        if self.home.settings().review.own_work or not maker.is_choice(choice):
            return choice
        another = another_reviewer(choice, maker)
        if another is None:
            raise OwnWork(cannot_review(choice, product_of.task_id))
        return another

    def _run_of(
        self, tx: Transaction, taken: Taken, one: Attempt, choice: Choice, job: Commission | None
    ) -> _Run:
        task = taken.task
        rules = tx.plan(task.plan_id).rules
        of_change = contract_of_change(choice.spec)
        document = assignment(tx, self.home, taken, of_change)
        context = review_context(rules.node_rubric, task_id=document["contract"]["task_id"])
        if taken.kind == "action":
            context = claim_context(job.asked.task) if job else Context(task_id=task.task_id)
        return _Run(
            ledger=self.ledger,
            root=self.home.root,
            run=RunOf(plan_id=task.plan_id, task_id=task.task_id, kind=one.kind, attempt=one.number),
            choice=choice,
            document=document,
            contract=contract_of_message(tx, task, taken.kind, of_change),
            context=context,
            folder=self.home.new_run(one.task_id, f"{one.kind}-{one.number}"),
            context_bytes=_context_bytes(tx, taken, choice),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """A run that is about to begin: all that is to be told, kept and answered by."""

    ledger: Ledger
    root: Path
    run: RunOf
    choice: Choice
    document: dict[str, Any]
    contract: Contract[Any]
    context: Context
    folder: Path
    context_bytes: int | None = None  # None: as the role has it

    def begin(
        self,
        executor: Executor,
        limits: Limits,
        work: Path | None = None,
        opinion: Callable[[bytes], Opinion] | None = None,
        conflicting: tuple[str, ...] = (),
    ) -> Produced:
        """Tell the executor what to do, keep what it is told, and let it work.

        `conflicting` are files on which the change of the last attempt no longer fits what the plan has come to.
        """
        document = with_conflict(self._mapped(work), conflicting)
        try:
            told = tell(document, self._prompt, self.root, self.context_bytes, self._shown(work))
        except ContextTooLarge as error:
            return Produced(fault=Fault.TOO_LONG, text=str(error))
        choice = self.choice
        with self.ledger.write() as tx:
            keep_prompt(tx, self.run, told, executor=choice.executor, model=choice.model)
        given = Assignment(
            document=document,
            contract=self.contract,
            context=self.context,
            prompt=told.prompt,
            folder=self.folder,
            model=choice.model,
            work=work,
            opinion=opinion,
            memory=self.memory,
        )
        produced = run_tidily(executor, given, limits)
        if not conflicting:
            return produced
        conflict = Seen("merge_conflict", {"code": MERGE_CONFLICT, "paths": list(conflicting)})
        return replace(produced, seen=(conflict, *produced.seen))

    @property
    def memory(self) -> KeptAnswers:
        """What an earlier run of the same attempt that was cut off has got."""
        return KeptAnswers(self.ledger, self.run)

    @property
    def _prompt(self) -> str:
        """What the route says; where it says nothing, what fits the contract."""
        usual = self.choice.prompt == PROMPTS["action"]
        return _PROMPTS.get(self.contract.version, self.choice.prompt) if usual else self.choice.prompt

    def _mapped(self, work: Path | None) -> dict[str, Any]:
        """What is told, with a map of the code where a repository is changed; a map of the task's own is enough."""
        change = self.document.get("change")
        if work is None or change is None or "map_summary" in change.get("context", {}):
            return self.document
        context = {**self.document["context"], "map_summary": code_map(work, change)}
        return {**self.document, "context": context}

    def _shown(self, work: Path | None) -> tuple[Piece, ...]:
        """The files of the clone, for a model: everybody else looks for themselves."""
        if work is None or self.contract.version != EDITS.version:
            return ()
        return show(work, self.document["change"])


def _budget(tx: Transaction, plan: PlanRecord, task: TaskRecord, choice: Choice) -> Budget | Produced:
    """What a run may cost, or why it does not begin."""
    if plan.state is PlanState.HELD or Spending().uses_up(plan_budget(plan)):
        return Produced(fault=Fault.STOPPED, text=_HELD)
    budget = budget_left(tx, task.task_id, plan.rules.fuses)
    if isinstance(budget, str):
        return Produced(fault=Fault.OVER_BUDGET, text=budget)
    if why := why_unpriced(choice, budget):
        return Produced(fault=Fault.UNPREPARED, text=why)
    return budget


def _seconds(tx: Transaction, task: TaskRecord, kind: str) -> float | None:
    """How long a run may take: the least of what the node and the request it serves allow; None where neither says."""
    is_action = kind == "action"
    limits = (
        seconds_for(tx, task) if is_action or task.checks else None,
        budgets_of(tx, task).time_budget if is_action else None,
    )
    return min((limit for limit in limits if limit is not None), default=None)


def _context_bytes(tx: Transaction, taken: Taken, choice: Choice) -> int | None:
    """How much context a run is told: never more than the request it serves allows; None where nothing is said."""
    tokens = budgets_of(tx, taken.task).context_budget if taken.kind == "action" else None
    if tokens is None:
        return choice.context_bytes
    usual = choice.context_bytes or budget_for(taken.task.owner_agent_id)
    return min(usual, tokens * BYTES_PER_TOKEN)


def _kind(said: str) -> Literal["action", "review"]:
    return "action" if said == "action" else "review"


def _failures(task: TaskRecord, kind: Kind) -> int:
    """How often this kind of work on a task has failed since a person last gave it a chance."""
    used = task.progress.standing.used
    if kind == "review" and task.checks is None:
        return used.review_failures
    return used.failures + used.parse_failures
