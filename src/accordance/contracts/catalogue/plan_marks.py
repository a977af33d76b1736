"""START and END: the marks of an external planner's chain, which are not tasks.

Nothing but a mere mark counts. A task that happens to be called `finish` stays a task.
"""

from __future__ import annotations

from typing import Final, Literal

from accordance.contracts.catalogue.plan_reading import (
    TaskId,
    ends_of,
    objects_in,
    text_or_none,
)
from accordance.contracts.jsonpath import JsonObject

_STARTS: Final = frozenset(("START", "BEGIN"))
_ENDS: Final = frozenset(("END", "FINISH", "STOP"))
MARKS: Final = _STARTS | _ENDS
_LONGEST_MARK: Final = 20  # with white space around; real ids are mostly longer
_FIELDS_OF_EVERY_NODE: Final = frozenset(
    ("task_id", "plan_id", "node_type", "title", "owner_agent_id", "priority", "tags")
)


def mark_word(task: object) -> Literal["START", "END"] | None:
    """Return START or END, if that is what an id means."""
    if not isinstance(task, str) or len(task) > _LONGEST_MARK:
        return None
    if not task.isascii():
        return None

    word = task.strip().upper()
    if word in _STARTS:
        return "START"
    if word in _ENDS:
        return "END"
    return None


def marks_of(
    message: JsonObject,
    root: str,
    nodes: list[JsonObject],
    edges: list[JsonObject],
) -> frozenset[str]:
    """Return the ids that only mark where the plan begins or ends.

    A mark stands where it says: only the root, or another mark, leads to a START or
    away from an END. A mark with a requirement is a task.
    """
    candidates = _ids_that_read_as_marks(root, nodes, edges)
    if not candidates:
        return frozenset()

    declared: set[TaskId] = set()
    for node in nodes:
        task = text_or_none(node.get("task_id"))
        is_mark = task not in declared and _is_mere_mark(node)
        if task in candidates and not is_mark:
            candidates.discard(task)
        declared.add(task)

    requirements = objects_in(message, "requirements") or ()
    candidates.difference_update(
        text_or_none(requirement.get("task_id")) for requirement in requirements
    )

    return frozenset(_standing_at_the_ends(candidates, declared, root, edges))


def _ids_that_read_as_marks(
    root: str,
    nodes: list[JsonObject],
    edges: list[JsonObject],
) -> set[str]:
    named = {text_or_none(node.get("task_id")) for node in nodes}
    for edge in edges:
        named.update(ends_of(edge))

    return {
        task
        for task in named
        if task is not None and task != root and mark_word(task) is not None
    }


def _is_mere_mark(node: JsonObject) -> bool:
    """Return whether a node adds nothing to its word: no title, no further field."""
    for key, value in node.items():
        if key not in _FIELDS_OF_EVERY_NODE and not _is_empty(value):
            return False

    title = node.get("title")
    if title is None:
        return True
    if not isinstance(title, str):
        return False
    words = _STARTS if mark_word(node.get("task_id")) == "START" else _ENDS
    return not title.strip() or title.strip().upper() in words


def _is_empty(value: object) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return not value


def _standing_at_the_ends(
    marks: set[str],
    declared: set[TaskId],
    root: str,
    edges: list[JsonObject],
) -> set[str]:
    """Return the marks that begin or end the plan and do nothing else.

    A node that has parts, is a candidate, or is a step in the middle is not a mark:
    what a real task leads to is no START. That carries over to the marks beside it. An
    END that is no node may be drawn with any edge: no task can be meant by it.
    """
    not_marks: list[TaskId] = []
    stands_with: dict[TaskId, list[TaskId]] = {}  # if the key is no mark, nor are these

    for edge in edges:
        kind = edge.get("edge_type")
        source, target = ends_of(edge)
        if kind == "ALTERNATIVE":
            not_marks += (source, target)
        if kind == "DECOMPOSE" and source in declared:
            not_marks.append(source)
        is_part = kind == "DECOMPOSE" and target in declared
        leads_to_start = mark_word(target) == "START"
        if source != root and (is_part or leads_to_start):
            stands_with.setdefault(source, []).append(target)
        if target != root and mark_word(source) == "END":
            stands_with.setdefault(target, []).append(source)

    not_marks += [task for task in stands_with if task not in marks]
    remaining = marks.difference(not_marks)
    while not_marks:
        for neighbour in stands_with.get(not_marks.pop(), ()):
            if neighbour in remaining:
                remaining.discard(neighbour)
                not_marks.append(neighbour)
    return remaining
