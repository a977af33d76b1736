"""The rules of a plan's graph: unique ids, known nodes, no cycle, a single root.

Every pass is linear and none is recursive: 100,000 nodes are an ordinary plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from accordance.contracts.catalogue.plan_circle import middle_cut
from accordance.contracts.catalogue.plan_reading import (
    TaskId,
    and_or_of,
    ends_of,
    graph_in,
    objects_in,
    plan_id_of,
    root_of,
    text_or_none,
)
from accordance.contracts.catalogue.plan_waiting import circles_of_waiting
from accordance.contracts.context import Context
from accordance.contracts.contract import Rule
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Fix, Notice, Violation, excerpt

REVERSED: Final = {"REQUIRES": "DEPENDS_ON", "CHILD_OF": "DECOMPOSE"}
"""Edge types that point the other way round than ours: never renamed silently."""

_IDS: Final = {
    "nodes": "task_id",
    "edges": "edge_id",
    "requirements": "requirement_id",
}
_REFERENCES: Final = {
    "edges": ("from_task_id", "to_task_id"),
    "requirements": ("task_id",),
}


def ids_name_one_thing(message: JsonObject, _: Context) -> Iterator[Violation]:
    """task_id, edge_id and requirement_id are unique."""
    for key, name in _IDS.items():
        items = objects_in(message, key) or []
        ids = {text_or_none(item.get(name)) for item in items}
        if len(ids) < len(items):
            yield from _repeated_ids(items, key, name)


def _repeated_ids(items: list[JsonObject], key: str, name: str) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(name)
        if not isinstance(value, str):
            continue
        if value in seen:
            yield Violation(
                "duplicate_id",
                path=f"$.{key}[{index}].{name}",
                expected="an id of its own",
                actual=excerpt(value),
            )
        seen.add(value)


def belongs_to_this_plan(message: JsonObject, _: Context) -> Iterator[Violation]:
    """plan_id of nodes and edges is the plan's."""
    plan_id = plan_id_of(message)
    if not isinstance(plan_id, str):
        return

    for key in ("nodes", "edges"):
        for index, item in enumerate(objects_in(message, key) or ()):
            other = item.get("plan_id")
            if other != plan_id and isinstance(other, str):
                yield Violation(
                    "other_plan",
                    path=f"$.{key}[{index}].plan_id",
                    expected=f"{excerpt(plan_id)}, the id of this plan",
                    actual=excerpt(other),
                )


def references_lead_somewhere(message: JsonObject, _: Context) -> Iterator[Violation]:
    """The root, the ends of edges and the tasks of requirements are nodes."""
    nodes = objects_in(message, "nodes")
    if not nodes:
        return

    known = {text_or_none(node.get("task_id")) for node in nodes}
    root = root_of(message)
    if root is not None and root not in known:
        yield _dangling("$.plan.root_task_id", root)

    for key, names in _REFERENCES.items():
        for index, item in enumerate(objects_in(message, key) or ()):
            for name in names:
                task = text_or_none(item.get(name))
                if task and task not in known:
                    yield _dangling(f"$.{key}[{index}].{name}", task)


def _dangling(path: str, task: str) -> Violation:
    return Violation(
        "dangling_reference",
        path=path,
        expected="the id of a node",
        actual=excerpt(task),
    )


