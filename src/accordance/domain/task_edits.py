"""Small edits of a task in a plan's document, without writing the plan again.

The result is a document like any other: it is checked as a whole before it counts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from accordance.domain.named_things import Named, meant_by
from accordance.errors import AccordanceError, AmbiguousName, NotFound

_TASK: Final = "task"
"""The key under which a node carries the task of a change."""


class UnfitEdit(AccordanceError):
    """An edit that the task has no place for."""

    code = "unfit-edit"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEdit:
    """What becomes of a task. What is empty stays as it is."""

    goal: str | None = None
    allow: Sequence[str] = ()  # paths that are added to its pins
    forbid: Sequence[str] = ()
    executors: Sequence[str] = ()  # the only ones that may do it then
    tests: Sequence[str] = ()  # its test commands then

    def __bool__(self) -> bool:
        """Whether it says anything."""
        return any(getattr(self, field.name) for field in fields(self))


def edited(document: dict[str, Any], task: str, edit: TaskEdit) -> dict[str, Any]:
    """Return a plan's document with a task edited.

    The task is named as everywhere: by its id, its title, or the beginning of them.
    Raises NotFound, AmbiguousName, UnfitEdit.
    """
    changed = copy.deepcopy(document)
    node = _node(changed["nodes"], task)
    if edit.goal is not None:
        _set_goal(node, edit.goal)
    if edit.allow or edit.forbid or edit.executors or edit.tests:
        _edit_change(node, edit)
    return changed


def _node(nodes: list[dict[str, Any]], name: str) -> dict[str, Any]:
    by_id = {str(node["task_id"]): node for node in nodes}
    tasks = []
    for task_id, node in by_id.items():
        title = str(node["title"])
        tasks.append(Named(task_id, title))
    meant = meant_by(name, tasks)
    if len(meant) > 1:
        raise AmbiguousName("task", name, meant)
    if not meant:
        known = [*by_id, *(task.title for task in tasks)]
        raise NotFound("task", name, known)
    return by_id[meant[0].id]


def _set_goal(node: dict[str, Any], goal: str) -> None:
    node["goal_statement"] = goal
    change = node.get(_TASK)
    if isinstance(change, dict) and "goal" in change:
        change["goal"] = goal


def _edit_change(node: dict[str, Any], edit: TaskEdit) -> None:
    """Edit the task of a change: its pins, who may make it, how it is tested."""
    change = node.get(_TASK)
    if not isinstance(change, dict):
        raise UnfitEdit(
            f"task {node['task_id']} changes no repository: it has no pins, tests or"
            " executors of its own",
            way_out="change its goal, or the route that leads to its executor",
        )

    pins = change.setdefault("pins", {})
    if edit.allow:
        _add_paths(pins, "allowed_paths", edit.allow)
    if edit.forbid:
        _add_paths(pins, "forbidden_paths", edit.forbid)
    if edit.executors:
        change["allowedExecutors"] = list(edit.executors)
    if edit.tests:
        change["allowedTests"] = list(edit.tests)


def _add_paths(pins: dict[str, Any], name: str, paths: Sequence[str]) -> None:
    """Add paths to a list of pins that are not in it yet."""
    known = pins.get(name, ())
    pins[name] = list(dict.fromkeys((*known, *paths)))
