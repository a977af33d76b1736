"""One run of one executor: who does it, what they are told, within which limits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from accordance.contracts.context import Context
from accordance.domain.case import claim_context
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.naming import safe_name
from accordance.domain.records import TaskRecord
from accordance.domain.routing import PROMPTS, Choice, Kind, Routing
from accordance.engine.asking import PreflightFailed
from accordance.engine.assignment import assignment
from accordance.engine.coding import Commission, Workshop, workshop_of
from accordance.engine.coding_tasks import TAG
from accordance.engine.contracts_for import contract_of_message, review_context
from accordance.engine.durable import Attempt
from accordance.engine.handing_out import kind_of, wanted
from accordance.engine.home import Home
from accordance.engine.kept_runs import KeptAnswers, RunOf, budget_left, keep_prompt
from accordance.engine.slots import Bound
from accordance.engine.working import Taken
from accordance.errors import ContextTooLarge
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.prompt_building import Told, tell
from accordance.executors.protocol import Assignment, Produced
from accordance.store.ledger import Ledger, Transaction

_CODER: Final = "coder.v1"  # what whoever changes a repository is told, where no route says otherwise
CONCURRENCY: Final = 4  # runs of one executor at once, where nothing else is said


def queue_name(executor: str, model: str | None = None) -> str:
    """The queue of an executor, or of one of its models that has bounds of its own."""
    return executor if model is None else f"{executor}/{model}"


Heard: TypeAlias = Callable[[Attempt, Mapping[str, Any]], None]


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
        choice = self.routing.choose(wanted(task), _tier(self.routing, task, kind_of(task)))
        if executor_for(choice.spec, self.home.root) is None:
            return None
        return queue_name(choice.executor, choice.model if choice.model in choice.spec.bounds else None)

    def landing(self, heard: Heard) -> Heard:
        """Whoever hears of settled attempts, with the plan's branch moved before, where a change has been approved."""

        def settled(one: Attempt, answer: Mapping[str, Any]) -> None:
            if answer.get("state") == State.DONE and ("commit" in answer or one.kind == "review"):
                with self.ledger.read() as tx:
                    task = tx.task(str(answer["task_id"]))
                if TAG in task.tags:
                    self.workshop.publish(self.ledger, task.plan_id)
            heard(one, answer)

        return settled

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
            choice = self.routing.choose(wanted(task, kind), _tier(self.routing, task, kind))
            executor = executor_for(choice.spec, self.home.root)
            if executor is None:
                return Produced(fault=Fault.STOPPED, text="it waits for somebody who asks for it")
            if task.lease is None:  # whatever came of it would be refused
                return Produced(fault=Fault.STOPPED, text="somebody has taken the task away")
            budget = budget_left(tx, task.task_id, tx.plan(task.plan_id).rules.fuses)
            if isinstance(budget, str):
                return Produced(fault=Fault.OVER_BUDGET, text=budget)
            try:
                job = self.workshop.commission(tx, task) if one.kind == "action" else None
                told, given = self._assignment(tx, Taken(task, kind, task.lease), one, choice, job)
            except ContextTooLarge as error:
                return Produced(fault=Fault.TOO_LONG, text=str(error))
            except PreflightFailed as error:
                return Produced(fault=Fault.UNPREPARED, text=str(error))
        run = RunOf(plan_id=task.plan_id, task_id=task.task_id, kind=one.kind, attempt=one.number)
        with self.ledger.write() as tx:
            keep_prompt(tx, run, told, executor=choice.executor, model=choice.model)
        given = replace(given, memory=KeptAnswers(self.ledger, run))
        limits = replace(limits_for(choice.spec), stop=stop, budget=budget)
        if job is None:
            return executor.run(given, limits)
        limits = replace(limits, seconds=min(limits.seconds, job.seconds))
        return self.workshop.carry_out(
            job,
            choice,
            lambda work, opinion: executor.run(replace(given, work=work, opinion=opinion), limits),
        )

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
            folder=self._folder(one),
            model=choice.model,
        )

    def _folder(self, one: Attempt) -> Path:
        """A folder for this run alone: an earlier run of the same attempt that was cut off keeps its own."""
        base = self.home.runs / safe_name(one.task_id)
        tries = len(list(base.glob(f"{one.kind}-{one.number}-*"))) + 1
        folder = base / f"{one.kind}-{one.number}-{tries}"
        folder.mkdir(parents=True)
        return folder


def _kind(said: str) -> Literal["action", "review"]:
    return "action" if said == "action" else "review"


def _tier(routing: Routing, task: TaskRecord, kind: Kind) -> int | None:
    """How strong a model has to be: after each failed attempt the next stronger one is asked, where there is one."""
    used = task.progress.standing.used
    failed = used.failures + used.parse_failures
    asked = wanted(task, kind)
    first, tiers = routing.choose(asked).tier, sorted(routing.tiers_for(asked), reverse=True)
    stronger = [tier for tier in tiers if first is None or tier < first]  # 1 is the strongest
    return stronger[min(failed, len(stronger)) - 1] if failed and stronger else None
