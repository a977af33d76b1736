"""Completing a plan under its root, so that it can be finished.

1. External planners write a chain START -> ... -> END. Both are marks, not tasks: what
   follows START belongs to the root, an edge into END says nothing, and the marks are
   taken out with a warning (`plan_marks`).
2. A root without parts could never be finished. So every node without a parent is put
   under the root, or under the parent of its ALTERNATIVE group. A node that the plan
   only waits for stays outside where being a part would change the plan: as one more
   part of an OR root it could finish the plan by itself, and as a part of a root that
   waits for it, it could never begin.

Only marks are lost, and no relation that means something. Completing a completed plan
changes nothing. docs/decisions/0014 has the reasons.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from accordance.contracts.catalogue.plan_marks import mark_word, marks_of
from accordance.contracts.catalogue.plan_reading import (
    TaskId,
    and_or_of,
    ends_of,
    graph_in,
    plan_id_of,
    text_or_none,
)
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Notice, Repair, excerpt

_EDGE_IDS: Final = uuid.UUID("6ba7b811-9dad-41d1-80b4-00c04fd430c8")


def complete_under_the_root(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair | Notice]]:
    """Take out START and END, and put every node without a parent under the root."""
    graph = graph_in(message)
    if graph is None:
        return message, []
    root, nodes, edges = graph
    if not any(node.get("task_id") == root for node in nodes):
        return message, []

    marks = marks_of(message, root, nodes, edges)
    outline = _outline(root, _edges_between_tasks(edges, marks))

    remarks: list[Repair | Notice] = []
    tasks = _without_marks(nodes, marks, remarks)
    kept_edges = _with_parts_of_the_root(edges, marks, outline, remarks)

    added_edges = [*_missing_parent_edges(message, tasks, outline)]
    for index, edge in enumerate(added_edges, start=len(kept_edges)):
        remarks.append(
            Repair(
                "under_the_root",
                path=f"$.edges[{index}]",
                before=None,
                after=edge,
            )
        )

    if not remarks:
        return message, []
    return {**message, "nodes": tasks, "edges": [*kept_edges, *added_edges]}, remarks


def _edges_between_tasks(
    edges: list[JsonObject], marks: frozenset[str]
) -> list[JsonObject]:
    if not marks:
        return edges
    return [edge for edge in edges if marks.isdisjoint(ends_of(edge))]


def _without_marks(
    nodes: list[JsonObject],
    marks: frozenset[str],
    remarks: list[Repair | Notice],
) -> list[JsonObject]:
    tasks: list[JsonObject] = []
    for index, node in enumerate(nodes):
        task = text_or_none(node.get("task_id"))
        if task not in marks:
            tasks.append(node)
            continue

        path = f"$.nodes[{index}]"
        end = "begins" if mark_word(task) == "START" else "ends"
        text = (
            f"{excerpt(task)} only marks where the plan {end}: taken out, it is no task"
        )
        remarks.append(
            Repair(
                "start_end",
                path=path,
                before=node,
                after=None,
                takes_out=True,
            )
        )
        remarks.append(
            Notice(
                "mark_taken_out",
                path=path,
                message=text,
            )
        )
    return tasks


# The outline of a plan, and what it says about a node without a parent


@dataclass(frozen=True, slots=True)
class _Outline:
    """What the edges between tasks say."""

    root: str
    combined: dict[TaskId, str] = field(default_factory=dict)
    """AND or OR by parent, as the first of its edges has it."""
    parents: set[TaskId] = field(default_factory=set)
    """Nodes that have parts."""
    parts: set[TaskId] = field(default_factory=set)
    """Nodes that have a parent."""
    group_parent: dict[TaskId, TaskId] = field(default_factory=dict)
    prerequisites: set[TaskId] = field(default_factory=set)
    """Nodes that another node waits for."""
    before_the_root: set[TaskId] = field(default_factory=set)
    """Nodes that must be done before the root may begin."""

    def is_only_waited_for(self, task: TaskId) -> bool:
        """Return whether a node without a parent must not become a part of the root."""
        if task in self.before_the_root:
            return True
        needs_one_part = self.combined.get(self.root) == "OR"
        return needs_one_part and task in self.prerequisites

    def has_its_place(self, task: TaskId) -> bool:
        """Return whether a node has a parent already, or must not get any."""
        return (
            task in self.parts
            or task in self.group_parent
            or self.is_only_waited_for(task)
        )

    def part_of_the_root(self, edge: JsonObject) -> TaskId:
        """Return the node that a DEPENDS_ON edge at the root makes a part of it.

        A root without parts is finished when all others are, so waiting for it, or
        making it wait, can only mean that a node belongs to it. The same holds for
        a root that is the START or the END of its chain. None for other edges.
        """
        if edge.get("edge_type") != "DEPENDS_ON":
            return None
        source, target = ends_of(edge)
        if source == target or self.root not in (source, target):
            return None

        leads_from_root = source == self.root
        end = "START" if leads_from_root else "END"
        if self.root in self.parents and mark_word(self.root) != end:
            return None
        return target if leads_from_root else source


@dataclass(frozen=True, slots=True)
class _Order:
    """What has to be done before what."""

    needed: dict[TaskId, list[TaskId]] = field(default_factory=dict)
    """What must be done before a node is done."""
    prerequisites: dict[TaskId, list[TaskId]] = field(default_factory=dict)
    """What must be done before a node may begin."""
    parents: dict[TaskId, list[TaskId]] = field(default_factory=dict)

    def done_before(self, task: TaskId) -> set[TaskId]:
        """Return everything that must be done before a node may begin.

        These are its prerequisites with their parts, and those of the goals above it.
        """
        before: set[TaskId] = set()
        opened: set[TaskId] = {task}
        to_open = [task]
        while to_open:
            opening = to_open.pop()
            reached = [*self.parents.get(opening, ())]
            to_finish = [*self.prerequisites.get(opening, ())]
            while to_finish:
                finishing = to_finish.pop()
                if finishing not in before:
                    before.add(finishing)
                    reached.append(finishing)
                    to_finish += self.needed.get(finishing, ())
            to_open += [other for other in reached if other not in opened]
            opened.update(reached)
        return before


def _outline(root: str, edges: list[JsonObject]) -> _Outline:
    outline = _Outline(root)
    order = _Order()
    for edge in edges:
        source, target = ends_of(edge)
        kind = edge.get("edge_type")
        if kind == "DEPENDS_ON":
            order.prerequisites.setdefault(target, []).append(source)
            outline.prerequisites.add(source)
            continue

        order.needed.setdefault(source, []).append(target)
        order.parents.setdefault(target, []).append(source)
        if kind == "ALTERNATIVE":
            outline.group_parent[target] = source
        elif kind == "DECOMPOSE":
            outline.parents.add(source)
            outline.parts.add(target)
            and_or = and_or_of(edge)
            if and_or in ("AND", "OR"):
                outline.combined.setdefault(source, str(and_or))

    if root in outline.parents and mark_word(root) != "END":
        outline.before_the_root.update(order.done_before(root))
    return outline


# Edges of the root


def _with_parts_of_the_root(
    edges: list[JsonObject],
    marks: frozenset[str],
    outline: _Outline,
    remarks: list[Repair | Notice],
) -> list[JsonObject]:
    """Turn the edges of START, or of a root in its place, into DECOMPOSE edges.

    All other edges of marks are taken out.
    """
    has_parts_of_the_root = any(outline.part_of_the_root(edge) for edge in edges)
    if not marks and not has_parts_of_the_root:
        return edges

    kept: list[JsonObject] = []
    for index, edge in enumerate(edges):
        if marks.isdisjoint(ends_of(edge)):
            part = outline.part_of_the_root(edge)
            if part is None:
                kept.append(edge)
                continue
        else:
            part = _task_after_start(edge, marks)

        replacement: JsonObject | None = None
        is_task = part is not None and part != outline.root
        if is_task and not outline.has_its_place(part):
            replacement = _as_part_of_the_root(edge, part, outline)
            kept.append(replacement)
            outline.parts.add(part)
        remarks.append(
            Repair(
                "start_end",
                path=f"$.edges[{index}]",
                before=edge,
                after=replacement,
                takes_out=replacement is None,
            )
        )
    return kept


def _task_after_start(edge: JsonObject, marks: frozenset[str]) -> TaskId:
    source, target = ends_of(edge)
    if mark_word(source) != "START" or target in marks:
        return None
    return target


def _as_part_of_the_root(
    edge: JsonObject,
    part: TaskId,
    outline: _Outline,
) -> JsonObject:
    original = edge.get("metadata")
    metadata = original if isinstance(original, dict) else {}
    and_or = outline.combined.get(outline.root, "AND")
    return {
        **edge,
        "from_task_id": outline.root,
        "to_task_id": part,
        "edge_type": "DECOMPOSE",
        "metadata": {**metadata, "and_or": and_or},
    }


def _missing_parent_edges(
    message: JsonObject,
    nodes: list[JsonObject],
    outline: _Outline,
) -> Iterable[JsonObject]:
    """Yield a DECOMPOSE edge for each node without a parent.

    The id of an edge follows from what it joins, so it is the same for the same plan.
    """
    plan_id = plan_id_of(message)
    known = {text_or_none(node.get("task_id")) for node in nodes}
    for node in nodes:
        task = node.get("task_id")
        if not isinstance(task, str) or task == outline.root:
            continue
        if task in outline.parts:
            continue

        parent = outline.group_parent.get(task)
        if parent is None or parent not in known:
            if outline.is_only_waited_for(task):
                continue
            parent = outline.root

        outline.parts.add(task)  # nodes of the same name share a parent
        yield {
            "edge_id": str(uuid.uuid5(_EDGE_IDS, f"{plan_id}\n{parent}\n{task}")),
            "plan_id": plan_id,
            "from_task_id": parent,
            "to_task_id": task,
            "edge_type": "DECOMPOSE",
            "metadata": {"and_or": outline.combined.get(parent, "AND")},
        }
