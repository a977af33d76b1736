"""What the page of a task shows: checks, messages, reviews, tests, changed lines."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import Response

from accordance.server.authentication import Anyone, Reader
from accordance.server.downloading import downloaded
from accordance.server.routes.tasks import Attempt, SeenTask
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.service import (
    attempt_changes,
    attempt_tests,
    task_matrix,
    task_messages,
    task_reviews,
)
from accordance.service.attempt_changes import MOST_LINES, LineWindow
from accordance.service.attempt_tests import MOST_TESTS
from accordance.service.views.task_pages import (
    ChangeView,
    FullReviewListView,
    MatrixView,
    MessageListView,
    PatchLinesView,
    TestsView,
)

router = new_router("tasks")
_BYTES = {"content": {"application/octet-stream": {"schema": {"type": "string"}}}}
Offset = Annotated[int, Query(ge=0, le=10_000_000)]


@router.get("/tasks/{task}/matrix", response_model=MatrixView)
def matrix(request: Request, caller: Anyone, task: SeenTask) -> Response:
    """Show what became of every check in every attempt at a task."""
    return shown(request, task_matrix.task_matrix(caller.project, task))


@router.get("/tasks/{task}/messages", response_model=MessageListView)
def messages(
    request: Request,
    caller: Reader,
    task: str,
    attempt: Attempt = None,
) -> Response:
    """Show the messages about a task: raw, normalised, with repairs and violations."""
    view = task_messages.task_messages(caller.project, task, attempt)
    return shown(request, view)


@router.get(
    "/tasks/{task}/messages/raw", responses={200: _BYTES}, response_class=Response
)
def raw_message(
    caller: Reader,
    task: str,
    message: Annotated[str, Query(max_length=500)],
) -> Response:
    """Download a message about a task, byte for byte."""
    return downloaded(task_messages.raw_message(caller.project, task, message))


@router.get("/tasks/{task}/reviews", response_model=FullReviewListView)
def reviews(request: Request, caller: Anyone, task: SeenTask) -> Response:
    """Show the reviews of a task's product with every score, issue and suggestion."""
    return shown(request, task_reviews.task_reviews(caller.project, task))


@router.get("/plans/{plan}/reviews", response_model=FullReviewListView)
def reviews_of_plan(request: Request, caller: Reader, plan: str) -> Response:
    """Show the reviews of a plan as a whole."""
    return shown(request, task_reviews.plan_reviews(caller.project, plan))


@router.get("/tasks/{task}/tests", response_model=TestsView)
def compared_tests(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_TESTS)] = MOST_TESTS,
) -> Response:
    """Show the tests of an attempt by name, before the change and after it."""
    view = attempt_tests.attempt_tests(
        caller.project,
        task,
        attempt,
        offset=offset,
        limit=limit,
    )
    return shown(request, view)


@router.get("/tasks/{task}/diff/files", response_model=ChangeView)
def changed_files(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
    since_start: bool = False,
) -> Response:
    """Show the files of a change: how much changed, and what was not permitted."""
    view = attempt_changes.attempt_change(
        caller.project, task, attempt, since_start=since_start
    )
    return shown(request, view)


def line_window(
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LINES)] = MOST_LINES,
) -> LineWindow:
    """Return which lines are wanted."""
    return LineWindow(offset, limit)


@router.get("/tasks/{task}/diff/lines", response_model=PatchLinesView)
def changed_lines(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    path: Annotated[str, Query(max_length=4096)],
    attempt: Attempt = None,
    since_start: bool = False,
    *,
    window: Annotated[LineWindow, Depends(line_window)],
) -> Response:
    """Show some lines of a changed file, and which new lines no test ran."""
    view = attempt_changes.change_lines(
        caller.project,
        task,
        path,
        attempt,
        since_start=since_start,
        window=window,
    )
    return shown(request, view)
