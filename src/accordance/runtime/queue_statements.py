"""The statements of the queue of attempts, and how they read on each database.

Words in braces differ between the databases; see `in_dialect`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

_CLOCKS: Final = {
    "sqlite": "(julianday('now') - 2440587.5) * 86400.0",
    "postgresql": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)",
}
_TYPES: Final = {"number": "int", "priority": "bigint", "claim": "int"}
"""Of the columns that are not text."""
_QUEUED: Final = (
    "workflow",
    "plan_id",
    "task_id",
    "kind",
    "number",
    "product",
    "queue",
    "lease",
    "priority",
    "version",
    "state",
    "worker",
    "claim",
)
"""What a list says of attempts that are to be queued."""
_SETTLED: Final = ("workflow", "claim")
"""What a list says of attempts that are settled."""
_BY_INDEX: Final = {
    "sqlite": "",
    "postgresql": "workflow = ANY(ARRAY("
    "SELECT json_array_elements(CAST(:settled AS json)) ->> 'workflow')) AND",
}
"""PostgreSQL cannot know how few attempts are listed, and would read the whole table."""
_SKIP_LOCKED: Final = {"sqlite": "", "postgresql": "FOR UPDATE SKIP LOCKED"}

ENQUEUE: Final = """
INSERT INTO attempt_queue (
    workflow, plan_id, task_id, kind, number, product, queue, lease, priority,
    version, state, worker, claim, recoveries, queued_at, begun_at)
SELECT
    workflow, plan_id, task_id, kind, number, product, queue, lease, priority,
    version, state, worker, claim, 0, {clock}, {clock}
FROM {queued} WHERE true
ON CONFLICT (workflow) DO UPDATE SET
    claim = excluded.claim, state = excluded.state, worker = excluded.worker,
    queue = excluded.queue, lease = excluded.lease, product = excluded.product,
    version = excluded.version, recoveries = 0, kept = NULL, error = NULL"""
"""A task that was handed back and is taken up again leaves nothing of the first time."""

CLAIM: Final = """
UPDATE attempt_queue
SET state = 'RUNNING', worker = :worker, claim = claim + 1, begun_at = {clock}
WHERE workflow IN (
    SELECT workflow FROM attempt_queue
    WHERE state = 'QUEUED' AND queue = :queue AND version = :version
    ORDER BY priority DESC, queued_at, workflow LIMIT :most {skip_locked})
RETURNING workflow, task_id, kind, number, product, plan_id, queue, lease, claim, kept
"""
KEEP: Final = """
UPDATE attempt_queue SET kept = :kept WHERE workflow = :workflow AND claim = :claim"""
BREAK: Final = """
UPDATE attempt_queue SET state = 'BROKEN', error = :error
WHERE workflow = :workflow AND claim = :claim"""
SETTLE: Final = """
DELETE FROM attempt_queue
WHERE {by_index} (workflow, claim) IN (SELECT workflow, claim FROM {settled})"""
GIVE_UP: Final = """
DELETE FROM attempt_queue WHERE workflow = :workflow AND state = :state"""

LOSE: Final = """
UPDATE attempt_queue
SET state = CASE WHEN recoveries < :most THEN 'QUEUED' ELSE 'BROKEN' END,
    error = CASE WHEN recoveries < :most THEN error ELSE :error END,
    recoveries = recoveries + 1, worker = NULL
WHERE state = 'RUNNING' AND {whose}"""
OURS: Final = "worker = :worker"
OF_THE_DEAD: Final = """NOT EXISTS (
    SELECT 1 FROM accordance_workers
    WHERE executor_id = attempt_queue.worker
    AND beat_at >= now() - make_interval(secs => :seconds))"""
RESUME: Final = """
UPDATE attempt_queue SET state = 'QUEUED', worker = NULL
WHERE workflow = :workflow AND worker = :worker AND state = 'RUNNING'"""

_ROWS: Final = (
    "SELECT workflow, queue, state, worker, version, error FROM attempt_queue"
)
OF_PLAN: Final = f"{_ROWS} WHERE plan_id = :plan_id"
WAITING: Final = f"""
{_ROWS} WHERE state = 'QUEUED' AND version = :version
ORDER BY priority DESC, queued_at, workflow"""
NEVER_BEGUN: Final = """
SELECT workflow, task_id, kind, number, product, plan_id, queue, lease
FROM attempt_queue
WHERE state = 'QUEUED' AND version = :version AND recoveries = 0 AND kept IS NULL"""
IN_WORK: Final = """
SELECT 1 FROM attempt_queue WHERE worker = :worker AND state = 'RUNNING' LIMIT 1"""
KEPT: Final = "SELECT kept FROM attempt_queue WHERE workflow = :workflow"

HOLD_RATE: Final = "SELECT pg_advisory_xact_lock(7242079, hashtext(:queue))"
FORGET_STARTS: Final = """
DELETE FROM attempt_starts WHERE queue = :queue AND begun_at < {clock} - :seconds"""
COUNT_STARTS: Final = "SELECT count(*) FROM attempt_starts WHERE queue = :queue"
ADD_START: Final = """
INSERT INTO attempt_starts (queue, begun_at) VALUES (:queue, {clock})"""


@cache
def in_dialect(statement: str, dialect: str) -> str:
    """Return a statement in the words of a database."""
    native = statement.strip().format(
        clock=_CLOCKS[dialect],
        skip_locked=_SKIP_LOCKED[dialect],
        queued=_listed(dialect, "queued", _QUEUED),
        settled=_listed(dialect, "settled", _SETTLED),
        by_index=_BY_INDEX[dialect],
    )
    if dialect == "sqlite":
        return native
    return re.sub(r":(\w+)", r"%(\1)s", native)


def _listed(dialect: str, parameter: str, columns: Sequence[str]) -> str:
    """Return a list of attempts, which a parameter brings in JSON, as rows."""
    if dialect == "postgresql":
        typed = ", ".join(f"{name} {_TYPES.get(name, 'text')}" for name in columns)
        return f"json_to_recordset(CAST(:{parameter} AS json)) AS listed({typed})"
    values = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name in columns)
    return f"(SELECT {values} FROM json_each(:{parameter})) AS listed"  # noqa: S608
