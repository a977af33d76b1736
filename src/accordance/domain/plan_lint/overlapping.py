"""Which tasks could change the same file at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, islice
from typing import Any, Final

from accordance.contracts.catalogue.plan import Node
from accordance.contracts.pins import Pins
from accordance.domain.inheritance import path_beyond
from accordance.domain.plan import PlanGraph
from accordance.domain.plan_lint.case import (
    LintCase,
    LintFinding,
    parts_at_any_depth,
)
from accordance.errors import InvalidPattern

MAX_PAIRS: Final = 2000
"""Pairs of tasks that are compared; a note says if there are more."""
_EVERYTHING: Final = ("**",)


def pins_do_not_overlap(case: LintCase) -> Iterator[LintFinding]:
    """No two tasks that can run at once may change the same path."""
    changes = [node for node in case.makers() if case.change(node) is not None]
    before = {node.task_id: done_before(case.graph, node.task_id) for node in changes}
    pairs = (
        (first, second)
        for first, second in combinations(changes, 2)
        if _can_run_at_once(case.graph, first.task_id, second.task_id, before)
    )
    for first, second in islice(pairs, MAX_PAIRS):
        path = shared_path(_pins(case, first), _pins(case, second))
        if path is not None:
            yield case.finding(
                "pins_do_not_overlap",
                "warning",
                f'can run at the same time as "{second.title}", and both may change'
                f" {path}",
                first,
            )
    if next(pairs, None) is not None:
        yield case.finding(
            "pins_do_not_overlap",
            "warning",
            f"only the first {MAX_PAIRS} pairs of tasks were compared",
        )


def _pins(case: LintCase, node: Node) -> Mapping[str, Any]:
    change = case.change(node) or {}
    pins: Mapping[str, Any] = change.get("pins") or {}
    return pins


def shared_path(first: Mapping[str, Any], second: Mapping[str, Any]) -> str | None:
    """Return a path that both pins allow, if there is any.

    Pins that are too entangled to compare count as apart: the judge looks at the real
    paths later.
    """
    forbidden = (*first.get("forbidden_paths", ()), *second.get("forbidden_paths", ()))
    try:
        reach = Pins.of(first.get("allowed_paths", ()), forbidden)
        apart = Pins.of(_EVERYTHING, second.get("allowed_paths", ()))
        return path_beyond(reach, apart)
    except InvalidPattern:
        return None


def _can_run_at_once(
    graph: PlanGraph,
    first: str,
    second: str,
    before: Mapping[str, set[str]],
) -> bool:
    is_ordered = first in before[second] or second in before[first]
    return not is_ordered and second not in graph[first].rivals


def done_before(graph: PlanGraph, task: str) -> set[str]:
    """Return everything that must be done before a task may begin.

    That is what it waits for, what the goals it lies in wait for, the parts of all of
    these, and so on.
    """
    before: set[str] = set()
    seen: set[str] = set()
    waiting = [task]
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        node = graph[current]
        for prerequisite in node.prerequisites:
            branch = {prerequisite, *parts_at_any_depth(graph, prerequisite)}
            before |= branch
            waiting += branch
        waiting += node.parents
    return before
