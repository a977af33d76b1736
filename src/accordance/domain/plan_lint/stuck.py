"""Which tasks can never begin because of others that can never be done."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from accordance.domain.plan import PlanGraph, PlanNode


def waiting_for(graph: PlanGraph, blocked: Collection[str]) -> Mapping[str, str]:
    """Return the work that never begins, with what it waits for in vain.

    `blocked` is work that can begin and never be done; it is no part of the result.
    Passes over the plan are repeated until nothing changes, and each marks at least one
    more node.
    """
    never_done: dict[str, str] = {task: task for task in blocked}
    has_changed = True
    while has_changed:
        has_changed = False
        for node in graph.nodes.values():
            cause = _cause(graph, node, never_done)
            if cause is not None and node.task_id not in never_done:
                never_done[node.task_id] = cause
                has_changed = True

    return {
        task: cause
        for task, cause in never_done.items()
        if graph[task].is_work and task not in blocked
    }


def _cause(
    graph: PlanGraph, node: PlanNode, never_done: Mapping[str, str]
) -> str | None:
    """Return what keeps a node from being done, as far as it is known yet."""
    for task in _awaited(graph, node):
        if task in never_done and not _has_substitute(graph, task, never_done):
            return never_done[task]
    if node.is_work:
        return None

    dead = [
        part
        for part in node.parts
        if part in never_done and not _has_substitute(graph, part, never_done)
    ]
    is_lost = len(dead) == len(node.parts) if node.combine == "OR" else bool(dead)
    return never_done[dead[0]] if is_lost else None


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
