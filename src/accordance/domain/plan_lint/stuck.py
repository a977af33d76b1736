"""Which tasks can never begin because of others that can never be done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from accordance.domain.plan import PlanGraph, PlanNode
from accordance.domain.plan_lint.case import parts_at_any_depth


def waiting_for(graph: PlanGraph, blocked: Collection[str]) -> Mapping[str, str]:
    """Return the work that never begins, with what it waits for in vain.

    `blocked` is work that can begin and never be done; it is no part of the result.
    Each node that turns out to be lost may lose others, which are looked at next.
    """
    never_done: dict[str, str] = {task: task for task in blocked}
    waiting = [*blocked]
    while waiting:
        lost = waiting.pop()
        for task in _affected(graph, lost):
            cause = _cause(graph, graph[task], never_done)
            if cause is not None and task not in never_done:
                never_done[task] = cause
                waiting.append(task)

    return {
        task: cause
        for task, cause in never_done.items()
        if graph[task].is_work and task not in blocked
    }


def _affected(graph: PlanGraph, lost: str) -> Iterator[str]:
    """Yield the nodes that may be lost with another, or with its last substitute."""
    for task in (lost, *graph[lost].rivals):
        node = graph[task]
        yield from node.parents
        yield from node.checked_by
        for dependent in node.dependents:
            yield dependent
            yield from parts_at_any_depth(graph, dependent)


def _cause(
    graph: PlanGraph,
    node: PlanNode,
    never_done: Mapping[str, str],
) -> str | None:
    """Return what keeps a node from being done, as far as it is known yet."""
    for task in _awaited(graph, node):
        if _is_lost(graph, task, never_done):
            return never_done[task]
    if node.is_work:
        return None

    dead = [part for part in node.parts if _is_lost(graph, part, never_done)]
    fatal = len(node.parts) if node.combine == "OR" else 1
    if len(dead) < fatal:
        return None
    return never_done[dead[0]]


def _is_lost(graph: PlanGraph, task: str, never_done: Mapping[str, str]) -> bool:
    """Whether a task is never done, and no other of its group can stand in."""
    if task not in never_done:
        return False
    return not _has_substitute(graph, task, never_done)


def _awaited(graph: PlanGraph, node: PlanNode) -> Iterator[str]:
    """Yield what a node and the goals it lies in wait for; a check waits for its task."""
    if node.checks is not None:
        yield node.checks
        return
    seen: set[str] = set()
    above = [node.task_id]
    while above:
        task = above.pop()
        if task in seen:
            continue
        seen.add(task)
        yield from graph[task].prerequisites
        above += graph[task].parents


def _has_substitute(graph: PlanGraph, task: str, never_done: Mapping[str, str]) -> bool:
    """Whether another candidate of the same group can still be done."""
    return any(rival not in never_done for rival in graph[task].rivals)
