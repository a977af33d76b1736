"""The lists of a plan and their other names.

A list that comes under two names with two contents is refused: neither can be
preferred.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt

CONTAINERS: Final = {
    "nodes": ("tasks", "task_nodes", "items"),
    "edges": ("links", "deps", "dependencies", "task_edges"),
    "requirements": ("inputs", "input_requirements", "requirements_list"),
}
OTHER_NAMES: Final = frozenset(
    alias for aliases in CONTAINERS.values() for alias in aliases
)


def containers_are_named_once(message: JsonObject, _: Context) -> Iterator[Violation]:
    """nodes, edges and requirements come under a single name each, or with equal content."""
    if OTHER_NAMES.isdisjoint(message):
        return

    for key, aliases in CONTAINERS.items():
        present = [name for name in (key, *aliases) if name in message]
        for alias in present[1:]:
            yield Violation(
                "ambiguous_list",
                path=f"$.{alias}",
                expected=f"no second list beside $.{present[0]}, or the same content",
                actual=excerpt(message[alias]),
            )
