"""The nodes of a plan in memory, linked from rows alone as a database would do it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from accordance.domain.plan import PlanNode
from accordance.domain.records import TaskRecord
from accordance.store.storage import EdgeRow, NodeRow


def linked_nodes(
    rows: Sequence[NodeRow], edges: Iterable[EdgeRow]
) -> Iterator[tuple[str, PlanNode]]:
    """Yield the nodes with their neighbours, by task."""
    neighbours = _Neighbours(edges)
    rivals = _rivals_by_group(rows)
    for row in rows:
        task = row.task
        task_id = task.task_id
        node = PlanNode(
            task_id=task_id,
            kind=task.node_type,
            priority=task.priority,
            combine="OR" if row.combine == "OR" else "AND",
            parts=neighbours.after("DECOMPOSE", task_id),
            parents=neighbours.before("DECOMPOSE", task_id),
            prerequisites=neighbours.before("DEPENDS_ON", task_id),
            dependents=neighbours.after("DEPENDS_ON", task_id),
            checks=task.checks,
            checked_by=_checked_by(task_id, rows),
            rivals=rivals.get(row.rival_group, ()),
        )
        yield task_id, node


class _Neighbours:
    """The ends of edges, each once and in the plan's order."""

    def __init__(self, edges: Iterable[EdgeRow]) -> None:
        self._after: dict[tuple[str, str], dict[str, None]] = {}
        self._before: dict[tuple[str, str], dict[str, None]] = {}
        for edge in edges:
            start = (edge.edge_type, edge.from_task_id)
            end = (edge.edge_type, edge.to_task_id)
            self._after.setdefault(start, {})[edge.to_task_id] = None
            self._before.setdefault(end, {})[edge.from_task_id] = None

    def after(self, edge_type: str, task_id: str) -> tuple[str, ...]:
        return tuple(self._after.get((edge_type, task_id), ()))

    def before(self, edge_type: str, task_id: str) -> tuple[str, ...]:
        return tuple(self._before.get((edge_type, task_id), ()))


def _rivals_by_group(rows: Iterable[NodeRow]) -> dict[str | None, tuple[str, ...]]:
    """Return the tasks of each group of alternatives, the most wanted first."""
    groups: dict[str, list[TaskRecord]] = {}
    for row in rows:
        if row.rival_group is not None:
            groups.setdefault(row.rival_group, []).append(row.task)

    ranked: dict[str | None, tuple[str, ...]] = {}
    for group, tasks in groups.items():
        tasks.sort(key=lambda task: (-task.priority, task.place))
        ranked[group] = tuple(task.task_id for task in tasks)
    return ranked


def _checked_by(task_id: str, rows: Iterable[NodeRow]) -> tuple[str, ...]:
    return tuple(row.task.task_id for row in rows if row.task.checks == task_id)
