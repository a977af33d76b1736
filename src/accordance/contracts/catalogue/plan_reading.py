"""Reading a plan that may be wrong in any field.

The rewrites and the rules of the graph see a plan before its fields are known to be
right. What has the wrong type is reported by the model; here it is passed over.
"""

from __future__ import annotations

from typing import TypeAlias

from accordance.contracts.jsonpath import JsonObject

TaskId: TypeAlias = str | None
"""The id of a task, or None where the plan has something other than a text."""


def root_of(message: JsonObject) -> str | None:
    """Return the id of the root, if the plan names it."""
    head = message.get("plan")
    if not isinstance(head, dict):
        return None
    return text_or_none(head.get("root_task_id"))


def plan_id_of(message: JsonObject) -> object:
    """Return the plan's own id as it is written, which may be of any type."""
    head = message.get("plan")
    if not isinstance(head, dict):
        return None
    return head.get("plan_id")


def graph_in(
    message: JsonObject,
) -> tuple[str, list[JsonObject], list[JsonObject]] | None:
    """Return the root, the nodes and the edges, or None unless all can be read."""
    root = root_of(message)
    nodes = objects_in(message, "nodes")
    edges = objects_in(message, "edges")
    if root is None or edges is None or not nodes:
        return None
    return root, nodes, edges


def objects_in(message: JsonObject, key: str) -> list[JsonObject] | None:
    """Return the list under a key, or None unless it is a list of objects."""
    items = message.get(key)
    if not isinstance(items, list):
        return None
    if not all(type(item) is dict for item in items):
        return None
    return items


def text_or_none(value: object) -> str | None:
    """Return a text as it is, and None for anything else, which no set may hold."""
    return value if isinstance(value, str) else None


def ends_of(edge: JsonObject) -> tuple[TaskId, TaskId]:
    """Return the ids that an edge leads from and to."""
    source = text_or_none(edge.get("from_task_id"))
    target = text_or_none(edge.get("to_task_id"))
    return source, target


def and_or_of(edge: JsonObject) -> object:
    """Return how an edge combines its parent's parts, as it is written."""
    metadata = edge.get("metadata")
    if not isinstance(metadata, dict):
        return None
    return metadata.get("and_or")
