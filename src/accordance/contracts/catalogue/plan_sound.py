"""A quick sufficient test for plans: True means no rewrite and no rule of the graph has anything to say.

Most plans are written in order, every edge from an earlier node to a later one. For those one look at each node and each
edge settles everything; False only means: look closer. A property test holds it to the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from accordance.contracts.catalogue.plan_containers import OTHER_NAMES
from accordance.contracts.catalogue.plan_rewrites import MARKS
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject

_NONE: Final = -1  # where a place is asked for: there is no such node
_ONE_WAY: Final = (
    frozenset(("AND", None)),
    frozenset(("OR",)),
)  # saying nothing means AND


@dataclass(slots=True)
class _Outline:
    """What the edges say, with the places of nodes in the list in place of their ids."""

    edges: int
    parent: list[int]  # of each node; the last one that was named
    goals: set[int] = field(default_factory=set)  # nodes that have parts
    waits: list[tuple[int, int]] = field(default_factory=list)
    candidates: list[tuple[int, int]] = field(default_factory=list)
    combined: set[str | None] = field(
        default_factory=set
    )  # AND, OR or nothing, as the parts say

    @property
    def is_tree(self) -> bool:
        """Whether no node has a second parent."""
        parts = self.edges - len(self.waits) - len(self.candidates)
        return parts == len(self.parent) - 1


def is_plainly_sound(message: JsonObject, _: Context) -> bool:
    """Whether a plan, right in every field, plainly keeps all rules of its graph.

    Where every edge leads from an earlier node to a later one there is no cycle; and where every node but the root
    then has a parent, going up from any of them must end at the root.
    """
    plan: Any = message
    nodes, edges, needs = plan["nodes"], plan["edges"], plan.get("requirements", ())
    root, plan_id = plan["plan"]["root_task_id"], plan["plan"]["plan_id"]
    place = {node["task_id"]: at for at, node in enumerate(nodes)}
    are_nodes_plain = (
        OTHER_NAMES.isdisjoint(plan)
        and len(place) == len(nodes)
        and place.get(root) == 0  # what has no parent comes first
        and nodes[0]["node_type"] == "GOAL"
        and {node["plan_id"] for node in nodes} == {plan_id}
        and MARKS.isdisjoint(map(str.upper, map(str.strip, place)))
        and (not needs or _are_bound(needs, place))
    )
    outline = _outline(edges, place, plan_id) if are_nodes_plain else None
    return (
        outline is not None
        and outline.parent.count(_NONE) == 1
        and any(outline.combined <= way for way in _ONE_WAY)
        and len({edge["edge_id"] for edge in edges}) == len(edges)
        and _can_be_finished(nodes, outline)
    )


def _outline(edges: list[Any], place: dict[str, int], plan_id: str) -> _Outline | None:
    """The outline of a plan whose edges all lead from an earlier node to a later one; None for any other plan."""
    outline = _Outline(len(edges), parent=[_NONE] * len(place))
    parent, goals, combined = outline.parent, outline.goals, outline.combined
    for edge in edges:
        source, target = (
            place.get(edge["from_task_id"], _NONE),
            place.get(edge["to_task_id"], _NONE),
        )
        leads_on = _NONE < source < target
        if not leads_on or edge["plan_id"] != plan_id:
            return None
        kind, metadata = edge["edge_type"], edge["metadata"]
        if kind == "DECOMPOSE":
            parent[target] = source
            goals.add(source)
            combined.add(metadata.get("and_or") if metadata else None)
        elif kind == "DEPENDS_ON":
            outline.waits.append((source, target))
        elif kind == "ALTERNATIVE" and metadata and metadata.get("group_id"):
            outline.candidates.append((source, target))
        else:
            return None  # no edge of ours, or an alternative to nothing
    return outline


def _can_be_finished(nodes: list[Any], outline: _Outline) -> bool:
    """Whether it is plain that nothing waits for itself through goals and parts, and no goal is left without a part."""
    waits, candidates = outline.waits, outline.candidates
    if candidates and (
        waits or not outline.is_tree or not _are_parts(candidates, outline.parent)
    ):
        return False
    checks = [target for _, target in waits if nodes[target]["node_type"] == "CHECK"]
    if len({*checks}) < len(
        checks
    ):  # a check that waits for more than the product it reviews
        return False
    if outline.goals.isdisjoint([source for source, _ in waits]):
        return True  # only tasks are waited for, and each comes before what waits
    return outline.is_tree and _each_goal_comes_before_what_waits(outline.parent, waits)


def _are_parts(candidates: list[tuple[int, int]], parent: list[int]) -> bool:
    """Whether every candidate is a part of the node it is a way to."""
    return all(parent[target] == source for source, target in candidates)


def _each_goal_comes_before_what_waits(
    parent: list[int], waits: list[tuple[int, int]]
) -> bool:
    """In the order of the tree, a goal with all that belongs to it comes before whatever waits for it."""
    count = len(parent)
    size = [1] * count
    for part in range(count - 1, 0, -1):
        size[parent[part]] += size[part]
    first = [0] * count
    free = [1] * count  # the next place below each node that is not taken yet
    for task in range(1, count):
        goal = parent[task]
        first[task] = free[goal]
        free[goal] += size[task]
        free[task] = first[task] + 1
    return all(
        first[source] + size[source] <= first[target] for source, target in waits
    )


def _are_bound(needs: list[Any], place: dict[str, int]) -> bool:
    return len({need["requirement_id"] for need in needs}) == len(
        needs
    ) and place.keys() >= {need["task_id"] for need in needs}
