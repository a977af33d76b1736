"""A quick sufficient test for plans: True means no rewrite and no rule of the graph has anything to say.

Most plans are written in order, every edge from an earlier node to a later one. For those a few sets and one comparison
per edge settle everything; False only means: look closer. A property test holds it to the rules.
"""

from __future__ import annotations

from operator import lt
from typing import Any, Final

from accordance.contracts.catalogue.plan_rewrites import LONGEST_PSEUDO, PSEUDO_ENDS
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
        len(place) == len(nodes)
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
        and PSEUDO_ENDS.isdisjoint([task.strip().upper() for task in place if len(task) <= LONGEST_PSEUDO])
    )


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
