"""The rules of a plan's graph: ids name one thing, references lead somewhere, no cycle, one root.

Every pass is linear and none is recursive: 100,000 nodes are an ordinary plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from accordance.contracts.catalogue.plan_rewrites import hashable, objects_in, root_of
from accordance.contracts.catalogue.plan_waiting import circles_of_waiting, middle_cut
from accordance.contracts.context import Context
from accordance.contracts.contract import Rule
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Fix, Notice, Violation, excerpt

REVERSED: Final = {"REQUIRES": "DEPENDS_ON", "CHILD_OF": "DECOMPOSE"}
"""Names that point the other way round than our edges do: never renamed in silence."""


def ids_name_one_thing(message: JsonObject, _: Context) -> Iterator[Violation]:
    """task_id, edge_id and requirement_id are unique."""
    for key, name in (
        ("nodes", "task_id"),
        ("edges", "edge_id"),
        ("requirements", "requirement_id"),
    ):
        items = objects_in(message, key)
        if not items or len({hashable(item.get(name)) for item in items}) == len(items):
            continue
        seen: set[str] = set()
        for at, item in enumerate(items):
            value = item.get(name)
            if isinstance(value, str):
                if value in seen:
                    yield Violation(
                        "duplicate_id",
                        f"$.{key}[{at}].{name}",
                        "an id of its own",
                        excerpt(value),
                    )
                seen.add(value)


def belongs_to_this_plan(message: JsonObject, _: Context) -> Iterator[Violation]:
    """plan_id of nodes and edges is the plan's."""
    head = message.get("plan")
    plan_id = head.get("plan_id") if isinstance(head, dict) else None
    if not isinstance(plan_id, str):
        return
    for key in ("nodes", "edges"):
        for at, item in enumerate(objects_in(message, key) or ()):
            found = item.get("plan_id")
            if found != plan_id and isinstance(found, str):
                where = f"$.{key}[{at}].plan_id"
                expected = f"{excerpt(plan_id)}, the id of this plan"
                yield Violation("other_plan", where, expected, excerpt(found))


def references_lead_somewhere(message: JsonObject, _: Context) -> Iterator[Violation]:
    """The root, both ends of every edge and every requirement's task are nodes of this plan."""
    nodes = objects_in(message, "nodes")
    if not nodes:
        return
    known = {hashable(node.get("task_id")) for node in nodes}
    root = root_of(message)
    if root is not None and root not in known:
        yield Violation(
            "dangling_reference",
            "$.plan.root_task_id",
            "the id of a node",
            excerpt(root),
        )
    for key, names in (
        ("edges", ("from_task_id", "to_task_id")),
        ("requirements", ("task_id",)),
    ):
        for at, item in enumerate(objects_in(message, key) or ()):
            for name in names:
                found = item.get(name)
                if isinstance(found, str) and found and found not in known:
                    yield Violation(
                        "dangling_reference",
                        f"$.{key}[{at}].{name}",
                        "the id of a node",
                        excerpt(found),
                    )


def edge_names_keep_their_direction(
    message: JsonObject, _: Context
) -> Iterator[Violation]:
    """REQUIRES and CHILD_OF point the other way: refused, with the edge turned round as the fix."""
    for at, edge in enumerate(objects_in(message, "edges") or ()):
        kind = edge.get("edge_type")
        if (
            isinstance(kind, str)
            and kind.isascii()
            and (meant := REVERSED.get(kind.strip().upper()))
        ):
            ends = {
                "from_task_id": edge.get("to_task_id"),
                "to_task_id": edge.get("from_task_id"),
            }
            fix = Fix(f"$.edges[{at}]", {**edge, **ends, "edge_type": meant})
            expected = f"{meant}, with from and to the other way round"
            yield Violation(
                "not_in_enum", f"$.edges[{at}].edge_type", expected, excerpt(kind), fix
            )


def groups_are_named(message: JsonObject, _: Context) -> Iterator[Violation]:
    """An ALTERNATIVE edge says which group it belongs to."""
    for at, edge in enumerate(objects_in(message, "edges") or ()):
        if edge.get("edge_type") == "ALTERNATIVE":
            metadata = edge.get("metadata")
            if not isinstance(metadata, dict) or metadata.get("group_id") is None:
                yield Violation(
                    "missing",
                    f"$.edges[{at}].metadata.group_id",
                    "the name of the group",
                    "nothing",
                )


