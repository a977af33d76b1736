"""A task as plain JSON: its node, its state and what its plan asks of it."""

from __future__ import annotations

from typing import Any

from accordance.domain.records import TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.plan_extras import wishes_for


def describe(task: TaskRecord) -> dict[str, Any]:
    """Return a task and where it stands, as plain JSON."""
    progress = task.progress
    counters = progress.standing.counters
    return {
        "task_id": task.task_id,
        "plan_id": task.plan_id,
        "node_type": task.node_type,
        "title": task.title,
        "goal_statement": task.goal_statement,
        "rationale": task.rationale,
        "owner_agent_id": task.owner_agent_id,
        "priority": task.priority,
        "tags": list(task.tags),
        "state": progress.state,
        "waiting": progress.standing.waiting,
        "active": progress.active,
        "attempt_count": counters.attempt_count,
        "failures": counters.failures,
        "parse_failures": counters.parse_failures,
        "review_rounds": counters.review_rounds,
        "review_failures": counters.review_failures,
        "idle_rounds": counters.idle_rounds,
        "checks": task.checks,
        "artifact": task.product,
    }


def described(tx: Transaction, task: TaskRecord) -> dict[str, Any]:
    """Return a task with all that its plan asks of it, as plain JSON."""
    return {**describe(task), **wishes_for(tx, task)}
