"""What the edges of a plan say about each of its nodes.

Read once from a plan whose edges are sound, for the question whether it can be finished
(`plan_waiting`). docs/decisions/0007 has what each kind of edge means.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from accordance.contracts.catalogue.plan_reading import and_or_of, graph_in
from accordance.contracts.jsonpath import JsonObject


@dataclass(slots=True)
class Structure:
    """Goals with their parts, prerequisites, groups of candidates, and checks."""

    root: str
    rank: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Priority and place of each node: the candidate with the lowest rank is taken."""
    kinds: dict[str, object] = field(default_factory=dict)
    parts: dict[str, dict[str, None]] = field(default_factory=dict)
    parents: dict[str, dict[str, None]] = field(default_factory=dict)
    prerequisites: dict[str, dict[str, None]] = field(default_factory=dict)
    or_goals: set[str] = field(default_factory=set)
    """Goals that any of their parts can finish."""
    groups: dict[tuple[str, str], dict[str, None]] = field(default_factory=dict)
    rivals: dict[str, list[str]] = field(default_factory=dict)
    """All candidates of a candidate's group, the best first."""
    checks: dict[str, str] = field(default_factory=dict)
    """The task whose product a check reviews."""
    checked_by: dict[str, list[str]] = field(default_factory=dict)
    passed_over: set[str] = field(default_factory=set)
    """Candidates that are not the best, and what belongs only to them."""

    def place(self, task: str) -> int:
        """Return the place of a node in the plan's list."""
        return self.rank[task][1]

    def without_passed_over(self, tasks: dict[str, None]) -> list[str]:
        """Return those of some nodes that will be worked on at first."""
        return [task for task in tasks if task not in self.passed_over]


def read_structure(message: JsonObject) -> Structure | None:
    """Read the structure of a plan.

    None where an id, a priority or an edge is wrong: other rules report that.
    """
    graph = graph_in(message)
    if graph is None:
        return None
    root, nodes, edges = graph

    structure = Structure(root)
    for place, node in enumerate(nodes):
        if not _add_node(structure, place, node):
            return None
    if root not in structure.rank:
        return None
    for edge in edges:
        if not _add_edge(structure, edge):
            return None

    _find_rivals(structure)
    _find_checks(structure)
    _find_passed_over(structure)
    return structure


def _add_node(structure: Structure, place: int, node: JsonObject) -> bool:
    task = node.get("task_id")
    priority = node.get("priority")
    if not isinstance(task, str) or not isinstance(priority, int):
        return False
    if task in structure.rank:
        return False

    structure.rank[task] = (-priority, place)
    structure.kinds[task] = node.get("node_type")
    return True


def _add_edge(structure: Structure, edge: JsonObject) -> bool:
    source = edge.get("from_task_id")
    target = edge.get("to_task_id")
    if not isinstance(source, str) or not isinstance(target, str):
        return False
    if source not in structure.rank or target not in structure.rank:
        return False

    match edge.get("edge_type"):
        case "DECOMPOSE":
            structure.parts.setdefault(source, {})[target] = None
            structure.parents.setdefault(target, {})[source] = None
            if and_or_of(edge) == "OR":
                structure.or_goals.add(source)
        case "DEPENDS_ON":
            structure.prerequisites.setdefault(target, {})[source] = None
        case "ALTERNATIVE":
            group = (source, _group_id(edge))
            structure.groups.setdefault(group, {})[target] = None
        case _:
            return False
    return True


def _group_id(edge: JsonObject) -> str:
    metadata = edge.get("metadata")
    group = metadata.get("group_id") if isinstance(metadata, dict) else None
    return str(group)


def _find_rivals(structure: Structure) -> None:
    """Rank the candidates of each group. A candidate belongs to its first group."""
    for candidates in structure.groups.values():
        newcomers = [task for task in candidates if task not in structure.rivals]
        ranked = sorted(newcomers, key=structure.rank.__getitem__)
        structure.rivals.update(dict.fromkeys(ranked, ranked))


def _find_checks(structure: Structure) -> None:
    """Find what each check reviews: a CHECK without parts, the action it waits for."""
    for check, kind in structure.kinds.items():
        if kind != "CHECK" or check in structure.parts:
            continue

        prerequisites = structure.prerequisites.get(check, {})
        actions = [task for task in prerequisites if structure.kinds[task] == "ACTION"]
        if len(actions) == 1:
            action = actions[0]
            structure.checks[check] = action
            structure.checked_by.setdefault(action, []).append(check)


def _find_passed_over(structure: Structure) -> None:
    """Find the candidates that are not the best, and what belongs only to them."""
    wanting_parents = {
        part: len(parents) for part, parents in structure.parents.items()
    }
    losers = [task for task, rivals in structure.rivals.items() if rivals[0] != task]
    while losers:
        task = losers.pop()
        if task in structure.passed_over:
            continue

        structure.passed_over.add(task)
        for part in structure.parts.get(task, ()):
            wanting_parents[part] -= 1
            is_wanted = wanting_parents[part] > 0
            if not is_wanted and part not in structure.checks:
                losers.append(part)
        losers += structure.checked_by.get(task, ())
