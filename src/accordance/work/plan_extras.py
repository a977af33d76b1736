"""What a plan asks for beyond the columns of its tasks: its constraints, and every further key its nodes carry.

    {"plan": {..., "constraints": {"language": "German"}},
     "nodes": [{"task_id": "a", ..., "acceptance_criteria": ["names a price"], "deliverable_spec": {"format": "md"}}]}

The plan's document never changes, so it is read once. What stands there is told to executors and reviewers alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from accordance.contracts.catalogue.plan import Node
from accordance.contracts.jsonpath import JsonObject
from accordance.domain.records import PlanRecord, TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import KEY, TAG

NAMED: Final = ("acceptance_criteria", "deliverable_spec")
"""Keys that every task shows under their own names; the others are listed together."""
_MOST_PLANS: Final = 16  # whose wishes are remembered


class Wishes(NamedTuple):
    """What one plan asks for."""

    constraints: JsonObject
    by_task: Mapping[str, JsonObject]


def constraints_of(tx: Transaction, plan: PlanRecord) -> JsonObject:
    """What holds for every task of a plan."""
    return _wishes(tx, plan).constraints


def wishes_for(tx: Transaction, task: TaskRecord) -> dict[str, Any]:
    """What the plan says about one task, in keys that are always there."""
    carried = _wishes(tx, tx.plan(task.plan_id)).by_task.get(task.task_id, {})
    further = {key: value for key, value in carried.items() if key not in NAMED}
    return {**{key: carried.get(key) for key in NAMED}, "further": further}


def _wishes(tx: Transaction, plan: PlanRecord) -> Wishes:
    known = _KNOWN.get(plan.document)
    if known is None:
        if len(_KNOWN) >= _MOST_PLANS:
            _KNOWN.clear()
        _KNOWN[plan.document] = known = _read(tx.blob(plan.document))
    return known


_KNOWN: Final[dict[str, Wishes]] = {}


def _read(document: bytes) -> Wishes:
    plan: dict[str, Any] = json.loads(document)
    carried = ((node["task_id"], _carried(node)) for node in plan["nodes"])
    return Wishes(
        plan["plan"].get("constraints") or {},
        {task: keys for task, keys in carried if keys},
    )


def _carried(node: Mapping[str, Any]) -> JsonObject:
    """The keys of a node that the contract of plans does not know; the task of a change is told apart."""
    is_change = TAG in node["tags"]
    return {
        key: value
        for key, value in node.items()
        if key not in Node.model_fields and not (is_change and key == KEY)
    }
