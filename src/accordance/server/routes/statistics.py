"""Statistics of a project, and who works on it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from accordance.server.authentication import Reader
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service import statistics, workers
from accordance.service.views.statistics import StatisticsView
from accordance.service.views.workers import FleetView

router = new_router("statistics")


@router.get("/statistics", response_model=StatisticsView)
def show_statistics(
    request: Request,
    caller: Reader,
    plan: Annotated[str | None, Query(max_length=500)] = None,
) -> Response:
    """Show failures by agent, model and field; verdicts; cost; times."""
    return shown(request, statistics.statistics_of(caller.project, plan))


@router.get("/workers", response_model=FleetView)
def list_workers(request: Request, caller: Reader) -> Response:
    """List the workers that share the ledger."""
    return shown(request, workers.list_workers(caller.project))
