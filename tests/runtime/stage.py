"""A plan, a ledger and an executor made of a function: what the engine's tests run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from accordance import Accepted, check_value
from accordance.audit.verifying import verify_plan
from accordance.domain.records import MessageRecord, Rules, TaskRecord, VerdictRecord
from accordance.domain.routing import Choice
from accordance.domain.usage import Budget
from accordance.executors.protocol import RunOutcome
from accordance.project.home import Home
from accordance.runtime.budgets import share_of_plan
from accordance.runtime.ports import TaskAttempt
from accordance.runtime.runner import Runner
from accordance.runtime.slots import Bound
from accordance.store.ledger import Transaction
from accordance.store.opening import open_ledger
from accordance.store.sql import SqlLedger
from accordance.work.importing import import_plan
from tests.ledger.project import product
from tests.messages import PLAN, Message, edge, node, plan
from tests.reviews import node_review

QUEUE = {"q": Bound(runs=4)}

Run: TypeAlias = Callable[[TaskAttempt, threading.Event], RunOutcome]
QueueOf: TypeAlias = Callable[[TaskRecord], str | None]


def lanes(tasks: int, wide: int = 4) -> Message:
    """A goal over lanes of actions, each waiting for the one before it."""
    names = [f"n{at:04}" for at in range(tasks)]
    edges = [edge("root", name) for name in names]
    edges += [
        edge(names[at - wide], names[at], "DEPENDS_ON") for at in range(wide, tasks)
    ]
    return plan([node("root", "GOAL"), *(node(name) for name in names)], edges)


def said(one: TaskAttempt, text: str = "text") -> RunOutcome:
    """What a good executor says."""
    message = (
        product(one.task_id, text)
        if one.kind == "action"
        else node_review(one.task_id, 95)
    )
    return RunOutcome(raw=json.dumps(message).encode())


def good(one: TaskAttempt, _: threading.Event) -> RunOutcome:
    """A good executor."""
    return said(one)


def into_q(_: TaskRecord) -> str | None:
    """Everything goes into one queue."""
    return "q"


@dataclass(frozen=True)
class ScriptedAttempts:
    """Executors made of functions: one runs every attempt, one says whose queue a task goes into."""

    run_with: Run = good
    queue_with: QueueOf = into_q
    bounds: Mapping[str, Bound] = field(default_factory=lambda: QUEUE)
    choice: Choice | None = None  # None: programs, which use no tokens

    def queues(self) -> Mapping[str, Bound]:
        """The queues that are served."""
        return self.bounds

    def queue_of(self, task: TaskRecord, _: bytes | None) -> str | None:
        """The queue of a task."""
        return self.queue_with(task)

    def share(
        self, tx: Transaction, task: TaskRecord, _queue: str, _change: bytes | None
    ) -> Budget | str | None:
        """What an attempt reserves, where a model of this executor is asked."""
        return share_of_plan(tx, task, self.choice) if self.choice else None

    def holding(self, _tx: Transaction, _task: TaskRecord) -> dict[str, Any]:
        """Actions are held to the contract of actions."""
        return {}

    def run(self, attempt: TaskAttempt, stop: threading.Event) -> RunOutcome:
        """One run."""
        return self.run_with(attempt, stop)


@dataclass
class Stage:
    """One project on one ledger; its engine can be run again and again."""

    place: str
    home: Home
    ledger: SqlLedger
    heard: list[tuple[TaskAttempt, dict[str, Any]]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def brings(self, message: Message, rules: Rules | None = None) -> Stage:
        """Import a plan that may begin at once."""
        result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
        assert isinstance(result, Accepted), result
        import_plan(self.ledger, result.value, rules or Rules(), waived_by="test")
        return self

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Keep what a listener hears of an attempt."""
        self.heard.append((attempt, dict(answer)))

    def notice(self, text: str) -> None:
        """Keep what a listener is told."""
        self.told.append(text)

    def runner(
        self,
        run: Run = good,
        *,
        queue_of: QueueOf = into_q,
        queues: Mapping[str, Bound] = QUEUE,
        choice: Choice | None = None,
        **more: Any,
    ) -> Runner:
        """A runner on it; the stage listens, unless somebody else does."""
        attempts = ScriptedAttempts(run, queue_of, queues, choice)
        more.setdefault("listener", self)
        return Runner(self.place, self.home, attempts, **more)

    def states(self) -> dict[str, str]:
        """Where all tasks stand."""
        with self.ledger.read() as tx:
            return {task.task_id: task.progress.state.value for task in tx.tasks(PLAN)}

    def task(self, name: str) -> TaskRecord:
        """A task."""
        with self.ledger.read() as tx:
            return tx.task(name)

    def holds(self) -> bool:
        """Whether everything that was recomputed is as it was written."""
        with self.ledger.read() as tx:
            found = verify_plan(tx, tx.plan(PLAN))
        assert (found.integrity, found.completeness) == ([], [])
        return True

    def accepted(self) -> dict[str, list[str]]:
        """The kinds of accepted messages, by task."""
        found: dict[str, list[str]] = {}
        with self.ledger.read() as tx:
            for message in tx.find(MessageRecord, plan_id=PLAN, accepted=True):
                found.setdefault(message.subject, []).append(message.kind)
        return found

    def verdicts(self, task: str) -> list[tuple[str, str]]:
        """What was decided about a task."""
        with self.ledger.read() as tx:
            return [
                (one.outcome, one.reason_code)
                for one in tx.find(VerdictRecord, subject=task)
            ]


def stage(place: str, folder: Path) -> Stage:
    """A project with a ledger at a place."""
    home = Home(folder)
    return Stage(place, home, open_ledger(place, blobs=home.blobs()))
