"""accordance in the loop of bench/engine.py: a plan of lanes, an executor that does nothing, every message judged."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from engine_counting import Counted

from accordance import check_value
from accordance.domain.records import Rules, TaskRecord
from accordance.domain.rubric import NODE_RUBRIC
from accordance.executors.protocol import RunOutcome
from accordance.project.home import Home
from accordance.runtime.ports import TaskAttempt
from accordance.runtime.runner import Runner
from accordance.runtime.slots import Bound
from accordance.service.runs import spare_what_is_loaded
from accordance.store.ledger import Transaction
from accordance.store.opening import open_ledger
from accordance.work.importing import import_plan

PLAN = "bench"
ROOT = "the-root-of-the-whole-plan"


def plan(tasks: int, lanes: int, number: int = 0) -> dict[str, Any]:
    """Lanes of tasks; each task waits for its predecessor in the lane."""
    plan_id = plan_id_of(number)
    root = f"{ROOT}-{number}" if number else ROOT
    prefix = f"plan-{number}-" if number else ""
    names = [f"{prefix}task-{at:06}" for at in range(tasks)]
    common = {"plan_id": plan_id, "owner_agent_id": "bench", "priority": 0, "tags": []}
    nodes = [{"task_id": root, "node_type": "GOAL", "title": "all", **common}]
    nodes += [
        {"task_id": name, "node_type": "ACTION", "title": name, **common}
        for name in names
    ]
    edges = [_edge(plan_id, root, name, "DECOMPOSE") for name in names]
    edges += [
        _edge(plan_id, names[at - lanes], names[at], "DEPENDS_ON")
        for at in range(lanes, tasks)
    ]
    head = {
        "plan_id": plan_id,
        "title": "bench",
        "root_task_id": root,
        "owner_agent_id": "bench",
    }
    head |= {"created_at": "2026-01-01T00:00:00Z", "constraints": None}
    return {"plan": head, "nodes": nodes, "edges": edges, "requirements": []}


def plan_id_of(number: int) -> str:
    """The id of a plan; the first is PLAN."""
    return f"{PLAN}-{number}" if number else PLAN


def _edge(plan_id: str, source: str, target: str, kind: str) -> dict[str, Any]:
    ends = {
        "edge_id": f"{kind}:{source}:{target}",
        "plan_id": plan_id,
        "from_task_id": source,
        "to_task_id": target,
    }
    return {
        **ends,
        "edge_type": kind,
        "metadata": {"and_or": "AND"} if kind == "DECOMPOSE" else {},
    }


def bring(place: str, tasks: int, lanes: int, plans: int = 1) -> None:
    """Import one or more plans, with this many tasks in total."""
    ledger = open_ledger(place)
    for number in range(plans):
        result = check_value(plan(tasks // plans, lanes, number), "PLAN_GEN")
        import_plan(ledger, result.value, Rules(), waived_by="bench")
    ledger.close()


def action(task: str) -> dict[str, Any]:
    """A small product."""
    artifact = {
        "name": "text",
        "format": "md",
        "content": f"{task} " * 20,
        "summary": None,
    }
    return {
        "schema_version": "xiaobo_action_v1",
        "task_id": task,
        "result_type": "ARTIFACT",
        "artifact": artifact,
    }


def review(task: str) -> dict[str, Any]:
    """A review that approves."""
    breakdown = [
        {"dimension": name, "score": most, "max_score": most, "issues": []}
        for name, most in NODE_RUBRIC.maxima.items()
    ]
    message = {
        "schema_version": "xiaojing_review_v1",
        "task_id": task,
        "review_target": "NODE",
        "total_score": 100,
    }
    message |= {"action_required": "APPROVE", "summary": "good"}
    return {**message, "breakdown": breakdown, "suggestions": []}


class Idle:
    """An executor that does nothing but answer, with a single queue."""

    def __init__(self, runs: int) -> None:
        self.runs = runs

    def queues(self) -> dict[str, Bound]:
        """The queue, and how many run at once."""
        return {"q": Bound(runs=self.runs)}

    def share(
        self, _tx: Transaction, _task: TaskRecord, _queue: str, _change: bytes | None
    ) -> None:
        """Reserve nothing: no model is asked."""

    def queue_of(self, _task: TaskRecord, _change: bytes | None) -> str:
        """The queue for everything."""
        return "q"

    def holding(self, _tx: Transaction, _task: TaskRecord) -> dict[str, Any]:
        """The contract of actions."""
        return {}

    def run(self, attempt: TaskAttempt, _: threading.Event) -> RunOutcome:
        """Answer."""
        message = (
            action(attempt.task_id)
            if attempt.kind == "action"
            else review(attempt.task_id)
        )
        return RunOutcome(raw=json.dumps(message).encode())


class Ended:
    """Counts the attempts that have ended."""

    count = 0

    def attempt_ended(self, *_: object) -> None:
        """Count an attempt."""
        self.count += 1

    def notice(self, _: str) -> None:
        """Not counted."""


def main(parameters: dict[str, Any]) -> None:
    """Work until a line on standard input."""
    counted = Counted()
    ended = Ended()
    home = Home(Path(parameters["home"]))
    runner = Runner(
        parameters["place"],
        home,
        Idle(parameters["runs"]),
        None if parameters.get("plans", 1) > 1 else PLAN,
        parameters["name"],
        listener=ended,
    )
    working = threading.Thread(target=runner.until_stopped)
    print("ready", flush=True)
    input()  # all workers begin together
    spare_what_is_loaded()
    counted.restart()
    working.start()
    input()
    report = counted.report(1)
    runner.stop()
    working.join()
    print(json.dumps({"done": ended.count / 2, **report}), flush=True)
