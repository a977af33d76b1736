"""workflow.jsonl: actions, reviews and plans, through the public `check`."""

from __future__ import annotations

import json
from typing import Any

from accordance import Accepted, Context, Rejected, check, dump
from tests.conformance.lines import Line, Lines

LINES = Lines("workflow.jsonl")


def outcome(line: Line) -> Accepted[Any] | Rejected:
    asked = line.get("context") or {}
    context = Context(task_id=asked.get("task_id"), plan_id=asked.get("plan_id"))
    text = (
        line["input_text"]
        if "input_text" in line
        else json.dumps(line["input"], ensure_ascii=False)
    )
    return check(text, line["contract"], context)


def test_decision_and_place(line: Line) -> None:
    """Accepted or rejected as the line says; when rejected, the place it names is among the violations."""
    result = outcome(line)
    if line["spec_should_accept"]:
        assert isinstance(result, Accepted), result
    else:
        assert isinstance(result, Rejected), result
        assert line["spec_error_path"] in [
            violation.path for violation in result.violations
        ]


def test_normalised_form(line: Line) -> None:
    """What must be in the normalised message is in it."""
    result = outcome(line)
    if isinstance(result, Accepted):
        message = dump(result.value)
        assert contains(message, line.get("normalized_must_contain") or {})
        for check_ in line.get("normalized_checks") or ():
            assert holds(message, check_), check_


def contains(actual: Any, expected: Any) -> bool:
    """Objects by key; every expected element of a list matches a different actual one; scalars by type and value."""
    if isinstance(expected, dict):
        return isinstance(actual, dict) and all(
            key in actual and contains(actual[key], value)
            for key, value in expected.items()
        )
    if isinstance(expected, list):
        if not isinstance(actual, list) or (not expected and actual):
            return False
        rest = list(actual)
        for wanted in expected:
            match = next(
                (at for at, found in enumerate(rest) if contains(found, wanted)), None
            )
            if match is None:
                return False
            rest.pop(match)
        return True
    return type(actual) is type(expected) and bool(actual == expected)


def holds(message: dict[str, Any], check_: dict[str, Any]) -> bool:  # noqa: C901 - one case per check
    """One check of the normalised message."""
    nodes = {node["task_id"]: node for node in message.get("nodes", ())}
    edges, root = message.get("edges", []), message.get("plan", {}).get("root_task_id")
    title = {task: node["title"] for task, node in nodes.items()}
    match check_["check"]:
        case "node_count":
            return len(nodes) == int(check_["value"])
        case "edge_count":
            return len(edges) == int(check_["value"])
        case "root_title":
            return bool(title[root] == check_["value"])
        case "node_type_of":
            return any(
                node["node_type"] == check_["value"]
                for node in nodes.values()
                if node["title"] == check_["title"]
            )
        case "edge_between":
            wanted = (check_["from"], check_["to"], check_["edge_type"])
            return wanted in [
                (
                    title[edge["from_task_id"]],
                    title[edge["to_task_id"]],
                    edge["edge_type"],
                )
                for edge in edges
            ]
        case "no_edge_to_or_from_missing_node":
            return all(
                {edge["from_task_id"], edge["to_task_id"]} <= nodes.keys()
                for edge in edges
            )
        case "root_can_finish":
            return any(
                edge["from_task_id"] == root and edge["edge_type"] == "DECOMPOSE"
                for edge in edges
            )
        case "every_node_under_root":
            return under(root, edges) == set(nodes)
        case "non_empty_string":
            value: Any = message
            for key in check_["path"].removeprefix("$.").split("."):
                value = value[key]
            return isinstance(value, str) and bool(value.strip())
        case unknown:
            raise ValueError(unknown)


def under(root: str, edges: list[dict[str, Any]]) -> set[str]:
    """Everything DECOMPOSE reaches from the root, by the slow and obvious way."""
    reached = {root}
    while (
        grown := {
            edge["to_task_id"]
            for edge in edges
            if edge["edge_type"] == "DECOMPOSE" and edge["from_task_id"] in reached
        }
        - reached
    ):
        reached |= grown
    return reached
