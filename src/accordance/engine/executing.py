"""One run of one executor: who does it, what they are told, within which limits."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from accordance.contracts.context import Context
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.naming import safe_name
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Choice, Kind, Routing, Wanted
from accordance.engine.assignment import assignment
from accordance.engine.contracts_for import ACTIONS, review_context, reviews_by
from accordance.engine.durable import Attempt
from accordance.engine.home import Home
from accordance.engine.working import Taken
from accordance.errors import ContextTooLarge
from accordance.executors.catalogue import executor_for, limits_for
from accordance.executors.prompt_building import build_prompt
from accordance.executors.protocol import Assignment, Produced
from accordance.store.ledger import Ledger, Transaction

CONCURRENCY: Final = 4  # runs of one executor at once, where nothing else is said


@dataclass(frozen=True)
class Executing:
    """Runs attempts by the routes of a project."""

    ledger: Ledger
    home: Home
    routing: Routing
    stop: threading.Event = field(default_factory=threading.Event)

    def queue_of(self, task: TaskRecord) -> str | None:
        """The queue of the executor a task goes to; None if somebody elsewhere asks for it. Raises NoExecutor."""
        kind = "review" if task.checks or task.progress.state is State.READY_TO_CHECK else "action"
        choice = self.routing.choose(wanted(task, kind))
        return None if executor_for(choice.spec, self.home.root) is None else choice.executor

    def queues(self) -> dict[str, int]:
        """How many runs at once, for each executor."""
        return {name: spec.concurrency or CONCURRENCY for name, spec in self.routing.executors.items()}

    def run(self, one: Attempt) -> Produced:
        """Let the executor of an attempt run."""
        with self.ledger.read() as tx:
            task = tx.task(one.task_id)
            choice = self.routing.choose(wanted(task, one.kind), _tier(self.routing, task, one.kind))
            try:
                told = self._assignment(tx, task, one, choice)
            except ContextTooLarge as error:
                return Produced(fault=Fault.TOO_LONG, text=str(error))
        executor = executor_for(choice.spec, self.home.root)
        if executor is None:
            return Produced(fault=Fault.STOPPED, text="it waits for somebody who asks for it")
        return executor.run(told, replace(limits_for(choice.spec), stop=self.stop))

    def _assignment(self, tx: Transaction, task: TaskRecord, one: Attempt, choice: Choice) -> Assignment:
        if task.lease is None:  # somebody has taken it away; what comes of the run will be refused
            raise ContextTooLarge(0, 0)
        taken = Taken(task, "action" if one.kind == "action" else "review", task.lease)
        document = assignment(tx, self.home, taken)
        rules = tx.plan(task.plan_id).rules
        if taken.kind == "action":
            contract, context = ACTIONS, Context(task_id=task.task_id)
        else:
            contract = reviews_by(rules.node_rubric, "TASK_CHECK")  # type: ignore[assignment]
            context = review_context(rules.node_rubric, task_id=document["contract"]["task_id"])
        return Assignment(
            document=document,
            contract=contract,
            context=context,
            prompt=build_prompt(document, choice.prompt, self.home.root),
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


def wanted(task: TaskRecord, kind: str) -> Wanted:
    """What routes look at."""
    named: Kind = "action" if kind == "action" else "review"
    return Wanted(kind=named, role=task.owner_agent_id, node_type=task.node_type, tags=frozenset(task.tags))


def _tier(routing: Routing, task: TaskRecord, kind: str) -> int | None:
    """After a failed attempt a stronger model is asked, where there is one."""
    used = task.progress.standing.used
    failed = used.failures + used.parse_failures
    tiers = sorted(routing.tiers_for(wanted(task, kind)), reverse=True)  # 1 is the strongest
    return tiers[min(failed, len(tiers)) - 1] if failed and tiers else None
