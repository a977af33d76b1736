"""What whoever takes up a task is given: by a model's prompt, by a program's JSON, by `task next` and over MCP alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.prompting import rebuild
from accordance.executors.prompt_building import build_prompt
from accordance.mcp.serving import desk_for
from accordance.project.home import Home
from accordance.service.project import Project as ServedProject
from accordance.store.memory import MemoryLedger
from accordance.work.assignment import assignment
from accordance.work.taking import Taken
from tests.ledger.project import Clock, Project
from tests.messages import Message, changed, edge, node, plan

CRITERIA = [
    "names a price",
    {"id": "c2", "statement": "fits on a page", "severity": "HIGH"},
]
SPEC = {"format": "md", "filename": "offer.md", "single_file": True}
ASKED = {
    "acceptance_criteria": CRITERIA,
    "deliverable_spec": SPEC,
    "estimated_person_days": 2,
}
CONSTRAINTS = {"language": "German"}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project on a ledger in memory."""
    clock = Clock()
    with_memory = Project(MemoryLedger(clock), Home(tmp_path), clock)
    yield with_memory
    with_memory.ledger.close()


def asking_plan(**more: Any) -> Message:
    """An action and its check, in a plan that says what it wants."""
    nodes = [
        node("root", "GOAL"),
        node("a", goal_statement="An offer", tags=["offer"], **more),
        node("check", "CHECK"),
    ]
    edges = [edge("root", "a"), edge("root", "check"), edge("a", "check", "DEPENDS_ON")]
    return changed(plan(nodes, edges), "plan.constraints", CONSTRAINTS)


def given(project: Project) -> dict[str, Any]:
    """What the next one to ask is told."""
    taken = project.take()
    assert isinstance(taken, Taken)
    with project.ledger.read() as tx:
        return assignment(tx, project.home, taken)


@pytest.mark.seed("001-27")
def test_an_executor_is_told_all_that_the_plan_asks_for(project: Project) -> None:
    """As JSON and in the prompt, which can be built again from its parts."""
    told = given(project.runs(asking_plan(**ASKED)))
    task = told["task"]
    assert (task["acceptance_criteria"], task["deliverable_spec"]) == (CRITERIA, SPEC)
    assert (task["goal_statement"], task["tags"]) == ("An offer", ["offer"])
    assert task["further"] == {"estimated_person_days": 2}
    assert told["plan"]["constraints"] == CONSTRAINTS
    prompt = build_prompt(told, "worker.v1", project.home.root).prompt
    for words in (
        "names a price",
        "fits on a page",
        "offer.md",
        "German",
        "estimated_person_days",
    ):
        assert words in prompt.user
    blobs = {part.sha256: part.text for part in prompt.parts}
    assert rebuild(prompt.recipe(), blobs.__getitem__).text == prompt.text


@pytest.mark.seed("004-11")
def test_a_reviewer_is_told_the_same_about_the_task_it_judges(project: Project) -> None:
    """It cannot hold a product to what it was never told."""
    project.runs(asking_plan(**ASKED)).submit("a")
    told = given(project)
    assert told["kind"] == "review"
    reviewed = told["context"]["reviewed_task"]
    assert (reviewed["acceptance_criteria"], reviewed["deliverable_spec"]) == (
        CRITERIA,
        SPEC,
    )
    assert told["plan"]["constraints"] == CONSTRAINTS
    prompt = build_prompt(told, "reviewer.v1", project.home.root).prompt
    for words in ("An offer", "names a price", "offer.md", "German"):
        assert words in prompt.user


def test_whoever_asks_over_mcp_is_told_the_same(project: Project) -> None:
    """One place builds it."""
    project.runs(asking_plan(**ASKED))
    served = ServedProject(project.home, project.ledger)
    told: Any = desk_for(served, holder="somebody").next_task({})
    assert told["task"]["acceptance_criteria"] == CRITERIA
    assert told["plan"]["constraints"] == CONSTRAINTS


def test_a_plan_that_asks_for_nothing_more(project: Project) -> None:
    """The keys are there and empty, and the prompt says nothing about them."""
    told = given(project.runs(changed(asking_plan(), "plan.constraints", None)))
    task = told["task"]
    assert (task["acceptance_criteria"], task["deliverable_spec"], task["further"]) == (
        None,
        None,
        {},
    )
    assert told["plan"]["constraints"] == {}
    prompt = build_prompt(told, "worker.v1", project.home.root).prompt
    assert "Acceptance criteria" not in prompt.user
    assert "Constraints of the plan" not in prompt.user


def test_a_key_of_the_plan_never_takes_the_place_of_a_fact(project: Project) -> None:
    """A node may carry any key, also one that accordance tells about a task itself."""
    told = given(project.runs(asking_plan(state="DONE", attempt_count=99)))
    assert told["task"]["state"] == "IN_PROGRESS"
    assert told["task"]["further"] == {"state": "DONE", "attempt_count": 99}
