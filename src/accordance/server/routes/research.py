"""Research: runs that are kept, and whether answers have collapsed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from accordance.server.authentication import Reader
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service.research import ledger_runs
from accordance.service.views.research import CollapseListView, ResearchRunListView

router = new_router("research")
Agent = Annotated[str | None, Query(max_length=200)]


@router.get("/research/runs", response_model=ResearchRunListView)
def list_runs(
    request: Request,
    caller: Reader,
    agent: Agent = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """List the answers of research agents that the ledger keeps."""
    return shown(request, ledger_runs.list_runs(caller.project, agent, limit))


@router.get("/research/collapse", response_model=CollapseListView)
def collapse(request: Request, caller: Reader, agent: Agent = None) -> Response:
    """Find agents that always give the same answer to the same request."""
    return shown(request, ledger_runs.collapse_view(caller.project, agent))
