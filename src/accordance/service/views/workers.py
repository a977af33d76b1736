"""The workers of a shared ledger."""

from __future__ import annotations

from accordance.runtime.fleet import FleetWorker, Line, RunningAttempt
from accordance.service.views.base import View


class WorkerView(View):
    """A worker, by its last heartbeat."""

    worker_id: str
    state: str  # alive, draining or dead
    version: str  # of the engine: it carries out attempts of this version only
    release: str  # of accordance; empty: it does not say
    host: str
    pid: int
    age_seconds: float
    silence_seconds: float  # since its last heartbeat
    running: int  # attempts
    concurrency: int | None  # None: as its executors allow
    labels: tuple[str, ...]
    isolation: str
    memory_mb: int | None
    queues: tuple[str, ...] | None  # None: it does not say, and may have any
    lacking: dict[str, str]  # by executor that cannot start there: why not


class LineView(View):
    """The attempts of a queue that one version of the engine has to carry out."""

    version: str
    queue: str
    queued: int
    running: int
    is_served: bool  # by a living worker of that version that takes up more


class RunningAttemptView(View):
    """An attempt that a worker carries out now."""

    task_id: str
    kind: str
    attempt: int
    queue: str
    seconds: float


class FleetView(View):
    """All workers, and what waits for them."""

    workers: tuple[WorkerView, ...]
    lines: tuple[LineView, ...]


class WorkerDetailView(WorkerView):
    """A worker, and what it does now."""

    attempts: tuple[RunningAttemptView, ...]


def worker_view(worker: FleetWorker) -> WorkerView:
    """Show a worker."""
    can = worker.can
    return WorkerView(
        worker_id=worker.worker_id,
        state=_state(worker),
        version=worker.version,
        release=can.release,
        host=can.host,
        pid=can.pid,
        age_seconds=round(worker.age_seconds, 1),
        silence_seconds=round(worker.silence_seconds, 1),
        running=worker.running,
        concurrency=can.concurrency,
        labels=can.labels,
        isolation=can.isolation,
        memory_mb=can.memory_mb,
        queues=worker.queues,
        lacking=dict(can.lacking),
    )


def _state(worker: FleetWorker) -> str:
    if not worker.is_alive:
        return "dead"
    return "draining" if worker.drains else "alive"


def line_view(line: Line) -> LineView:
    """Show what waits in a queue."""
    return LineView(
        version=line.version,
        queue=line.queue,
        queued=line.queued,
        running=line.running,
        is_served=line.is_served,
    )


def worker_detail_view(
    worker: FleetWorker, attempts: list[RunningAttempt]
) -> WorkerDetailView:
    """Show a worker and its attempts."""
    return WorkerDetailView(
        **dict(worker_view(worker)),
        attempts=tuple(
            RunningAttemptView(
                task_id=attempt.task_id,
                kind=attempt.kind,
                attempt=attempt.number,
                queue=attempt.queue,
                seconds=round(attempt.seconds, 1),
            )
            for attempt in attempts
        ),
    )
