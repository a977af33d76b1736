"""Tasks: listed, shown with their attempts, changes and logs."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import Response

from accordance.server.authentication import Anyone, Reader
from accordance.server.routing import router as new_router
from accordance.server.showing import ListedBy, paged, shown
from accordance.server.tenants import Caller
from accordance.service import attempt_files, attempt_logs, prompts, task_records
from accordance.service.task_access import seen_task_id, worked_task_id
from accordance.service.views.runs import PromptView
from accordance.service.views.stories import AttemptLogView, AttemptPatchView
from accordance.service.views.tasks import StandingView, TaskDetailView, TaskPageView

router = new_router("tasks")
Attempt = Annotated[int | None, Query(ge=1, le=1_000_000)]


def seen_task(caller: Anyone, task: str) -> str:
    """Return the id of a task that the caller may look at."""
    return seen_task_id(caller.project, caller.identity, task)


SeenTask = Annotated[str, Depends(seen_task)]


def must_work_on(caller: Caller, task: str) -> str:
    """Return the id of a task that the caller may work on. Raises NotAllowed."""
    return worked_task_id(caller.project, caller.identity, task)


@router.get("/tasks", response_model=TaskPageView)
def list_tasks(request: Request, caller: Reader, query: ListedBy) -> Response:
    """List tasks, by plan, in the plan's order."""
    return paged(request, task_records.list_tasks(caller.project, query))


@router.get("/tasks/{task}", response_model=TaskDetailView)
def show_task(request: Request, caller: Anyone, task: SeenTask) -> Response:
    """Show a task with its attempts, products, reviews, questions and history."""
    return shown(request, task_records.show_task(caller.project, task))


@router.get("/tasks/{task}/verdicts", response_model=StandingView)
def task_verdicts(request: Request, caller: Anyone, task: SeenTask) -> Response:
    """Show every verdict on a task, and where it stands."""
    return shown(request, task_records.standing_of(caller.project, task))


@router.get("/tasks/{task}/diff", response_model=AttemptPatchView)
def task_diff(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
    since_start: bool = False,
) -> Response:
    """Show the change that an attempt made."""
    patch = attempt_files.attempt_patch(
        caller.project, task, attempt, since_start=since_start
    )
    return shown(request, patch)


@router.get("/tasks/{task}/log", response_model=AttemptLogView)
def task_log(
    request: Request,
    caller: Anyone,
    task: SeenTask,
    attempt: Attempt = None,
    test: Annotated[str | None, Query(max_length=500)] = None,
) -> Response:
    """Show the end of what the executor, or a test, printed."""
    log = attempt_logs.attempt_log(caller.project, task, attempt, test=test)
    return shown(request, log)


@router.get("/tasks/{task}/prompt", response_model=PromptView)
def task_prompt(
    request: Request,
    caller: Reader,
    task: str,
    attempt: Attempt = None,
) -> Response:
    """Show the prompt that the executor of a task was given, word for word."""
    return shown(request, prompts.task_prompt(caller.project, task, attempt=attempt))
