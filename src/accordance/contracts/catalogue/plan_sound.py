"""A quick sufficient test for plans: True means that no rewrite and no rule applies.

Most plans are written in order, every edge from an earlier node to a later. For
those a single look at each node and each edge settles everything. False only means that
the rules have to look closer. A property test compares this test with the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from accordance.contracts.catalogue.plan_containers import OTHER_NAMES
from accordance.contracts.catalogue.plan_marks import MARKS
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject

_NONE: Final = -1  # the place of a node that does not exist
_ALL_AND: Final = frozenset(("AND", None))  # an edge without and_or means AND
_ALL_OR: Final = frozenset(("OR",))


@dataclass(slots=True)
class _Layout:
    """What the edges say, with a node's place in the list instead of its id."""

    edge_count: int
    parent: list[int]  # of each node; the last that was named
    goals: set[int] = field(default_factory=set)  # nodes that have parts
    waits: list[tuple[int, int]] = field(default_factory=list)
    candidates: list[tuple[int, int]] = field(default_factory=list)
    combined: set[str | None] = field(default_factory=set)  # and_or of all parts

    @property
    def is_tree(self) -> bool:
        """Whether no node has a second parent."""
        parts = self.edge_count - len(self.waits) - len(self.candidates)
        return parts == len(self.parent) - 1

    @property
    def hangs_together(self) -> bool:
        """Whether all but the root have a parent, and no parent mixes AND and OR."""
        has_one_root = self.parent.count(_NONE) == 1
        is_unmixed = self.combined <= _ALL_AND or self.combined <= _ALL_OR
        return has_one_root and is_unmixed


def is_plainly_sound(message: JsonObject, _: Context) -> bool:
    """Return whether a plan, right in every field, plainly keeps the graph's rules.

    Where every edge leads from an earlier node to a later node, there is no cycle. If
    every node but the root then has a parent, going up from any of them must end at the
    root.
    """
    plan: Any = message
    nodes, edges = plan["nodes"], plan["edges"]
    places = {node["task_id"]: place for place, node in enumerate(nodes)}
    if not _are_nodes_plain(plan, places):
        return False

    layout = _layout(edges, places, plan["plan"]["plan_id"])
    if layout is None or not layout.hangs_together:
        return False
    if len({edge["edge_id"] for edge in edges}) < len(edges):
        return False
    return _can_be_finished(nodes, layout)


def _are_nodes_plain(plan: Any, places: dict[str, int]) -> bool:
    nodes, head = plan["nodes"], plan["plan"]
    if not OTHER_NAMES.isdisjoint(plan) or len(places) < len(nodes):
        return False

    is_root_first = places.get(head["root_task_id"]) == 0  # only a root has no parent
    if not is_root_first or nodes[0]["node_type"] != "GOAL":
        return False
    if {node["plan_id"] for node in nodes} != {head["plan_id"]}:
        return False
    if not MARKS.isdisjoint(map(str.upper, map(str.strip, places))):
        return False

    requirements = plan.get("requirements", ())
    return not requirements or _are_requirements_plain(requirements, places)


def _are_requirements_plain(requirements: list[Any], places: dict[str, int]) -> bool:
    ids = {requirement["requirement_id"] for requirement in requirements}
    tasks = {requirement["task_id"] for requirement in requirements}
    return len(ids) == len(requirements) and places.keys() >= tasks


def _layout(edges: list[Any], places: dict[str, int], plan_id: str) -> _Layout | None:
    """Return the layout of a plan whose edges all lead to a later node.

    None for any other plan.
    """
    layout = _Layout(len(edges), parent=[_NONE] * len(places))
    parent, goals, combined = layout.parent, layout.goals, layout.combined
    for edge in edges:
        source = places.get(edge["from_task_id"], _NONE)
        target = places.get(edge["to_task_id"], _NONE)
        leads_on = _NONE < source < target
        if not leads_on or edge["plan_id"] != plan_id:
            return None

        kind, metadata = edge["edge_type"], edge["metadata"]
        if kind == "DECOMPOSE":
            parent[target] = source
            goals.add(source)
            combined.add(metadata.get("and_or") if metadata else None)
        elif kind == "DEPENDS_ON":
            layout.waits.append((source, target))
        elif kind == "ALTERNATIVE" and metadata and metadata.get("group_id"):
            layout.candidates.append((source, target))
        else:
            return None  # not an edge type of ours, or an alternative without a group
    return layout


def _can_be_finished(nodes: list[Any], layout: _Layout) -> bool:
    """Return whether plainly nothing waits for itself and every goal keeps a part."""
    if layout.candidates and not _are_candidates_plain(layout):
        return False

    waits = layout.waits
    checks = [target for _, target in waits if nodes[target]["node_type"] == "CHECK"]
    if len({*checks}) < len(checks):
        return False  # a check waits for more than the product it reviews

    if layout.goals.isdisjoint([source for source, _ in waits]):
        return True  # only tasks are waited for, and each comes before what waits
    return layout.is_tree and _each_goal_comes_before_what_waits(layout)


def _are_candidates_plain(layout: _Layout) -> bool:
    """Return whether candidates are parts of a tree without waits."""
    if layout.waits or not layout.is_tree:
        return False
    return all(
        layout.parent[candidate] == goal for goal, candidate in layout.candidates
    )


def _each_goal_comes_before_what_waits(layout: _Layout) -> bool:
    """Return whether each goal, with all below it, comes before what waits for it.

    The order is that of the tree: a node, then each of its parts with all below it.
    """
    parent = layout.parent
    count = len(parent)
    size = [1] * count
    for part in range(count - 1, 0, -1):
        size[parent[part]] += size[part]

    position = [0] * count
    free = [1] * count  # the next position below each node that is not taken yet
    for task in range(1, count):
        goal = parent[task]
        position[task] = free[goal]
        free[goal] += size[task]
        free[task] = position[task] + 1

    return all(
        position[source] + size[source] <= position[target]
        for source, target in layout.waits
    )
