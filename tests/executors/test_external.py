"""Agents elsewhere: a small loop in a shell, and one that speaks MCP. They ask for work; nobody runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from accordance.executors.catalogue import executor_for
from tests.acceptance.cli import accordance
from tests.executors.assignments import a_spec
from tests.messages import ACTION, edge, node, plan
from tests.reviews import node_review

MESSAGE = {**ACTION, "artifact": {"name": "text", "format": "md", "content": "made elsewhere"}}
LOOP = """
set -eu
while accordance task next --json --worker elsewhere --lease 60 > task.json
do
  accordance task extend $(python3 ask.py task task_id) --attempt $(python3 ask.py attempt) > extended.txt
  python3 answer.py | $(python3 ask.py hand_in)
done
"""
ASK = """
import json, sys
found = json.load(open("task.json"))
for key in sys.argv[1:]:
    found = found[key]
print(*found) if isinstance(found, list) else print(found)
"""
ANSWER = f"""
import json
task = json.load(open("task.json"))
said = {json.dumps(MESSAGE)} if task["kind"] == "action" else json.loads({json.dumps(json.dumps(node_review("")))})
print(json.dumps({{**said, "task_id": task["contract"]["task_id"]}}))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A project with a plan of two actions, one after the other, one of them reviewed."""
    nodes = [node("root", "GOAL"), node("first"), node("second"), node("look", "CHECK")]
    edges = [
        edge("root", "first"),
        edge("root", "second"),
        edge("root", "look"),
        edge("first", "second", "DEPENDS_ON"),
        edge("second", "look", "DEPENDS_ON"),
    ]
    (tmp_path / ".accordance").mkdir()
    (tmp_path / "plan.json").write_text(json.dumps(plan(nodes, edges)))
    assert accordance("plan", "import", "plan.json", "--no-review", cwd=tmp_path).code == 0
    return tmp_path


def states(home: Path) -> dict[str, str]:
    """Where every task stands."""
    return {
        name: accordance("task", "show", name, "--json", cwd=home).json["state"]
        for name in ("first", "second", "look")
    }


def test_a_loop_in_a_shell_does_the_work(home: Path) -> None:
    """next, extend, submit, with a lease; until there is nothing left for it."""
    here = Path(sys.executable).parent
    env = {**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"}
    (home / "ask.py").write_text(ASK)
    (home / "answer.py").write_text(ANSWER)
    done = subprocess.run(["sh", "-c", LOOP], cwd=home, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert states(home) == {"first": "DONE", "second": "DONE", "look": "DONE"}


def test_nobody_here_runs_what_is_external(tmp_path: Path) -> None:
    """There is no executor for it: it waits until somebody asks."""
    assert executor_for(a_spec(kind="external"), tmp_path) is None


def test_an_agent_takes_tasks_over_mcp(home: Path) -> None:
    """next, extend, a bad message, a good one, a review; and what is not so is said, not raised."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "accordance.cli.main", "mcp", "--plan", plan([], [])["plan"]["plan_id"]],
        cwd=home,
        env=dict(os.environ),
    )
    asked: list[tuple[str, dict[str, Any]]] = [
        ("extend", {}),
        ("next", {}),
        ("extend", {}),
        ("submit", {"message": {**MESSAGE, "task_id": "first", "result_type": "NOPE"}}),
        ("next", {}),
        ("submit", {"message": {**MESSAGE, "task_id": "first"}}),
        ("next", {}),
        ("submit", {"message": node_review("first")}),
        ("next", {}),
        ("submit", {"message": json.dumps({**MESSAGE, "task_id": "second"})}),
        ("next", {}),
        ("submit", {"message": node_review("second")}),
        ("next", {}),
        ("nothing", {}),
    ]
    told: list[CallToolResult] = []

    async def talk() -> None:
        async with Client(server, read_timeout_seconds=120) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == {"next", "submit", "extend"}
            for name, arguments in asked:
                told.append(await client.call_tool(name, arguments))

    anyio.run(talk)
    said = [one.structured_content for one in told]
    assert "no task to keep" in said[0]["error"]
    assert said[1]["task"]["task_id"] == "first"
    assert said[2]["task_id"] == "first"
    assert (said[3]["status"], said[3]["outcome"]) == ("rejected", "RETRY")
    assert [said[at]["kind"] for at in (4, 6, 8, 10)] == ["action", "review", "action", "review"]
    assert [said[at]["status"] for at in (5, 7, 9, 11)] == ["accepted"] * 4
    assert said[12] == {"task": None, "why": "FINISHED", "text": "the plan is finished"}
    assert "unknown tool 'nothing'" in said[13]["error"]
    assert [one.is_error for one in told] == [True, *[False] * 12, True]
    assert states(home) == {"first": "DONE", "second": "DONE", "look": "DONE"}


def test_the_tools_can_be_listed(home: Path) -> None:
    """Without serving."""
    told = accordance("mcp", "--json", cwd=home)
    assert [tool["name"] for tool in told.json] == ["next", "submit", "extend"]
