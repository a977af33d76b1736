"""A quick sufficient test for plans: True means no rewrite and no rule of the graph has anything to say.

Most plans are written in order, the root first and every edge from an earlier node to a later one. For those a few sets and
one comparison per edge settle everything, in C; False only means: look closer. A property test holds it to the rules.
"""

from __future__ import annotations

from operator import lt
from typing import Any, Final

from accordance.contracts.catalogue.plan_rewrites import pseudo_end
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject

_AND: Final = frozenset(("AND",))
_ORDERLY: Final = frozenset(("DECOMPOSE", "DEPENDS_ON"))
_SHORT: Final = 20


def is_plainly_sound(message: JsonObject, _: Context) -> bool:
    """Whether a plan, right in every field, plainly keeps all rules of its graph.

    Where every edge leads from an earlier node to a later one there is no cycle; and where every node but the root
    then has a parent, going up from any of them must end at the root.
    """
    plan: Any = message
    nodes, edges = plan["nodes"], plan["edges"]
    if not edges or plan.get("requirements"):
        return False
    root, plan_id = plan["plan"]["root_task_id"], {plan["plan"]["plan_id"]}
    place = {node["task_id"]: at for at, node in enumerate(nodes)}
    sources, targets = [edge["from_task_id"] for edge in edges], [edge["to_task_id"] for edge in edges]
    parts = [edge for edge in edges if edge["edge_type"] == "DECOMPOSE"]
    children = {edge["to_task_id"] for edge in parts}
    return (
        nodes[0]["task_id"] == root
        and nodes[0]["node_type"] == "GOAL"
        and len(place) == len(nodes)
        and len(children) == len(nodes) - 1
        and root not in children
        and len({edge["edge_id"] for edge in edges}) == len(edges)
        and {node["plan_id"] for node in nodes} == plan_id
        and {edge["plan_id"] for edge in edges} == plan_id
        and {edge["edge_type"] for edge in edges} <= _ORDERLY
        and place.keys() >= {*sources, *targets}
        and all(map(lt, map(place.__getitem__, sources), map(place.__getitem__, targets)))
        and {(edge["metadata"] or {}).get("and_or") for edge in parts} == _AND
        and not any(pseudo_end(task, root) for task in place if len(task) <= _SHORT)
    )
