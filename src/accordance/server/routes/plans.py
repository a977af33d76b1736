"""Plans: listed, shown, drawn, exported."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from starlette.responses import Response

from accordance.server.authentication import Reader
from accordance.server.downloading import downloaded
from accordance.server.routing import router as new_router
from accordance.server.showing import ListedBy, paged, shown
from accordance.service import courses, downloads, events, plan_summaries, plans
from accordance.service.linting import lint_stored
from accordance.service.pages import plan_export
from accordance.service.project import plan_id_of
from accordance.service.views.courses import ReasonListView, TimelineView
from accordance.service.views.events import EventPageView
from accordance.service.views.linting import LintView
from accordance.service.views.plans import (
    PlanDetailView,
    PlanPageView,
    PlanStatusView,
)
from accordance.service.views.verdicts import VerdictListView

router = new_router("plans")
_FILE = {"content": {"application/zip": {"schema": {"type": "string"}}}}
_PAGE = {"content": {"text/html": {"schema": {"type": "string"}}}}
_TEXT = {"content": {"text/markdown": {"schema": {"type": "string"}}}}
_DOCUMENT = {"content": {"application/json": {"schema": {"type": "object"}}}}


@router.get("/plans", response_model=PlanPageView)
def list_plans(request: Request, caller: Reader, query: ListedBy) -> Response:
    """List plans, the newest first. Archived ones are left out."""
    page = plans.list_plans(caller.project, query, with_counts=True)
    return paged(request, page)


@router.get("/plans/{plan}", response_model=PlanDetailView)
def show_plan(request: Request, caller: Reader, plan: str) -> Response:
    """Show a plan: by its id, its title or the beginning of them."""
    return shown(request, plans.show_plan(caller.project, plan))


@router.get("/plans/{plan}/status", response_model=PlanStatusView)
def plan_status(request: Request, caller: Reader, plan: str) -> Response:
    """Show where a plan stands."""
    project = caller.project
    plan_id = plan_id_of(project, plan)
    return shown(request, plans.plan_status(project.ledger, plan_id, project.home))


@router.get(
    "/plans/{plan}/document", responses={200: _DOCUMENT}, response_class=Response
)
def plan_document(request: Request, caller: Reader, plan: str) -> Response:
    """Return the plan itself, as plan_json_v1. Its ETag goes into If-Match of amends."""
    stored = plans.plan_document(caller.project, plan)
    tag = revision_tag(stored.revision)
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(stored.document, 200, {"ETag": tag}, "application/json")


def revision_tag(revision: int) -> str:
    """Return the ETag of a revision of a plan."""
    return f'"revision-{revision}"'


@router.get("/plans/{plan}/summary.md", responses={200: _TEXT}, response_class=Response)
def plan_summary(caller: Reader, plan: str) -> Response:
    """Tell on a page what a plan has come to."""
    from accordance.rendering.plan_summaries import summary_markdown

    project = caller.project
    summary = plan_summaries.summary_of(project, plan_id_of(project, plan))
    return Response(summary_markdown(summary), media_type="text/markdown")


@router.get("/plans/{plan}/lint", response_model=LintView)
def plan_lint(request: Request, caller: Reader, plan: str) -> Response:
    """Tell what will never begin, who does nothing, and what it costs at most."""
    return shown(request, lint_stored(caller.project, plan))


@router.get("/plans/{plan}/verdicts", response_model=VerdictListView)
def plan_verdicts(request: Request, caller: Reader, plan: str) -> Response:
    """List every verdict in a plan, the newest last."""
    return shown(request, plans.plan_verdicts(caller.project, plan))


@router.get("/plans/{plan}/timeline", response_model=TimelineView)
def plan_timeline(request: Request, caller: Reader, plan: str) -> Response:
    """Show the attempts of a plan in time: when each began, ended, and how."""
    return shown(request, courses.timeline_of(caller.project, plan))


@router.get("/plans/{plan}/reasons", response_model=ReasonListView)
def plan_reasons(request: Request, caller: Reader, plan: str) -> Response:
    """Count the verdicts of a plan by reason."""
    return shown(request, courses.reasons_of(caller.project, plan))


@router.get("/plans/{plan}/events", response_model=EventPageView)
def plan_events(
    request: Request,
    caller: Reader,
    plan: str,
    query: ListedBy,
    after: Annotated[int, Query(ge=0, le=2**63 - 1)] = 0,
) -> Response:
    """List what happened in a plan."""
    plan_id = plan_id_of(caller.project, plan)
    return paged(request, events.events_of_plan(caller.project, plan_id, query, after))


@router.get(
    "/plans/{plan}/export.html", responses={200: _PAGE}, response_class=Response
)
def export_page(caller: Reader, plan: str) -> Response:
    """Return a run as a page that opens from disk."""
    return downloaded(plan_export.plan_page(caller.project, plan))


@router.get("/plans/{plan}/export", responses={200: _FILE}, response_class=Response)
def export_plan(caller: Reader, plan: str, candidates: bool = False) -> Response:
    """Return the approved products, the plan and a manifest as a ZIP archive."""
    return downloaded(
        downloads.plan_archive(caller.project, plan, candidates=candidates)
    )