def parts_are_combined_one_way(message: JsonObject, _: Context) -> Iterator[Violation]:
    """All DECOMPOSE edges of one parent say AND, or all say OR; saying nothing means AND."""
    combined: dict[str, object] = {}
    for at, edge in enumerate(objects_in(message, "edges") or ()):
        parent = edge.get("from_task_id")
        if edge.get("edge_type") != "DECOMPOSE" or not isinstance(parent, str):
            continue
        metadata = edge.get("metadata")
        said = (metadata.get("and_or") if isinstance(metadata, dict) else None) or "AND"
        first = combined.setdefault(parent, said)
        if said != first and isinstance(said, str):
            where = f"$.edges[{at}].metadata" + (
                ".and_or" if isinstance(metadata, dict) else ""
            )
            expected = f"AND on all parts of {excerpt(parent)}, or OR on all of them; the first says {first}"
            yield Violation("mixed_and_or", where, expected, excerpt(said))


def nothing_waits_for_itself(message: JsonObject, _: Context) -> Iterator[Violation]:
    """No edges lead back to the same node, and nothing waits for itself through goals and their parts."""
    cycles = [*_cycles(objects_in(message, "edges") or [])]
    yield from cycles or circles_of_waiting(message)


def _cycles(edges: list[JsonObject]) -> Iterator[Violation]:
    """Over all edges together nothing leads back to itself."""
    following: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for at, edge in enumerate(edges):
        source, target = edge.get("from_task_id"), edge.get("to_task_id")
        if not isinstance(source, str) or not isinstance(target, str):
            continue
        if source == target:
            both_ends = middle_cut(f"{source} -> {source}")
            yield Violation(
                "cycle", f"$.edges[{at}]", "an edge between two nodes", both_ends
            )
            continue
        following.setdefault(source, []).append(target)
        waiting[target] = waiting.get(target, 0) + 1
    stuck = _peel(following, waiting)
    if stuck:
        yield _name_the_cycle(edges, stuck)


def _peel(following: dict[str, list[str]], waiting: dict[str, int]) -> set[str]:
    """Take away nodes nothing leads to, again and again (Kahn). What stays lies on or behind a cycle."""
    free = [task for task in following if task not in waiting]
    while free:
        for target in following.get(free.pop(), ()):
            waiting[target] -= 1
            if not waiting[target]:
                free.append(target)
    return {task for task, count in waiting.items() if count}


def _name_the_cycle(edges: list[JsonObject], stuck: set[str]) -> Violation:
    """Walk back from a stuck node until one comes again: that is the cycle."""
    before: dict[str, tuple[str, int]] = {}
    for at, edge in enumerate(edges):
        source, target = edge.get("from_task_id"), edge.get("to_task_id")
        if source in stuck and target in stuck and source != target:
            before[str(target)] = (str(source), at)
    task, order = next(iter(before)), dict[str, int]()
    while task not in order:
        order[task] = len(order)
        task = before[task][0]
    cycle = list(order)[order[task] :]
    last = max(before[member][1] for member in cycle)
    named = " -> ".join(reversed([task, *cycle[1:], task]))
    return Violation(
        "cycle", f"$.edges[{last}]", "no way back to the same node", middle_cut(named)
    )


def lies_under_one_root(message: JsonObject, _: Context) -> Iterator[Violation]:
    """Every node is a part of the root, at any depth, or is waited for by something that is."""
    root, nodes, edges = (
        root_of(message),
        objects_in(message, "nodes"),
        objects_in(message, "edges"),
    )
    if root is None or not nodes or edges is None:
        return
    reached = _under(root, edges)
    if len(reached) > len(nodes):
        return  # some edge leads to no node: reported by references_lead_somewhere
    for at, node in enumerate(nodes):
        task = node.get("task_id")
        if isinstance(task, str) and task not in reached:
            expected = f"a node under the root {excerpt(root)}"
            yield Violation(
                "second_root",
                f"$.nodes[{at}]",
                expected,
                f"{excerpt(task)}, which has no way up to it",
            )


def _under(root: str, edges: list[JsonObject]) -> set[object]:
    leads_to: dict[object, list[object]] = {}
    for edge in edges:
        source, target = (
            hashable(edge.get("from_task_id")),
            hashable(edge.get("to_task_id")),
        )
        if edge.get("edge_type") == "DECOMPOSE":
            leads_to.setdefault(source, []).append(target)
        elif edge.get("edge_type") == "DEPENDS_ON":
            leads_to.setdefault(target, []).append(source)
    reached: set[object] = {root}
    frontier: list[object] = [root]
    while frontier:
        for other in leads_to.get(frontier.pop(), ()):
            if other not in reached:
                reached.add(other)
                frontier.append(other)
    return reached


def root_is_a_goal(message: JsonObject, _: Context) -> Iterable[Notice]:
    """The root stands for the whole, so it should be a GOAL."""
    root = root_of(message)
    for at, node in enumerate(objects_in(message, "nodes") or ()):
        if node.get("task_id") == root:
            kind = node.get("node_type")
            is_goal = kind == "GOAL"
            return (
                ()
                if is_goal
                else (
                    Notice(
                        "root_not_goal",
                        f"$.nodes[{at}].node_type",
                        f"the root is {kind}",
                    ),
                )
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
