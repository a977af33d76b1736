"""accordance in the loop of bench/engine.py: a plan of lanes, an executor that does nothing, and every message judged."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from engine_counting import Counted

from accordance import check_value
from accordance.domain.records import Rules
from accordance.domain.rubric import NODE_RUBRIC
from accordance.executors.protocol import Produced
from accordance.project.home import Home
from accordance.runtime.runner import Runner
from accordance.runtime.slots import Bound
from accordance.runtime.workflow import Attempt
from accordance.store.opening import open_ledger
from accordance.work.importing import import_plan

PLAN = "bench"
ROOT = "the-root-of-the-whole-plan"


def plan(tasks: int, lanes: int) -> dict[str, Any]:
    """Lanes of tasks, each waiting for the one before it in its lane."""
    names = [f"task-{at:06}" for at in range(tasks)]
    common = {"plan_id": PLAN, "owner_agent_id": "bench", "priority": 0, "tags": []}
    nodes = [{"task_id": ROOT, "node_type": "GOAL", "title": "all", **common}]
    nodes += [{"task_id": name, "node_type": "ACTION", "title": name, **common} for name in names]
    edges = [_edge(ROOT, name, "DECOMPOSE") for name in names]
    edges += [_edge(names[at - lanes], names[at], "DEPENDS_ON") for at in range(lanes, tasks)]
    head = {"plan_id": PLAN, "title": "bench", "root_task_id": ROOT, "owner_agent_id": "bench"}
    head |= {"created_at": "2026-01-01T00:00:00Z", "constraints": None}
    return {"plan": head, "nodes": nodes, "edges": edges, "requirements": []}


def _edge(source: str, target: str, kind: str) -> dict[str, Any]:
    ends = {
        "edge_id": f"{kind}:{source}:{target}",
        "plan_id": PLAN,
        "from_task_id": source,
        "to_task_id": target,
    }
    return {**ends, "edge_type": kind, "metadata": {"and_or": "AND"} if kind == "DECOMPOSE" else {}}


def bring(place: str, tasks: int, lanes: int) -> None:
    """Import the plan."""
    ledger = open_ledger(place)
    result = check_value(plan(tasks, lanes), "PLAN_GEN")
    import_plan(ledger, result.value, Rules(), waived_by="bench")
    ledger.close()


def action(task: str) -> dict[str, Any]:
    """A small product."""
    artifact = {"name": "text", "format": "md", "content": f"{task} " * 20, "summary": None}
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
    said = {
        "schema_version": "xiaojing_review_v1",
        "task_id": task,
        "review_target": "NODE",
        "total_score": 100,
    }
    said |= {"action_required": "APPROVE", "summary": "good"}
    return {**said, "breakdown": breakdown, "suggestions": []}


def nothing(one: Attempt, _: threading.Event) -> Produced:
    """An executor that does nothing but answer."""
    said = action(one.task_id) if one.kind == "action" else review(one.task_id)
    return Produced(raw=json.dumps(said).encode())


def main(told: dict[str, Any]) -> None:
    """Work until told to stop on standard input."""
    counted = Counted()
    ended = 0

    def heard(*_: object) -> None:
        nonlocal ended
        ended += 1

    runner = Runner(
        told["place"],
        Home(Path(told["home"])),
        nothing,
        lambda _: "q",
        {"q": Bound(runs=told["runs"])},
        PLAN,
        told["name"],
        heard=heard,
    )
    working = threading.Thread(target=runner.until_stopped)
    working.start()
    print("ready", flush=True)
    input()
    report = counted.report(1)
    runner.stop()
    working.join()
    print(json.dumps({"done": ended / 2, **report}), flush=True)