def edge_names_keep_their_direction(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """REQUIRES and CHILD_OF point the other way; the fix turns the edge round."""
    for index, edge in enumerate(objects_in(message, "edges") or ()):
        kind = edge.get("edge_type")
        if not isinstance(kind, str) or not kind.isascii():
            continue
        meant = REVERSED.get(kind.strip().upper())
        if meant is None:
            continue

        turned = {
            **edge,
            "from_task_id": edge.get("to_task_id"),
            "to_task_id": edge.get("from_task_id"),
            "edge_type": meant,
        }
        yield Violation(
            "not_in_enum",
            path=f"$.edges[{index}].edge_type",
            expected=f"{meant}, with from and to the other way round",
            actual=excerpt(kind),
            fix=Fix(f"$.edges[{index}]", turned),
        )


def groups_are_named(message: JsonObject, _: Context) -> Iterator[Violation]:
    """An ALTERNATIVE edge names the group it belongs to."""
    for index, edge in enumerate(objects_in(message, "edges") or ()):
        if edge.get("edge_type") != "ALTERNATIVE":
            continue
        metadata = edge.get("metadata")
        if not isinstance(metadata, dict) or metadata.get("group_id") is None:
            yield Violation(
                "missing",
                path=f"$.edges[{index}].metadata.group_id",
                expected="the name of the group",
                actual="nothing",
            )


def parts_are_combined_one_way(message: JsonObject, _: Context) -> Iterator[Violation]:
    """A parent's DECOMPOSE edges all have AND, or all have OR; none given means AND."""
    combined: dict[str, object] = {}
    for index, edge in enumerate(objects_in(message, "edges") or ()):
        parent = edge.get("from_task_id")
        if edge.get("edge_type") != "DECOMPOSE" or not isinstance(parent, str):
            continue

        and_or = and_or_of(edge) or "AND"
        first = combined.setdefault(parent, and_or)
        if and_or == first or not isinstance(and_or, str):
            continue

        path = f"$.edges[{index}].metadata"
        if isinstance(edge.get("metadata"), dict):
            path += ".and_or"
        expected = (
            f"AND on all parts of {excerpt(parent)}, or OR on all of them; "
            f"the first says {first}"
        )
        yield Violation(
            "mixed_and_or",
            path=path,
            expected=expected,
            actual=excerpt(and_or),
        )


def nothing_waits_for_itself(message: JsonObject, _: Context) -> Iterator[Violation]:
    """No edges lead back to a node; none waits for itself through goals and parts."""
    cycles = [*_cycles(objects_in(message, "edges") or [])]
    if cycles:
        yield from cycles
    else:
        yield from circles_of_waiting(message)


def _cycles(edges: list[JsonObject]) -> Iterator[Violation]:
    """Yield edges from a node to itself, and a cycle over edges of all types."""
    targets: dict[str, list[str]] = {}
    incoming: dict[str, int] = {}
    for index, edge in enumerate(edges):
        source, target = ends_of(edge)
        if source is None or target is None:
            continue
        if source == target:
            loop = middle_cut(f"{source} -> {source}")
            yield Violation(
                "cycle",
                path=f"$.edges[{index}]",
                expected="an edge between two nodes",
                actual=loop,
            )
            continue
        targets.setdefault(source, []).append(target)
        incoming[target] = incoming.get(target, 0) + 1

    stuck = _on_or_behind_a_cycle(targets, incoming)
    if stuck:
        yield _cycle_among(edges, stuck)


def _on_or_behind_a_cycle(
    targets: dict[str, list[str]], incoming: dict[str, int]
) -> set[str]:
    """Return what is left when nodes without incoming edges are taken away (Kahn)."""
    free = [task for task in targets if task not in incoming]
    while free:
        for target in targets.get(free.pop(), ()):
            incoming[target] -= 1
            if not incoming[target]:
                free.append(target)
    return {task for task, count in incoming.items() if count}


def _cycle_among(edges: list[JsonObject], stuck: set[str]) -> Violation:
    """Walk back from a stuck node until a node comes up again: that is the cycle."""
    before: dict[str, tuple[str, int]] = {}
    for index, edge in enumerate(edges):
        source, target = ends_of(edge)
        are_stuck = source in stuck and target in stuck
        if are_stuck and source != target:
            before[str(target)] = (str(source), index)

    task = next(iter(before))
    walk: dict[str, int] = {}
    while task not in walk:
        walk[task] = len(walk)
        task, _ = before[task]

    cycle = [*walk][walk[task] :]
    last_edge = max(before[member][1] for member in cycle)
    names = " -> ".join([task, *reversed(cycle[1:]), task])
    return Violation(
        "cycle",
        path=f"$.edges[{last_edge}]",
        expected="no way back to the same node",
        actual=middle_cut(names),
    )


def lies_under_one_root(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Every node is a part of the root at some depth, or such a part waits for it."""
    graph = graph_in(message)
    if graph is None:
        return
    root, nodes, edges = graph

    reached = _reached_from(root, edges)
    if len(reached) > len(nodes):
        return  # an edge leads to no node: references_lead_somewhere reports it

    expected = f"a node under the root {excerpt(root)}"
    for index, node in enumerate(nodes):
        task = node.get("task_id")
        if isinstance(task, str) and task not in reached:
            yield Violation(
                "second_root",
                path=f"$.nodes[{index}]",
                expected=expected,
                actual=f"{excerpt(task)}, which has no way up to it",
            )


def _reached_from(root: str, edges: list[JsonObject]) -> set[TaskId]:
    """Return the root, its parts at any depth, and everything those wait for."""
    leads_to: dict[TaskId, list[TaskId]] = {}
    for edge in edges:
        source, target = ends_of(edge)
        kind = edge.get("edge_type")
        if kind == "DECOMPOSE":
            leads_to.setdefault(source, []).append(target)
        elif kind == "DEPENDS_ON":
            leads_to.setdefault(target, []).append(source)

    reached: set[TaskId] = {root}
    frontier: list[TaskId] = [root]
    while frontier:
        for task in leads_to.get(frontier.pop(), ()):
            if task not in reached:
                reached.add(task)
                frontier.append(task)
    return reached


def root_is_a_goal(message: JsonObject, _: Context) -> Iterable[Notice]:
    """The root stands for the whole plan, so it should be a GOAL."""
    root = root_of(message)
    for index, node in enumerate(objects_in(message, "nodes") or ()):
        if node.get("task_id") != root:
            continue
        kind = node.get("node_type")
        if kind == "GOAL":
            return ()
        return (
            Notice(
                "root_not_goal",
                path=f"$.nodes[{index}].node_type",
                message=f"the root is {kind}",
            ),
        )
    return ()


GRAPH_RULES: Final[tuple[Rule, ...]] = (
    ids_name_one_thing,
    belongs_to_this_plan,
    references_lead_somewhere,
    edge_names_keep_their_direction,
    groups_are_named,
    parts_are_combined_one_way,
    nothing_waits_for_itself,
    lies_under_one_root,
    root_is_a_goal,
)
