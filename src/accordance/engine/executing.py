"""One run of one executor: who does it, what they are told, within which limits."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from accordance.contracts.context import Context
from accordance.domain.case import claim_context
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.domain.routing import PROMPTS, Choice, Routing, Wanted
from accordance.engine.asking import PreflightFailed
from accordance.engine.assignment import assignment
from accordance.engine.coding import Commission, Workshop, workshop_of
from accordance.engine.coding_tasks import allowed_models
from accordance.engine.contracts_for import contract_of_message, review_context
from accordance.engine.durable import Attempt
from accordance.engine.home import Home
from accordance.engine.kept_runs import KeptAnswers, RunOf, budget_left, keep_prompt
from accordance.engine.slots import Bound
from accordance.engine.time_limits import seconds_for
from accordance.engine.working import Taken
from accordance.errors import ContextTooLarge
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.leftover import run_tidily
from accordance.executors.prompt_building import Told, tell
from accordance.executors.protocol import Assignment, Produced
from accordance.store.ledger import Ledger, Transaction

_CODER: Final = "coder.v1"  # what whoever changes a repository is told, where no route says otherwise
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

    @cached_property
    def workshop(self) -> Workshop:
        """Where repositories are changed. Raises InvalidSettings."""
        return workshop_of(self.home)

    def queue_of(self, task: TaskRecord) -> str | None:
        """The queue of the executor a task goes to; None if somebody elsewhere asks for it. Raises NoExecutor."""
        kind = "review" if task.checks or task.progress.state is State.READY_TO_CHECK else "action"
        choice = self.routing.after(wanted(task, kind), _failures(task, kind))
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
            asked = wanted(task, one.kind, allowed_models(tx, task) if one.kind == "action" else None)
            choice = self._choose(one, asked, _failures(task, one.kind))
            executor = executor_for(choice.spec, self.home.root)
            if executor is None:
                return Produced(fault=Fault.STOPPED, text="it waits for somebody who asks for it")
            if task.lease is None:  # whatever came of it would be refused
                return Produced(fault=Fault.STOPPED, text="somebody has taken the task away")
            budget = budget_left(tx, task.task_id, tx.plan(task.plan_id).rules.fuses)
            if isinstance(budget, str):
                return Produced(fault=Fault.OVER_BUDGET, text=budget)
            at_most = seconds_for(tx, task) if one.kind == "action" or task.checks else None
            try:
                job = self.workshop.commission(tx, task) if one.kind == "action" else None
                told, given = self._assignment(tx, Taken(task, _kind(one.kind), task.lease), one, choice, job)
            except ContextTooLarge as error:
                return Produced(fault=Fault.TOO_LONG, text=str(error))
            except PreflightFailed as error:
                return Produced(fault=Fault.UNPREPARED, text=str(error))
        run = RunOf(plan_id=task.plan_id, task_id=task.task_id, kind=one.kind, attempt=one.number)
        with self.ledger.write() as tx:
            keep_prompt(tx, run, told, executor=choice.executor, model=choice.model)
        given = replace(given, memory=KeptAnswers(self.ledger, run))
        limits = replace(limits_for(choice.spec), stop=stop, budget=budget)
        limits = replace(limits, seconds=min(limits.seconds, at_most or math.inf))
        if job is None:
            return replace(run_tidily(executor, given, limits), stronger=bool(choice.stronger))
        limits = replace(limits, seconds=min(limits.seconds, job.seconds))
        return self.workshop.carry_out(
            job,
            choice,
            lambda work, opinion: run_tidily(executor, replace(given, work=work, opinion=opinion), limits),
        )

    def _choose(self, one: Attempt, asked: Wanted, failures: int) -> Choice:
        """By the routes; work that was put into the queue of another executor is that one's: whoever did it had others."""
        choice = self.routing.after(asked, failures)
        bound = self.queues().get(one.queue)
        if bound is None or bound.executor == choice.executor:
            return choice
        return self.routing.everything_to(bound.executor).after(asked, failures)

    def _assignment(
        self, tx: Transaction, taken: Taken, one: Attempt, choice: Choice, job: Commission | None
    ) -> tuple[Told, Assignment]:
        task = taken.task
        document = assignment(tx, self.home, taken)
        rules = tx.plan(task.plan_id).rules
        context = review_context(rules.node_rubric, task_id=document["contract"]["task_id"])
        if taken.kind == "action":
            context = claim_context(job.asked.task) if job else Context(task_id=task.task_id)
        prompt = _CODER if job and choice.prompt == PROMPTS["action"] else choice.prompt
        told = tell(document, prompt, self.home.root)
        return told, Assignment(
            document=document,
            contract=contract_of_message(taken.kind, rules, is_change=job is not None),
            context=context,
            prompt=told.prompt,
            folder=self.home.new_run(one.task_id, f"{one.kind}-{one.number}"),
            model=choice.model,
        )


def _kind(said: str) -> Literal["action", "review"]:
    return "action" if said == "action" else "review"


def wanted(task: TaskRecord, kind: str, models: frozenset[str] | None = None) -> Wanted:
    """What routes look at."""
    return Wanted(
        kind=_kind(kind),
        role=task.owner_agent_id,
        node_type=task.node_type,
        tags=frozenset(task.tags),
        models=models,
    )


def _failures(task: TaskRecord, kind: str) -> int:
    """How often this kind of work on a task has failed since a person last gave it a chance."""
    used = task.progress.standing.used
    if kind == "review" and task.checks is None:
        return used.review_failures
    return used.failures + used.parse_failures
