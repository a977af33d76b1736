"""The workers of a shared ledger: who is alive, with what, and letting one drain."""

from __future__ import annotations

from sqlalchemy import Engine

from accordance.runtime.fleet import (
    ask_to_drain,
    attempts_of,
    fleet_lines,
    fleet_worker,
    fleet_workers,
)
from accordance.service.project import Project
from accordance.service.runs import NotShared, must_be_shared
from accordance.service.views.workers import (
    FleetView,
    WorkerDetailView,
    WorkerView,
    line_view,
    worker_detail_view,
    worker_view,
)
from accordance.store.sql import SqlLedger


def list_workers(project: Project) -> FleetView:
    """Return all workers, and what waits for them. Raises NotShared."""
    engine = _engine(project)
    return FleetView(
        workers=tuple(worker_view(worker) for worker in fleet_workers(engine)),
        lines=tuple(line_view(line) for line in fleet_lines(engine)),
    )


def show_worker(project: Project, name: str) -> WorkerDetailView:
    """Return a worker and its attempts. Raises NotShared, NotFound or Conflict."""
    engine = _engine(project)
    worker = fleet_worker(engine, name)
    return worker_detail_view(worker, attempts_of(engine, worker.worker_id))


def drain_worker(project: Project, name: str) -> WorkerView:
    """Ask a worker to end. Raises NotShared, NotFound, or Conflict if it is dead."""
    engine = _engine(project)
    worker = ask_to_drain(engine, name)
    return worker_view(fleet_worker(engine, worker.worker_id))


def _engine(project: Project) -> Engine:
    must_be_shared(project)
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise NotShared("workers share a ledger in a database")
    return ledger.engine
