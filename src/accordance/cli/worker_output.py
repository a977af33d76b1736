"""Workers for people: a line for each, and what waits for a worker that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accordance.cli.showing import print_line
from accordance.rendering.amounts import counted
from accordance.rendering.durations import duration_text

if TYPE_CHECKING:
    from accordance.service.views.workers import (
        FleetView,
        LineView,
        WorkerDetailView,
        WorkerView,
    )


def print_fleet(fleet: FleetView) -> None:
    """Print the workers, and the queues without a worker."""
    if not fleet.workers:
        print_line("no worker has a heartbeat here")
    for worker in fleet.workers:
        print_line(_line_of(worker))
    for line in fleet.lines:
        if not line.is_served:
            print_line(_waiting(line))


def _line_of(worker: WorkerView) -> str:
    since = f"for {duration_text(worker.age_seconds)}"
    if worker.state == "dead":
        since = f"silent for {duration_text(worker.silence_seconds)}"
    parts = [
        worker.worker_id,
        worker.state,
        since,
        f"runs {worker.running}",
        f"engine {worker.version}",
        f"isolation {worker.isolation}",
    ]
    if worker.labels:
        parts.append(f"labels {', '.join(worker.labels)}")
    if worker.lacking:
        parts.append(f"cannot start {', '.join(worker.lacking)}")
    return "  ".join(parts)


def _waiting(line: LineView) -> str:
    attempts = counted(line.queued + line.running, "attempt")
    return (
        f"{attempts} of {line.queue} wait for a worker of engine version"
        f" {line.version} that serves it; none is alive"
    )


def print_worker(worker: WorkerDetailView) -> None:
    """Print everything that is known of a worker."""
    print_line(_line_of(worker))
    release = worker.release or "a release that does not say"
    print_line(
        f"accordance {release} on {worker.host or 'an unknown host'}, pid {worker.pid}"
    )
    if worker.memory_mb is not None:
        print_line(f"memory {worker.memory_mb:,} MB")
    queues = "any" if worker.queues is None else ", ".join(worker.queues) or "none"
    print_line(f"queues {queues}")
    for executor, reason in worker.lacking.items():
        print_line(f"cannot start {executor}: {reason}")
    for attempt in worker.attempts:
        subject = f"{attempt.task_id}  {attempt.kind} {attempt.attempt}"
        time = duration_text(attempt.seconds)
        print_line(f"  {subject}  {attempt.queue}  for {time}")
