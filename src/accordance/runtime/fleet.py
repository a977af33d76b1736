"""The workers of a ledger, as any process sees them: who is alive, and with what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Engine, text

from accordance.domain.capabilities import Capabilities, capabilities_from
from accordance.errors import Conflict, NotFound
from accordance.runtime.workers import DEAD_AFTER_SECONDS
from accordance.store.failures import translated
from accordance.store.looking import looking

_WORKERS: Final = text(
    "SELECT executor_id, version, queues, about,"
    " extract(epoch FROM now() - started_at) AS age,"
    " extract(epoch FROM now() - beat_at) AS silence,"
    " drain_at IS NOT NULL AS drains,"
    " (SELECT count(*) FROM attempt_queue WHERE worker = executor_id"
    "  AND state = 'RUNNING') AS running"
    " FROM accordance_workers ORDER BY started_at, executor_id"
)
_ATTEMPTS: Final = text(
    "SELECT task_id, kind, number, queue,"
    " extract(epoch FROM clock_timestamp()) - begun_at AS seconds"
    " FROM attempt_queue WHERE worker = :worker_id AND state = 'RUNNING'"
    " ORDER BY begun_at, task_id"
)
_LINES: Final = text(
    "SELECT version, queue, count(*) FILTER (WHERE state = 'QUEUED') AS queued,"
    " count(*) FILTER (WHERE state = 'RUNNING') AS running"
    " FROM attempt_queue GROUP BY version, queue ORDER BY version, queue"
)
_DRAIN: Final = text(
    "UPDATE accordance_workers SET drain_at = coalesce(drain_at, now())"
    " WHERE executor_id = :worker_id"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetWorker:
    """A worker, by its last heartbeat."""

    worker_id: str
    version: str  # of the engine: attempts of other versions are not its own
    queues: tuple[str, ...] | None  # None: it does not say
    can: Capabilities
    age_seconds: float
    silence_seconds: float  # since its last heartbeat
    drains: bool
    running: int

    @property
    def is_alive(self) -> bool:
        """Whether its heart has beaten lately."""
        return self.silence_seconds <= DEAD_AFTER_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningAttempt:
    """An attempt that a worker carries out now."""

    task_id: str
    kind: str
    number: int
    queue: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The attempts of a queue that one version of the engine has to carry out."""

    version: str
    queue: str
    queued: int
    running: int
    is_served: bool  # by a living worker of that version that takes up more


def fleet_workers(engine: Engine) -> list[FleetWorker]:
    """Return the workers, those that started first before the others."""
    with looking(engine) as connection:
        return _workers(connection)


def _workers(connection: Connection) -> list[FleetWorker]:
    return [_worker(row) for row in connection.execute(_WORKERS).mappings()]


def _worker(row: Mapping[Any, Any]) -> FleetWorker:
    queues = row["queues"]
    about = row["about"]
    return FleetWorker(
        worker_id=row["executor_id"],
        version=row["version"],
        queues=None if queues is None else tuple(json.loads(queues)),
        can=capabilities_from(json.loads(about)) if about else Capabilities(),
        age_seconds=float(row["age"]),
        silence_seconds=float(row["silence"]),
        drains=row["drains"],
        running=row["running"],
    )


def fleet_lines(engine: Engine) -> list[Line]:
    """Return what is queued and in work, by version and queue."""
    with looking(engine) as connection:
        workers = _workers(connection)
        rows = connection.execute(_LINES).all()
    return [
        Line(
            version=version,
            queue=queue,
            queued=queued,
            running=running,
            is_served=any(_serves(worker, version, queue) for worker in workers),
        )
        for version, queue, queued, running in rows
    ]


def _serves(worker: FleetWorker, version: str, queue: str) -> bool:
    if not worker.is_alive or worker.drains or worker.version != version:
        return False
    return worker.queues is None or queue in worker.queues


def fleet_worker(engine: Engine, name: str) -> FleetWorker:
    """Return a worker by its name, or by a beginning that no other has.

    Raises NotFound or Conflict.
    """
    workers = {worker.worker_id: worker for worker in fleet_workers(engine)}
    if name in workers:
        return workers[name]
    matching = [worker_id for worker_id in workers if worker_id.startswith(name)]
    if name and len(matching) == 1:
        return workers[matching[0]]
    if name and matching:
        raise Conflict(f"{name!r} may be {' or '.join(matching[:3])}: write more of it")
    raise NotFound("worker", name, workers)


def attempts_of(engine: Engine, worker_id: str) -> list[RunningAttempt]:
    """Return what a worker carries out now."""
    with looking(engine) as connection:
        rows = connection.execute(_ATTEMPTS, {"worker_id": worker_id}).mappings()
        return [
            RunningAttempt(
                task_id=row["task_id"],
                kind=row["kind"],
                number=row["number"],
                queue=row["queue"],
                seconds=float(row["seconds"]),
            )
            for row in rows
        ]


def ask_to_drain(engine: Engine, name: str) -> FleetWorker:
    """Ask a worker to take up nothing more and to end. Raises NotFound or Conflict."""
    worker = fleet_worker(engine, name)
    if not worker.is_alive:
        raise Conflict(
            f"worker {worker.worker_id} has not been heard of for"
            f" {worker.silence_seconds:.0f} s: it is dead, and others take over its work"
        )
    with translated(engine), engine.begin() as connection:
        connection.execute(_DRAIN, {"worker_id": worker.worker_id})
    return worker
