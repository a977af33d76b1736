"""Plans that a server carries out in its own process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from accordance.service.project import Project
from tests.messages import small_plan
from tests.server.stage import serving
from tests.service.conftest import brings

WORKER = """\
import json, sys
task = json.load(sys.stdin)["task"]["task_id"]
artifact = {"name": task, "format": "md", "content": "done"}
print(json.dumps({"schema_version": "xiaobo_action_v1", "task_id": task,
                  "result_type": "ARTIFACT", "artifact": artifact}))
"""


def with_executor(project: Project) -> None:
    """Give the project an executor that does everything."""
    script = project.home.root / "worker.py"
    script.write_text(WORKER)
    (project.home.root / "accordance.toml").write_text(
        "[executors.maker]\n"
        'kind = "command"\n'
        f"command = [{str(Path(sys.executable))!r}, {str(script)!r}]\n"
        "[[routes]]\n"
        'executor = "maker"\n'
    )


def until(ask: Callable[[], Any], holds: Callable[[Any], bool]) -> Any:
    """Ask until something holds."""
    pause = threading.Event()
    for _ in range(600):
        value = ask()
        if holds(value):
            return value
        pause.wait(0.1)
    raise AssertionError(value)


def test_a_run_on_request(empty: Project) -> None:
    """It is started by a person, watched, and rests; a second one is a conflict."""
    with_executor(empty)
    plan = brings(empty, small_plan())
    with serving(empty) as served, served.client(served.key("operator")) as client:
        started = client.post("/v1/runs", json={"plan": plan.plan_id})
        assert started.status_code == 202
        path = f"/v1/runs/{started.json()['run_id']}"
        ended = until(
            lambda: client.get(path).json(), lambda run: run["ended_at"] is not None
        )
        assert ended["state"] == "rests", ended
        assert ended["asked_by"] == "operator"
        assert {attempt["task_id"] for attempt in ended["last"]} >= {"a"}
        assert [run["run_id"] for run in client.get("/v1/runs").json()["items"]] == [
            ended["run_id"]
        ]
        stopped: httpx.Response = client.post(f"{path}/stop")
        assert stopped.status_code == 200


def test_a_server_that_runs_everything(empty: Project) -> None:
    """`serve --run`: a plan that is imported is carried out without being asked for."""
    with_executor(empty)
    with serving(empty) as served, served.client(served.key("operator")) as client:
        served.state.runs.work_on(empty)
        plan = brings(empty, small_plan())
        path = f"/v1/plans/{plan.plan_id}/status"
        until(
            lambda: client.get(path).json()["states"],
            lambda states: states.get("READY_TO_CHECK", 0) + states.get("DONE", 0) >= 1,
        )
