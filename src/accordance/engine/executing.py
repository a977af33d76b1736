"""One run of one executor: who does it, what they are told, within which limits."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from accordance.contracts.catalogue.edits import EDITS
from accordance.contracts.catalogue.submit import SUBMIT
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.domain.case import claim_context
from accordance.domain.context_pack import Piece
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.naming import safe_name
from accordance.domain.records import TaskRecord
from accordance.domain.routing import PROMPTS, Choice, Routing, Wanted
from accordance.engine.asking import PreflightFailed
from accordance.engine.assignment import assignment
from accordance.engine.coding import Commission, Workshop, workshop_of
from accordance.engine.coding_tasks import TAG
from accordance.engine.contracts_for import contract_of_change, contract_of_message, review_context
from accordance.engine.durable import Attempt
from accordance.engine.home import Home
from accordance.engine.kept_runs import KeptAnswers, RunOf, budget_left, keep_prompt
from accordance.engine.slots import Bound
from accordance.engine.working import Taken
from accordance.errors import ContextTooLarge
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.opinion import Opinion
from accordance.executors.prompt_building import tell
from accordance.executors.protocol import Assignment, Executor, Limits, Produced
from accordance.executors.showing import show
from accordance.store.ledger import Ledger, Transaction

_CODERS: Final = {SUBMIT.version: "coder.v1", EDITS.version: "editor.v1"}
"""What whoever changes a repository is told, by the contract of the answer, where no route says otherwise."""
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
        kind = "review" if task.checks or task.progress.state is State.READY_TO_CHECK else "action"
        choice = self.routing.choose(wanted(task, kind), _tier(self.routing, task, kind))
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
        """What may run at once, and how much in a minute: for each executor, and for each of its models that says so."""
        found: dict[str, Bound] = {}
        for name, spec in self.routing.executors.items():
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
            choice = self.routing.choose(wanted(task, one.kind), _tier(self.routing, task, one.kind))
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
            except PreflightFailed as error:
                return Produced(fault=Fault.UNPREPARED, text=str(error))
            run = self._run_of(tx, Taken(task, _kind(one.kind), task.lease), one, choice, job)
        limits = replace(limits_for(choice.spec), stop=stop, budget=budget)
        if job is None:
            return run.begin(executor, limits)
        limits = replace(limits, seconds=min(limits.seconds, job.seconds))
        return self.workshop.carry_out(
            job, choice, lambda work, opinion: run.begin(executor, limits, work, opinion)
        )

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
            contract=contract_of_message(taken.kind, rules, of_change if job else None),
            context=context,
            folder=self._folder(one),
        )

    def _folder(self, one: Attempt) -> Path:
        """A folder for this run alone: an earlier run of the same attempt that was cut off keeps its own."""
        base = self.home.runs / safe_name(one.task_id)
        tries = len(list(base.glob(f"{one.kind}-{one.number}-*"))) + 1
        folder = base / f"{one.kind}-{one.number}-{tries}"
        folder.mkdir(parents=True)
        return folder


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

    def begin(
        self,
        executor: Executor,
        limits: Limits,
        work: Path | None = None,
        opinion: Callable[[bytes], Opinion] | None = None,
    ) -> Produced:
        """Tell the executor what to do, keep what it is told, and let it work."""
        try:
            told = tell(self.document, self._prompt, self.root, self._shown(work))
        except ContextTooLarge as error:
            return Produced(fault=Fault.TOO_LONG, text=str(error))
        choice = self.choice
        with self.ledger.write() as tx:
            keep_prompt(tx, self.run, told, executor=choice.executor, model=choice.model)
        given = Assignment(
            document=self.document,
            contract=self.contract,
            context=self.context,
            prompt=told.prompt,
            folder=self.folder,
            model=choice.model,
            work=work,
            opinion=opinion,
            memory=KeptAnswers(self.ledger, self.run),
        )
        return executor.run(given, limits)

    @property
    def _prompt(self) -> str:
        """What the route says; where it says nothing, what fits those who change a repository."""
        usual = self.choice.prompt == PROMPTS["action"]
        return _CODERS.get(self.contract.version, self.choice.prompt) if usual else self.choice.prompt

    def _shown(self, work: Path | None) -> tuple[Piece, ...]:
        """The files of the clone, for a model: everybody else looks for themselves."""
        if work is None or self.contract.version != EDITS.version:
            return ()
        return show(work, self.document["change"])


def _kind(said: str) -> Literal["action", "review"]:
    return "action" if said == "action" else "review"


def wanted(task: TaskRecord, kind: str) -> Wanted:
    """What routes look at."""
    return Wanted(
        kind=_kind(kind), role=task.owner_agent_id, node_type=task.node_type, tags=frozenset(task.tags)
    )


def _tier(routing: Routing, task: TaskRecord, kind: str) -> int | None:
    """How strong a model has to be: after each failed attempt the next stronger one is asked, where there is one."""
    used = task.progress.standing.used
    failed = used.failures + used.parse_failures
    asked = wanted(task, kind)
    first, tiers = routing.choose(asked).tier, sorted(routing.tiers_for(asked), reverse=True)
    stronger = [tier for tier in tiers if first is None or tier < first]  # 1 is the strongest
    return stronger[min(failed, len(stronger)) - 1] if failed and stronger else None
