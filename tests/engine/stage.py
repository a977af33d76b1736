"""A plan, a ledger and an executor made of a function: what the engine's tests run."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accordance import Accepted, check_value
from accordance.audit.verifying import verify_plan
from accordance.domain.records import MessageRecord, Rules, TaskRecord, VerdictRecord
from accordance.executors.protocol import Produced
from accordance.project.home import Home
from accordance.runtime.runner import Runner
from accordance.runtime.slots import Bound
from accordance.runtime.workflow import LOCAL, Attempt, Run
from accordance.store.opening import open_ledger
from accordance.store.sql import SqlLedger
from accordance.work.importing import import_plan
from tests.ledger.project import product
from tests.messages import PLAN, Message, edge, node, plan
from tests.reviews import node_review

QUEUE = {"q": Bound(runs=4)}


def lanes(tasks: int, wide: int = 4) -> Message:
    """A goal over lanes of actions, each waiting for the one before it."""
    names = [f"n{at:04}" for at in range(tasks)]
    edges = [edge("root", name) for name in names]
    edges += [edge(names[at - wide], names[at], "DEPENDS_ON") for at in range(wide, tasks)]
    return plan([node("root", "GOAL"), *(node(name) for name in names)], edges)


def said(one: Attempt, text: str = "text") -> Produced:
    """What a good executor says."""
    message = product(one.task_id, text) if one.kind == "action" else node_review(one.task_id, 95)
    return Produced(raw=json.dumps(message).encode())


def good(one: Attempt, _: threading.Event) -> Produced:
    """A good executor."""
    return said(one)


@dataclass
class Stage:
    """One project on one ledger; its engine can be run again and again."""

    place: str
    home: Home
    ledger: SqlLedger
    heard: list[tuple[Attempt, dict[str, Any]]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    def brings(self, message: Message, rules: Rules | None = None) -> Stage:
        """Import a plan that may begin at once."""
        result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
        assert isinstance(result, Accepted), result
        import_plan(self.ledger, result.value, rules or Rules(), waived_by="test")
        return self

    def runner(self, run: Run = good, **more: Any) -> Runner:
        """A runner on it."""
        more.setdefault("queues", QUEUE)
        queue_of: Callable[[TaskRecord], str | None] = more.pop("queue_of", lambda _: "q")
        return Runner(
            self.place,
            self.home,
            run,
            lambda _, task: queue_of(task),
            executor_id=more.pop("executor_id", LOCAL),
            heard=lambda one, answer: self.heard.append((one, dict(answer))),
            told=self.told.append,
            **more,
        )

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
            return [(one.outcome, one.reason_code) for one in tx.find(VerdictRecord, subject=task)]


def stage(place: str, folder: Path) -> Stage:
    """A project with a ledger at a place."""
    return Stage(place, Home(folder), open_ledger(place))
