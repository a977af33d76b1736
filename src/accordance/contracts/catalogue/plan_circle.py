"""The violation that names a circle of waiting, so that a person can follow it."""

from __future__ import annotations

from typing import Final, NamedTuple

from accordance.contracts.catalogue.plan_reading import ends_of, objects_in
from accordance.contracts.catalogue.plan_structure import Structure
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt

_LONGEST: Final = 400  # characters of a circle


class _Step(NamedTuple):
    """A task of a circle, and the next, which it needs."""

    task: str
    needed: str


def describe_circle(
    structure: Structure,
    circle: list[str],
    message: JsonObject,
) -> Violation:
    """Return the violation for a ring of tasks, each of which needs the next.

    It points to the last DEPENDS_ON edge of the circle: without it there is none.
    """
    following = [*circle[1:], circle[0]]
    steps = []
    for task, needed in zip(circle, following, strict=True):
        if task != needed:
            steps.append(_Step(task, needed))
    last = _last_edge_among(steps, message)
    sentences = [_sentence(structure, step) for step in _readable(structure, steps)]
    return Violation(
        "cycle",
        path=f"$.edges[{last}]",
        expected="no task that waits for itself",
        actual=middle_cut(", ".join(sentences)),
    )


def _last_edge_among(steps: list[_Step], message: JsonObject) -> int:
    waits = {(step.needed, step.task) for step in steps}
    edges = objects_in(message, "edges") or ()
    last = 0
    for index, edge in enumerate(edges):
        if edge.get("edge_type") == "DEPENDS_ON" and ends_of(edge) in waits:
            last = index
    return last


def _readable(structure: Structure, steps: list[_Step]) -> list[_Step]:
    """Begin at a task that waits, and leave out detours to a part and back."""
    first = next(index for index, step in enumerate(steps) if _is_wait(structure, step))
    readable: list[_Step] = []
    for step in (*steps[first:], *steps[:first]):
        is_way_back = readable[-1:] == [_Step(step.needed, step.task)]
        is_to_its_goal = step.task in structure.parts.get(step.needed, ())
        if is_way_back and is_to_its_goal and not _is_wait(structure, step):
            readable.pop()
        else:
            readable.append(step)
    return readable


def _is_wait(structure: Structure, step: _Step) -> bool:
    return step.needed in structure.prerequisites.get(step.task, ())


def _sentence(structure: Structure, step: _Step) -> str:
    task = excerpt(step.task)
    needed = excerpt(step.needed)
    if _is_wait(structure, step):
        return f"{task} waits for {needed}"
    if step.needed in structure.parts.get(step.task, ()):
        return f"{task} needs its part {needed}"
    if step.task in structure.parts.get(step.needed, ()):
        return f"{task} is a part of {needed}"
    return f"{task} needs {needed}"


def middle_cut(text: str) -> str:
    """Return a text, without its middle where it is too long."""
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]} … {text[-half:]}"
