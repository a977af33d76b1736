"""Who works on the ledger of a project."""

from __future__ import annotations

import datetime as dt
from typing import Final

from sqlalchemy import select

from accordance.service.project import Project
from accordance.service.views.downloads import WorkerListView, WorkerView
from accordance.store.failures import translated
from accordance.store.sql import SqlLedger
from accordance.store.tables import WORKERS

_DEAD_AFTER_SECONDS: Final = 15.0


def list_workers(project: Project) -> WorkerListView:
    """Return the workers of a shared ledger. A process alone is not listed."""
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        return WorkerListView(items=())
    with translated(ledger.engine), ledger.engine.connect() as plain:
        connection = plain.execution_options(reading=True)
        rows = list(connection.execute(select(WORKERS).order_by(WORKERS.c.started_at)))
    moment = dt.datetime.now(dt.UTC)
    return WorkerListView(
        items=tuple(
            WorkerView(
                worker_id=row.executor_id,
                version=row.version,
                started_at=_text(row.started_at),
                beat_at=_text(row.beat_at),
                is_alive=_age(row.beat_at, moment) < _DEAD_AFTER_SECONDS,
            )
            for row in rows
        )
    )


def _aware(moment: dt.datetime) -> dt.datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _age(beat: dt.datetime, moment: dt.datetime) -> float:
    return (moment - _aware(beat)).total_seconds()


def _text(moment: dt.datetime) -> str:
    return _aware(moment).astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
