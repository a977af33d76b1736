"""The real codex, opencode and Claude Code take a task over HTTP and work it to DONE, against a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.cli.doors import open_doors
from accordance.service.project import Project
from accordance.service.task_records import show_task
from tests.executors.agents.by_hand import KINDS, ByHand, Door, installed
from tests.fake_model_server import Json, Script
from tests.fake_model_server import serving as serving_model
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.server.conftest import new_project
from tests.server.mcp_agent import approval, connected, product, running
from tests.server.stage import Served, serving
from tests.service.conftest import brings

pytestmark = pytest.mark.xdist_group("agents")  # each of them wants a core for itself


@pytest.fixture(params=KINDS)
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> ByHand:
    """An agent that is installed."""
    return installed(str(request.param), tmp_path / "agent")


@pytest.fixture
def project(tmp_path: Path, prepared_sqlite: PreparedSqlite) -> Iterator[Project]:
    """A project with a plan of two actions in a row, a and b."""
    project = new_project(tmp_path / "home", prepared_sqlite)
    brings(project, small_plan())
    yield project
    project.ledger.close()


@pytest.fixture
def served(project: Project) -> Iterator[Served]:
    """The project, with the doors for agents."""

    def refuse(line: str) -> None:
        raise AssertionError(line)

    with serving(project, mounts=open_doors(refuse)) as served:
        yield served


def approve(served: Served, task: str) -> None:
    """Review a task by an agent of its own."""
    key = served.key("agent", name="critic")

    async def act() -> None:
        async with connected(served.url, key) as critic:
            await critic("next_task")
            review = await critic("submit", message=approval(task))
            assert review["outcome"] == "DONE"

    running(act)


def test_an_agent_takes_a_task_over_http_and_works_it_to_done(
    agent: ByHand, served: Served, project: Project, tmp_path: Path
) -> None:
    """Its first message is refused with the reasons; it mends it in the same session, and a review makes it DONE."""
    bad = {**product("a"), "result_type": "NOPE"}
    steps: list[Json] = [
        {"mcp": "next_task"},
        {"mcp": "submit", "args": {"message": bad}},
        {"mcp": "next_task"},
        {"mcp": "submit", "args": {"message": product("a")}},
        {"say": "Handed in."},
    ]
    door = Door(f"{served.url}/mcp", served.key("agent", name="maker"))
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    with serving_model(Script(steps)) as model:
        printed = agent.work(folder, model.url, door)
        bodies = [str(request["body"]) for request in model.asked]

    assert "Handed in." in printed
    assert any("not_in_enum" in body for body in bodies)  # it has read why
    approve(served, "a")
    shown = show_task(project, "a")
    assert shown.state.value == "DONE"
    assert [attempt.outcome for attempt in shown.attempts] == ["RETRY", None]
