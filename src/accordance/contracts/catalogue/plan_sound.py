"""A quick sufficient test for plans: True means no rewrite and no rule of the graph has anything to say.

Most plans are written in order, every edge from an earlier node to a later one. For those a few sets and one comparison
per edge settle everything; False only means: look closer. A property test holds it to the rules.
"""

from __future__ import annotations

from operator import lt
from typing import Any, Final

from accordance.contracts.catalogue.plan_containers import OTHER_NAMES
from accordance.contracts.catalogue.plan_rewrites import LONGEST_MARK, MARKS
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject

_KINDS: Final = frozenset(("DECOMPOSE", "DEPENDS_ON", "ALTERNATIVE"))
_ONE_WAY: Final = (frozenset(("AND", None)), frozenset(("OR",)))  # saying nothing means AND


def is_plainly_sound(message: JsonObject, _: Context) -> bool:
    """Whether a plan, right in every field, plainly keeps all rules of its graph.

    Where every edge leads from an earlier node to a later one there is no cycle; and where every node but the root
    then has a parent, going up from any of them must end at the root.
    """
    plan: Any = message
    nodes, edges, needs = plan["nodes"], plan["edges"], plan.get("requirements", ())
    root, plan_id = plan["plan"]["root_task_id"], {plan["plan"]["plan_id"]}
    place = {node["task_id"]: at for at, node in enumerate(nodes)}
    sources, targets = [edge["from_task_id"] for edge in edges], [edge["to_task_id"] for edge in edges]
    kinds = [edge["edge_type"] for edge in edges]
    children = {target for target, kind in zip(targets, kinds, strict=True) if kind == "DECOMPOSE"}
    return (
        OTHER_NAMES.isdisjoint(plan)
        and len(place) == len(nodes)
        and len(children) == len(nodes) - 1
        and root in place
        and root not in children
        and nodes[place[root]]["node_type"] == "GOAL"
        and len({edge["edge_id"] for edge in edges}) == len(edges)
        and {node["plan_id"] for node in nodes} == plan_id
        and {edge["plan_id"] for edge in edges} <= plan_id
        and {*kinds} <= _KINDS
        and place.keys() >= {*sources, *targets}
        and all(map(lt, map(place.__getitem__, sources), map(place.__getitem__, targets)))
        and _is_combined_one_way(edges)
        and (not needs or _are_bound(needs, place))
        and MARKS.isdisjoint([task.strip().upper() for task in place if len(task) <= LONGEST_MARK])
        and _can_be_finished(nodes, place, edges)
    )


def _can_be_finished(nodes: list[Any], place: dict[str, int], edges: list[Any]) -> bool:
    """Whether it is plain that nothing waits for itself through goals and parts, and no goal is left without a part."""
    parts, waits, candidates = (
        [
            (place[edge["from_task_id"]], place[edge["to_task_id"]])
            for edge in edges
            if edge["edge_type"] == kind
        ]
        for kind in ("DECOMPOSE", "DEPENDS_ON", "ALTERNATIVE")
    )
    is_tree = len(parts) == len(nodes) - 1
    if candidates and (waits or not is_tree or not {*parts}.issuperset(candidates)):
        return False
    checks = [target for _, target in waits if nodes[target]["node_type"] == "CHECK"]
    if len({*checks}) < len(checks):  # a check that waits for more than the product it reviews
        return False
    goals = {source for source, _ in parts}
    if goals.isdisjoint([source for source, _ in waits]):
        return True  # only tasks are waited for, and each comes before what waits
    return is_tree and _each_goal_comes_before_what_waits(len(nodes), parts, waits)


def _each_goal_comes_before_what_waits(
    count: int, parts: list[tuple[int, int]], waits: list[tuple[int, int]]
) -> bool:
    """In the order of the tree, a goal with all that belongs to it comes before whatever waits for it."""
    parent = {part: goal for goal, part in parts}
    size = [1] * count
    for part in range(count - 1, 0, -1):
        size[parent[part]] += size[part]
    first = [0] * count
    free = [0] * count
    for task in range(count):
        if task:
            first[task] = free[parent[task]]
            free[parent[task]] += size[task]
        free[task] = first[task] + 1
    return all(first[source] + size[source] <= first[target] for source, target in waits)


def _is_combined_one_way(edges: list[Any]) -> bool:
    """All parts of the whole plan say AND (or nothing), or all say OR; every alternative names its group."""
    said = {(edge["metadata"] or {}).get("and_or") for edge in edges if edge["edge_type"] == "DECOMPOSE"}
    groups = [
        (edge["metadata"] or {}).get("group_id") for edge in edges if edge["edge_type"] == "ALTERNATIVE"
    ]
    return any(said <= way for way in _ONE_WAY) and all(groups)


def _are_bound(needs: list[Any], place: dict[str, int]) -> bool:
    return len({need["requirement_id"] for need in needs}) == len(needs) and place.keys() >= {
        need["task_id"] for need in needs
    }
