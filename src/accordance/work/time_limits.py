"""The time limit that a plan's node sets for an attempt at its task: `timeoutMs`.

It holds beside the limit of the executor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accordance.contracts.catalogue.plan import Plan
from accordance.contracts.reading import parse_object
from accordance.contracts.violation import Violation, excerpt
from accordance.domain.records import TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.plan_documents import DOCUMENT_LIMITS, DocumentReader

KEY: Final = "timeoutMs"


def seconds_for(tx: Transaction, task: TaskRecord) -> float | None:
    """Return how long an attempt may take; None where the node sets no limit."""
    limits = _TIME_LIMITS.value(tx, tx.plan(task.plan_id))
    return limits.get(task.task_id)


def _read(document: bytes) -> Mapping[str, float]:
    if f'"{KEY}"'.encode() not in document:
        return {}

    plan: dict[str, Any] = parse_object(document, DOCUMENT_LIMITS)
    limited = [node for node in plan["nodes"] if KEY in node]
    return {node["task_id"]: node[KEY] / 1000 for node in limited}


_TIME_LIMITS: Final = DocumentReader(_read)


def check_time_limits(plan: Plan) -> Iterator[Violation]:
    """Yield a violation for every limit of a plan that is not a positive number."""
    for position, node in enumerate(plan.nodes):
        limit = (node.model_extra or {}).get(KEY)
        if limit is None or _is_duration(limit):
            continue

        yield Violation(
            "wrong_type",
            f"$.nodes[{position}].{KEY}",
            "a number of milliseconds above 0",
            excerpt(limit),
        )


def _is_duration(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return value > 0
