"""What a plan asks for beyond the columns of its tasks.

That is its constraints, and every further key that its nodes carry:

    {"plan": {..., "constraints": {"language": "German"}},
     "nodes": [{"task_id": "a", ..., "acceptance_criteria": ["names a price"],
                "deliverable_spec": {"format": "md"}}]}

Executors and reviewers get to see all of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from accordance.contracts.catalogue.plan import Node
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import KEY, TAG
from accordance.work.plan_documents import DocumentReader

NAMED: Final = ("acceptance_criteria", "deliverable_spec")
"""Keys that every task shows under their own names; the others are listed together."""


class Wishes(NamedTuple):
    """What a plan asks for."""

    constraints: JsonObject
    by_task: Mapping[str, JsonObject]


def constraints_of(tx: Transaction, plan: PlanRecord) -> JsonObject:
    """Return what holds for every task of a plan."""
    return _WISHES.value(tx, plan).constraints


def wishes_for(tx: Transaction, task: TaskRecord) -> dict[str, Any]:
    """Return what the plan says about a task; every key of NAMED is always there."""
    wishes = _WISHES.value(tx, tx.plan(task.plan_id))
    extras = wishes.by_task.get(task.task_id, {})

    named = {key: extras.get(key) for key in NAMED}
    further = {key: value for key, value in extras.items() if key not in NAMED}
    return {**named, "further": further}


def _read(document: bytes) -> Wishes:
    plan: dict[str, Any] = json.loads(document)
    constraints = plan["plan"].get("constraints") or {}

    by_task = {}
    for node in plan["nodes"]:
        extras = _extras_of(node)
        if extras:
            by_task[node["task_id"]] = extras
    return Wishes(constraints, by_task)


def _extras_of(node: Mapping[str, Any]) -> JsonObject:
    """The keys of a node that the contract of plans does not know.

    The task of a change is left out: executors get it separately.
    """
    extras = {key: value for key, value in node.items() if key not in Node.model_fields}
    if TAG in node["tags"]:
        extras.pop(KEY, None)
    return extras


_WISHES: Final = DocumentReader(_read)
