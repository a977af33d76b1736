"""The two rewrites of a plan that a table cannot say. Both keep every node and every relation that means something.

1. External planners write a chain START -> ... -> END. The ends are no tasks: edges out of START become DECOMPOSE edges of
   the root, edges into END say nothing, and the two pseudo nodes go.
2. A root without parts could never be finished. Whatever has no parent is put under the root (or under the parent of
   its ALTERNATIVE group), so that afterwards every node lies under the root. A second GOAL with parts of its own is
   not adopted: that is a second root, and the rules of the graph refuse it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Final

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Repair

_STARTS: Final = frozenset(("START", "BEGIN"))
_ENDS: Final = frozenset(("END", "FINISH", "STOP"))
PSEUDO_ENDS: Final = _STARTS | _ENDS
LONGEST_PSEUDO: Final = 20  # with white space around; real ids are mostly longer
_EDGE_IDS: Final = uuid.UUID("6ba7b811-9dad-41d1-80b4-00c04fd430c8")


def start_and_end_become_decompose(message: JsonObject, _: Context) -> tuple[JsonObject, list[Repair]]:
    """Rewrite a START..END chain into DECOMPOSE edges of the root."""
    root, nodes, edges = root_of(message), objects_in(message, "nodes"), objects_in(message, "edges")
    if root is None or not (nodes and edges) or not _mentions_pseudo_ends(edges, root):
        return message, []
    repairs: list[Repair] = []
    combined = next(_combinations(root, edges), "AND")
    kept_edges = [
        kept for at, edge in enumerate(edges) if (kept := _without_ends(edge, at, root, combined, repairs))
    ]
    kept_nodes: list[JsonObject] = []
    for at, node in enumerate(nodes):
        if _pseudo_end(node.get("task_id"), root):
            repairs.append(Repair("start_end", f"$.nodes[{at}]", node, None))
        else:
            kept_nodes.append(node)
    return {**message, "nodes": kept_nodes, "edges": kept_edges}, repairs


def _without_ends(
    edge: JsonObject, at: int, root: str, combined: str, repairs: list[Repair]
) -> JsonObject | None:
    begins, ends = _pseudo_end(edge.get("from_task_id"), root), _pseudo_end(edge.get("to_task_id"), root)
    if not begins and not ends:
        return edge
    kept: JsonObject | None = None
    if begins == "START" and not ends and edge.get("to_task_id") != root:
        said = edge.get("metadata")
        metadata = {**(said if isinstance(said, dict) else {}), "and_or": combined}
        kept = {**edge, "from_task_id": root, "edge_type": "DECOMPOSE", "metadata": metadata}
    repairs.append(Repair("start_end", f"$.edges[{at}]", edge, kept))
    return kept


def _mentions_pseudo_ends(edges: list[JsonObject], root: str) -> bool:
    ends = {hashable(edge.get("from_task_id")) for edge in edges} | {
        hashable(edge.get("to_task_id")) for edge in edges
    }
    return any(_pseudo_end(end, root) for end in ends)


def _pseudo_end(task: object, root: str) -> str | None:
    """START or END, if that is what the id means. A root of that name is a real node."""
    if not isinstance(task, str) or len(task) > LONGEST_PSEUDO or task == root:
        return None
    word = task.strip().upper()
    return "START" if word in _STARTS else "END" if word in _ENDS else None


def complete_under_the_root(message: JsonObject, _: Context) -> tuple[JsonObject, list[Repair]]:
    """Put every node that has no parent under the root."""
    root, nodes, edges = root_of(message), objects_in(message, "nodes"), objects_in(message, "edges")
    if root is None or nodes is None or edges is None:
        return message, []
    has_parent = {
        hashable(edge.get("to_task_id")) for edge in edges if edge.get("edge_type") == "DECOMPOSE"
    } | {root}
    orphans = [
        node for node in nodes if isinstance(task := node.get("task_id"), str) and task not in has_parent
    ]
    if not orphans:
        return message, []
    parents = {hashable(edge.get("from_task_id")) for edge in edges if edge.get("edge_type") == "DECOMPOSE"}
    group_parent = {
        hashable(edge.get("to_task_id")): hashable(edge.get("from_task_id"))
        for edge in edges
        if edge.get("edge_type") == "ALTERNATIVE"
    }
    adopted = [node for node in orphans if not _is_second_root(node, parents)]
    if not adopted or root not in {hashable(node.get("task_id")) for node in nodes}:
        return message, []
    added = [_adoption(message, node, group_parent.get(node["task_id"], root), edges) for node in adopted]
    repairs = [
        Repair("under_the_root", f"$.edges[{len(edges) + at}]", None, edge) for at, edge in enumerate(added)
    ]
    return {**message, "edges": [*edges, *added]}, repairs


def _is_second_root(node: JsonObject, parents: set[object]) -> bool:
    return node.get("node_type") == "GOAL" and node["task_id"] in parents


def _adoption(message: JsonObject, node: JsonObject, parent: object, edges: list[JsonObject]) -> JsonObject:
    """A DECOMPOSE edge whose id follows from what it joins, so that the same plan gives the same edge."""
    head = message.get("plan")
    plan_id = head.get("plan_id") if isinstance(head, dict) else None
    return {
        "edge_id": str(uuid.uuid5(_EDGE_IDS, f"{plan_id}\n{parent}\n{node['task_id']}")),
        "plan_id": plan_id,
        "from_task_id": parent,
        "to_task_id": node["task_id"],
        "edge_type": "DECOMPOSE",
        "metadata": {"and_or": next(_combinations(parent, edges), "AND")},
    }


def _combinations(parent: object, edges: list[JsonObject]) -> Iterator[str]:
    """How the parts this parent has already are combined."""
    for edge in edges:
        if edge.get("edge_type") == "DECOMPOSE" and edge.get("from_task_id") == parent:
            metadata = edge.get("metadata")
            if isinstance(metadata, dict) and metadata.get("and_or") in ("AND", "OR"):
                yield str(metadata["and_or"])


def root_of(message: JsonObject) -> str | None:
    """The id of the root, if the plan names one."""
    head = message.get("plan")
    root = head.get("root_task_id") if isinstance(head, dict) else None
    return root if isinstance(root, str) else None


def objects_in(message: JsonObject, key: str) -> list[JsonObject] | None:
    """A list of objects, or None if it is not one."""
    items = message.get(key)
    return items if isinstance(items, list) and all(type(item) is dict for item in items) else None


def hashable(value: object) -> object:
    """Ids should be texts; whatever else comes must not break a set."""
    return value if isinstance(value, str) else None
