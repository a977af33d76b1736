"""The queue of attempts: one table in the ledger's own database.

A row is an attempt that is queued or in work.

    QUEUED    may be begun by any worker of its version that serves its queue
    RUNNING   a worker has begun it, under a claim
    BROKEN    it cannot be carried on; the reconciler settles it

A process that begins an attempt gets a number, its claim, and whatever it writes later
names that number. So a worker that was taken for dead, and wakes up after another has begun
the attempt again, changes nothing. The row goes in the transaction that settles the
attempt.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from accordance.contracts.jsonpath import JsonObject
from accordance.runtime import queue_statements as statements
from accordance.runtime.ports import VERSION, TaskAttempt
from accordance.store.columns import storable
from accordance.store.driver import Driver, Row
from accordance.store.sql import SqlTransaction
from accordance.store.together import Act
from accordance.work.taking import Taken

QUEUED: Final = "QUEUED"
RUNNING: Final = "RUNNING"
BROKEN: Final = "BROKEN"

MOST_RECOVERIES: Final = 5  # workers that may be lost over an attempt
_MINUTE: Final = 60.0
_CLAIM_BITS: Final = 30
_OF_ATTEMPT: Final = tuple(each.name for each in fields(TaskAttempt))
_EVERY_WORKER_CRASHED: Final = "every worker that tried it crashed"


class TakenOver(Exception):
    """Another worker has the attempt now. Nothing was changed."""


class WantedAttempt(NamedTuple):
    """An attempt that is to be queued."""

    queue: str
    taken: Taken
    worker: str | None
    """Who begins it at once; otherwise, any worker may."""


@dataclass(frozen=True, slots=True)
class QueueRow:
    """An attempt that is queued or in work, as others see it."""

    workflow: str
    queue: str
    state: str
    worker: str | None
    version: str
    error: str | None


@dataclass(frozen=True, slots=True)
class ClaimedAttempt:
    """An attempt that this process carries out, under a claim."""

    workflow: str
    attempt: TaskAttempt
    claim: int
    kept: JsonObject | None = None  # what an earlier worker has kept of its run


def workflow_id(taken: Taken) -> str:
    """Return the id of an attempt's workflow: the same attempt never begins twice.

    A product may be reviewed several times within an attempt, so the id of a review
    contains its lease.
    """
    task_id = taken.task.task_id
    if taken.kind == "action":
        return f"{task_id}:action:{taken.attempt}"
    return f"{task_id}:review:{taken.attempt}:{taken.lease.until}"


def attempt_of(queue: str, taken: Taken) -> TaskAttempt:
    """Return the attempt at a task that was just taken up."""
    return TaskAttempt(
        task_id=taken.task.task_id,
        kind=taken.kind,
        number=taken.attempt,
        product=taken.lease.product,
        plan_id=taken.task.plan_id,
        queue=queue,
        lease=taken.lease.until,
    )


class AttemptQueue:
    """The statements of the queue, in the words of a database.

    Each runs on a connection of the caller's, who commits.
    """

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect

    def _rows(
        self, connection: Connection, statement: str, **values: object
    ) -> list[Row]:
        return Driver(connection).execute(self._native(statement), values)

    def _change(self, connection: Connection, statement: str, **values: object) -> int:
        return Driver(connection).change(self._native(statement), values)

    def _native(self, statement: str) -> str:
        """Return a statement in the words of the database."""
        return statements.in_dialect(statement, self._dialect)

    # -- queueing and beginning

    def enqueue(
        self, tx: SqlTransaction, wanted: Sequence[WantedAttempt]
    ) -> list[ClaimedAttempt]:
        """Queue attempts; a worker that is named begins them as soon as this commits."""
        queued = []
        rows = []
        for each in wanted:
            attempt = attempt_of(each.queue, each.taken)
            workflow = workflow_id(each.taken)
            claimed = ClaimedAttempt(workflow, attempt, secrets.randbits(_CLAIM_BITS))
            queued.append(claimed)
            rows.append(_new_row(claimed, each))
        if rows:
            self._at_the_end(tx, statements.ENQUEUE, "queued", rows)
        return queued

    def _at_the_end(
        self,
        tx: SqlTransaction,
        statement: str,
        parameter: str,
        rows: list[dict[str, Any]],
    ) -> None:
        """Write rows together with the rest of a transaction, which raises TakenOver."""

        def check(written: int) -> None:
            if written != len(rows):
                raise TakenOver

        values = {parameter: json.dumps(rows)}
        tx.at_the_end(Act(self._native(statement), values, check))

    def claim(
        self,
        connection: Connection,
        queue: str,
        worker: str,
        most: int,
        per_minute: int | None,
    ) -> list[ClaimedAttempt]:
        """Begin at most so many attempts of a queue, and no more than its rate allows."""
        if per_minute is not None:
            most = min(most, self._left_this_minute(connection, queue, per_minute))
        if most <= 0:
            return []

        rows = self._rows(
            connection,
            statements.CLAIM,
            queue=queue,
            version=VERSION,
            worker=worker,
            most=most,
        )
        claimed = [_claimed(row) for row in rows]
        if per_minute is not None:
            for _ in claimed:
                self._change(connection, statements.ADD_START, queue=queue)
        return claimed

    def _left_this_minute(
        self, connection: Connection, queue: str, per_minute: int
    ) -> int:
        """Return how many attempts may begin now; others that ask wait for the commit."""
        if self._dialect == "postgresql":
            self._rows(connection, statements.HOLD_RATE, queue=queue)
        self._change(connection, statements.FORGET_STARTS, queue=queue, seconds=_MINUTE)
        begun: int = self._rows(connection, statements.COUNT_STARTS, queue=queue)[0][0]
        return max(0, per_minute - begun)

    # -- under a claim

    def keep(
        self, connection: Connection, claimed: ClaimedAttempt, kept: JsonObject
    ) -> None:
        """Keep the outcome of a run. Raises TakenOver."""
        self._under_claim(connection, statements.KEEP, claimed, kept=json.dumps(kept))

    def settle(self, tx: SqlTransaction, settled: Sequence[ClaimedAttempt]) -> None:
        """Remove attempts that a transaction has settled; it raises TakenOver."""
        claims = [{"workflow": each.workflow, "claim": each.claim} for each in settled]
        self._at_the_end(tx, statements.SETTLE, "settled", claims)

    def mark_broken(
        self, connection: Connection, claimed: ClaimedAttempt, error: str
    ) -> None:
        """Mark an attempt that could not be settled. Raises TakenOver."""
        self._under_claim(connection, statements.BREAK, claimed, error=storable(error))

    def _under_claim(
        self,
        connection: Connection,
        statement: str,
        claimed: ClaimedAttempt,
        **values: object,
    ) -> None:
        written = self._change(
            connection,
            statement,
            workflow=claimed.workflow,
            claim=claimed.claim,
            **values,
        )
        if written != 1:
            raise TakenOver(claimed.workflow)

    # -- what was lost

    def requeue_own(self, connection: Connection, worker: str) -> None:
        """Queue again what an earlier process of the same name has left behind."""
        self._lose(connection, statements.OURS, worker=worker)

    def requeue_of_dead(self, connection: Connection, seconds: float) -> None:
        """Queue again what workers had that have not beaten for so many seconds."""
        self._lose(connection, statements.OF_THE_DEAD, seconds=seconds)

    def _lose(self, connection: Connection, whose: str, **values: object) -> None:
        self._change(
            connection,
            statements.LOSE.replace("{whose}", whose),
            most=MOST_RECOVERIES,
            error=_EVERY_WORKER_CRASHED,
            **values,
        )

    def resume(self, connection: Connection, workflow: str, worker: str) -> None:
        """Queue again what this worker has begun and does not run."""
        self._change(connection, statements.RESUME, workflow=workflow, worker=worker)

    def remove(self, connection: Connection, workflow: str, state: str) -> bool:
        """Remove an attempt in a state; return whether it was there."""
        removed = self._change(
            connection, statements.GIVE_UP, workflow=workflow, state=state
        )
        return bool(removed)

    # -- what is there

    def of_plan(self, connection: Connection, plan_id: str) -> dict[str, QueueRow]:
        """Return the attempts of a plan, by workflow."""
        rows = self._rows(connection, statements.OF_PLAN, plan_id=plan_id)
        return {row.workflow: QueueRow(*row) for row in rows}

    def waiting(self, connection: Connection) -> list[QueueRow]:
        """Return the attempts of this version that no worker has begun, in order."""
        rows = self._rows(connection, statements.WAITING, version=VERSION)
        return [QueueRow(*row) for row in rows]

    def never_begun(self, connection: Connection) -> Iterator[tuple[str, TaskAttempt]]:
        """Yield the attempts that no worker has ever begun, each with its workflow."""
        for row in self._rows(connection, statements.NEVER_BEGUN, version=VERSION):
            yield row.workflow, TaskAttempt(*row[1:])

    def has_in_work(self, connection: Connection, worker: str) -> bool:
        """Whether a worker has begun something and not settled it."""
        return bool(self._rows(connection, statements.IN_WORK, worker=worker))

    def kept(self, connection: Connection, workflow: str) -> JsonObject | None:
        """Return what was kept of the run of an attempt."""
        rows = self._rows(connection, statements.KEPT, workflow=workflow)
        if not rows or rows[0].kept is None:
            return None
        kept: JsonObject = json.loads(rows[0].kept)
        return kept


def _new_row(claimed: ClaimedAttempt, wanted: WantedAttempt) -> dict[str, Any]:
    attempt = claimed.attempt
    return {
        **{name: getattr(attempt, name) for name in _OF_ATTEMPT},
        "workflow": claimed.workflow,
        "priority": wanted.taken.task.priority,
        "version": VERSION,
        "state": RUNNING if wanted.worker else QUEUED,
        "worker": wanted.worker,
        "claim": claimed.claim,
    }


def _claimed(row: Row) -> ClaimedAttempt:
    values = row._asdict()
    workflow = values.pop("workflow")
    claim = values.pop("claim")
    kept = values.pop("kept")
    return ClaimedAttempt(
        workflow,
        TaskAttempt(**values),
        claim,
        None if kept is None else json.loads(kept),
    )
