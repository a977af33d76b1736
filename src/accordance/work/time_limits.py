"""How long an attempt at a task may take, as its node in the plan says: `timeoutMs`, beside what its executor allows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.limits import Limits
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Violation, excerpt
from accordance.domain.records import TaskRecord
from accordance.store.ledger import Transaction

KEY: Final = "timeoutMs"
_LIMITS: Final = Limits(
    max_bytes=1 << 30
)  # our own copy of a plan: it was checked when it came
_KNOWN: Final[
    dict[str, Mapping[str, float]]
] = {}  # a plan's document never changes, so it is read once


def seconds_for(tx: Transaction, task: TaskRecord) -> float | None:
    """How long an attempt may take; None where the node says nothing."""
    document = tx.plan(task.plan_id).document
    found = _KNOWN.get(document)
    if found is None:
        _KNOWN[document] = found = _read(tx.blob(document))
    return found.get(task.task_id)


def _read(document: bytes) -> Mapping[str, float]:
    if f'"{KEY}"'.encode() not in document:
        return {}
    plan: dict[str, Any] = parse_object(document, _LIMITS)
    return {node["task_id"]: node[KEY] / 1000 for node in plan["nodes"] if KEY in node}


def check_time_limits(plan: Plan) -> Iterator[Violation]:
    """What nodes say about it must be a time."""
    for at, node in enumerate(plan.nodes):
        said = (node.model_extra or {}).get(KEY)
        if said is not None and (
            not isinstance(said, (int, float)) or isinstance(said, bool) or said <= 0
        ):
            yield Violation(
                "wrong_type",
                f"$.nodes[{at}].{KEY}",
                "a number of milliseconds above 0",
                excerpt(said),
            )
