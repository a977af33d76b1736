"""Small edits of a task in a plan's document."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.task_edits import TaskEdit, UnfitEdit, edited
from accordance.errors import AmbiguousName, NotFound

DOCUMENT: dict[str, Any] = {
    "nodes": [
        {"task_id": "text-1", "title": "A text"},
        {
            "task_id": "code-1",
            "title": "A change",
            "task": {"goal": "old", "pins": {"allowed_paths": ["src/**"]}},
        },
        {"task_id": "code-2", "title": "Another", "task": {}},
    ]
}


def task_of(document: dict[str, Any], place: int) -> dict[str, Any]:
    task: dict[str, Any] = document["nodes"][place]
    return task


def test_pins_are_widened() -> None:
    """What is allowed already is not added twice; the document itself stays."""
    edit = TaskEdit(allow=["src/**", "docs/**"], forbid=["docs/old/**"])
    changed = edited(DOCUMENT, "code-1", edit)
    assert task_of(changed, 1)["task"]["pins"] == {
        "allowed_paths": ["src/**", "docs/**"],
        "forbidden_paths": ["docs/old/**"],
    }
    assert task_of(DOCUMENT, 1)["task"]["pins"] == {"allowed_paths": ["src/**"]}


def test_executors_and_tests_are_replaced() -> None:
    """They are a choice, not a collection."""
    edit = TaskEdit(executors=["codex"], tests=["pytest -q"])
    task = task_of(edited(DOCUMENT, "code-2", edit), 2)["task"]
    assert task["allowedExecutors"] == ["codex"]
    assert task["allowedTests"] == ["pytest -q"]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        pytest.param("text-1", 0, id="a task that is no change"),
        pytest.param("text", 0, id="by the beginning of its id"),
        pytest.param("a text", 0, id="by its title"),
        pytest.param("code-2", 2, id="a change that takes its goal from its node"),
    ],
)
def test_the_goal(name: str, place: int) -> None:
    """Stands in the node."""
    node = task_of(edited(DOCUMENT, name, TaskEdit(goal="new")), place)
    assert node["goal_statement"] == "new"
    assert "goal" not in node.get("task", {})


def test_the_goal_of_a_change() -> None:
    """Is changed where the change has its own."""
    node = task_of(edited(DOCUMENT, "code-1", TaskEdit(goal="new")), 1)
    assert (node["goal_statement"], node["task"]["goal"]) == ("new", "new")


def test_a_task_without_pins() -> None:
    """Says that it has no place for them."""
    with pytest.raises(UnfitEdit, match="text-1 changes no repository"):
        edited(DOCUMENT, "text-1", TaskEdit(allow=["src/**"]))


def test_a_name_of_several_tasks() -> None:
    """Each of them is named."""
    with pytest.raises(AmbiguousName, match="'code' fits 2 tasks"):
        edited(DOCUMENT, "code", TaskEdit(goal="new"))


@pytest.mark.parametrize("name", ["cod-1", "nothing"])
def test_an_unknown_task(name: str) -> None:
    """None is called, or begins, like that."""
    with pytest.raises(NotFound, match=f"no task '{name}'"):
        edited(DOCUMENT, name, TaskEdit(goal="new"))


def test_an_empty_edit() -> None:
    """Says nothing."""
    assert not TaskEdit()
    assert TaskEdit(goal="x")
