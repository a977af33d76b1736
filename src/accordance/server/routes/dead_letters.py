"""Dead letters: what was given up, and what a person makes of it."""

from __future__ import annotations

from typing import Final

from fastapi import Request
from starlette.responses import Response

from accordance.server.authentication import Decider, Reader
from accordance.server.problems import InvalidRequest
from accordance.server.requests import Cancel, Reason, Requeue
from accordance.server.routing import ACT
from accordance.server.routing import router as new_router
from accordance.server.showing import ListedBy, paged, shown
from accordance.service import bulk, courses, dead_letters
from accordance.service.views.bulk import BulkPreviewView, BulkResultView
from accordance.service.views.courses import DeadLetterGroupListView
from accordance.service.views.dead_letters import (
    CancelledTaskView,
    DeadLetterPageView,
    MovedTaskView,
)

router = new_router("dead letters")
_LONGEST_SECONDS: Final = 60.0


@router.get("/dead-letters", response_model=DeadLetterPageView)
def list_dead_letters(request: Request, caller: Reader, query: ListedBy) -> Response:
    """List what was given up, each task with the reason."""
    return paged(request, dead_letters.list_dead_letters(caller.project, query))


@router.get("/dead-letters/groups", response_model=DeadLetterGroupListView)
def groups(request: Request, caller: Reader, query: ListedBy) -> Response:
    """Group all dead letters of a filter by reason. Items go into `requeue`."""
    return shown(request, courses.dead_letter_groups(caller.project, query))


@router.get("/dead-letters/preview", response_model=BulkPreviewView)
def preview(request: Request, caller: Reader, query: ListedBy) -> Response:
    """List all dead letters of a filter, to be requeued together."""
    return shown(request, bulk.preview_dead_letters(caller.project, query))


@router.post("/dead-letters/requeue", response_model=BulkResultView, responses=ACT)
def requeue_all(request: Request, caller: Decider, body: Requeue) -> Response:
    """Take back the dead letters of a preview, at a rate. Those that changed stay."""
    if body.per_second and len(body.items) / body.per_second > _LONGEST_SECONDS:
        raise InvalidRequest(
            f"{len(body.items)} items at that rate take longer than a minute",
            way_out="send fewer at a time",
        )
    result = bulk.requeue_all(
        caller.project,
        body.preview,
        by=caller.name,
        reason=body.reason,
        per_second=body.per_second,
    )
    return shown(request, result)


@router.post(
    "/dead-letters/{task}/requeue", response_model=MovedTaskView, responses=ACT
)
def requeue(request: Request, caller: Decider, task: str, body: Reason) -> Response:
    """Take a task out of the dead letters."""
    moved = dead_letters.requeue(
        caller.project,
        task,
        by=caller.name,
        reason=body.reason,
    )
    return shown(request, moved)


@router.post(
    "/dead-letters/{task}/drop", response_model=CancelledTaskView, responses=ACT
)
def drop(request: Request, caller: Decider, task: str, body: Cancel) -> Response:
    """Accept that a dead letter will not be done."""
    dropped = dead_letters.drop(
        caller.project,
        task,
        by=caller.name,
        excuse=body.excuse,
        cascade=body.cascade,
        reason=body.reason,
    )
    return shown(request, dropped)
