"""Research: runs that are kept, and whether answers have collapsed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from accordance.server.authentication import Reader
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service.research import ledger_runs, pictures
from accordance.service.views.research import (
    CollapseListView,
    HandoffChainView,
    ResearchRunListView,
    TrendListView,
    TScorePlotListView,
)

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


@router.get("/research/t-scores", response_model=TScorePlotListView)
def t_scores(
    request: Request,
    caller: Reader,
    agent: Agent = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Show the options of kept answers by how typical they are, to be plotted."""
    return shown(request, pictures.t_score_plots(caller.project, agent, limit))


@router.get("/research/trends", response_model=TrendListView)
def trends(request: Request, caller: Reader, agent: Agent = None) -> Response:
    """Show how varied the answers to the same request are, run by run."""
    return shown(request, pictures.collapse_trends(caller.project, agent))


@router.get("/plans/{plan}/handoffs", response_model=HandoffChainView)
def handoffs(request: Request, caller: Reader, plan: str) -> Response:
    """Show who of a plan's research agents goes on after whom."""
    return shown(request, pictures.handoff_chain(caller.project, plan))
