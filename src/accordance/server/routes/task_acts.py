"""Work on tasks: taken up, handed in, reviewed; and what people decide about them."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from starlette.responses import Response

from accordance.domain.access import Right
from accordance.server.authentication import Decider, Reader, Worker
from accordance.server.requests import (
    BulkAct,
    Cancel,
    Heartbeat,
    Question,
    Reason,
    Release,
    Work,
)
from accordance.server.routes.plan_acts import answered
from accordance.server.routes.tasks import must_work_on
from accordance.server.routing import ACT, raw_body, reads
from accordance.server.routing import router as new_router
from accordance.server.showing import ListedBy, shown
from accordance.server.tenants import Caller
from accordance.service import bulk, tasks
from accordance.service.project import plan_id_of
from accordance.service.tasks import LEASE_SECONDS, Assigned, WorkRequest
from accordance.service.views.answers import AnswerView
from accordance.service.views.bulk import BulkPreviewView, BulkResultView
from accordance.service.views.dead_letters import CancelledTaskView
from accordance.service.views.leases import LeaseView
from accordance.service.views.tasks import AssignmentView, NothingView, TaskView

router = new_router("tasks")
Raw = Annotated[bytes, Depends(raw_body)]
AttemptNumber = Annotated[int | None, Query(ge=1, le=1_000_000)]
_MESSAGE = reads("application/json", "text/plain", "application/octet-stream")
_MAYBE_MESSAGE = {
    "requestBody": {**_MESSAGE["requestBody"], "required": False},
}


@router.post("/tasks/next", response_model=AssignmentView | NothingView, responses=ACT)
def take_task(request: Request, caller: Worker, body: Work) -> Response:
    """Take up a task, or learn why there is none (`task` is null then).

    A task that you hold and do not list in `known` is given to you again.
    """
    project = caller.project
    identity = caller.identity
    wanted = WorkRequest(
        holder=caller.name,
        plan_id=plan_id_of(project, body.plan) if body.plan else None,
        kinds=tuple(body.kinds),
        seconds=body.seconds or LEASE_SECONDS,
        any_task=body.any_task,
        known=body.known if body.resume else None,
        only=identity.tasks,
    )
    assigned = tasks.take_task(project, wanted)
    if isinstance(assigned, Assigned):
        return shown(request, assigned.view)
    held = tasks.held_tasks(project, caller.name)
    yours = tuple(
        taken.task.task_id
        for taken in held
        if not identity.is_bound_elsewhere(taken.task.task_id, taken.task.plan_id)
    )
    return shown(request, assigned.model_copy(update={"yours": yours}))


@router.post("/tasks/{task}/heartbeat", response_model=LeaseView, responses=ACT)
def heartbeat(request: Request, caller: Worker, task: str, body: Heartbeat) -> Response:
    """Keep a task for longer."""
    lease = tasks.extend(
        caller.project,
        must_work_on(caller, task),
        attempt=body.attempt,
        seconds=body.seconds or LEASE_SECONDS,
        holder=caller.name,
    )
    return shown(request, lease)


@router.post("/tasks/{task}/release", response_model=TaskView, responses=ACT)
def release(request: Request, caller: Worker, task: str, body: Release) -> Response:
    """Put a task down again. That is no failure."""
    released = tasks.release(
        caller.project,
        must_work_on(caller, task),
        by=caller.name,
        attempt=body.attempt,
        holder=caller.name,
    )
    return shown(request, released)


@router.post(
    "/tasks/{task}/submit",
    response_model=AnswerView,
    responses=ACT,
    openapi_extra=_MAYBE_MESSAGE,
)
def submit(
    request: Request,
    caller: Worker,
    task: str,
    raw: Raw,
    attempt: AttemptNumber = None,
    any_holder: bool = False,
) -> Response:
    """Hand in the message for a task, which is the body.

    Without a body the change in the clone that was lent is judged. The task must be
    yours, unless you may decide about tasks and say `any_holder`.
    """
    message = raw or None
    caller.identity.must_hand_in(tasks.contract_of_message(message))
    answer = tasks.submit(
        caller.project,
        message,
        task_id=task,
        attempt=attempt,
        holder=_holder(caller, any_holder=any_holder),
        worker=caller.identity,
    )
    return answered(request, answer)


@router.post(
    "/tasks/{task}/review",
    response_model=AnswerView,
    responses=ACT,
    openapi_extra=_MESSAGE,
)
def review(
    request: Request,
    caller: Worker,
    task: str,
    raw: Raw,
    artifact: Annotated[str | None, Query(min_length=8, max_length=64)] = None,
    attempt: AttemptNumber = None,
) -> Response:
    """Hand in a review of a task's product, which is the body."""
    caller.identity.must_hand_in(tasks.contract_of_message(raw))
    answer = tasks.review(
        caller.project,
        raw,
        task_id=must_work_on(caller, task),
        artifact=artifact,
        reviewer=caller.name,
        attempt=attempt,
    )
    return answered(request, answer)


@router.post("/tasks/{task}/ask", response_model=AnswerView, responses=ACT)
def ask(request: Request, caller: Worker, task: str, body: Question) -> Response:
    """Ask a person about a task that you hold; it waits for the answer."""
    taken = tasks.held_task(
        caller.project, must_work_on(caller, task), caller.name, body.attempt
    )
    answer = tasks.ask_person(caller.project, taken, body.question, holder=caller.name)
    return answered(request, answer)


def _holder(caller: Caller, *, any_holder: bool) -> str | None:
    if not any_holder:
        return caller.name
    caller.identity.must(Right.DECIDE)
    return None


# -- what people decide


@router.post("/tasks/{task}/retry", response_model=TaskView, responses=ACT)
def retry(request: Request, caller: Decider, task: str, body: Reason) -> Response:
    """Give a failed or blocked task another chance."""
    view = tasks.retry(caller.project, task, by=caller.name, reason=body.reason)
    return shown(request, view)


@router.post("/tasks/{task}/cancel", response_model=CancelledTaskView, responses=ACT)
def cancel(request: Request, caller: Decider, task: str, body: Cancel) -> Response:
    """Cancel a task, and what belongs only to it."""
    cancelled = tasks.cancel(
        caller.project,
        task,
        by=caller.name,
        excuse=body.excuse,
        cascade=body.cascade,
        reason=body.reason,
    )
    return shown(request, cancelled)


@router.get("/task-retries/preview", response_model=BulkPreviewView)
def preview_retries(request: Request, caller: Reader, query: ListedBy) -> Response:
    """List the tasks of a filter that can be tried again."""
    return shown(request, bulk.preview_retries(caller.project, query))


@router.post("/task-retries", response_model=BulkResultView, responses=ACT)
def retry_all(request: Request, caller: Decider, body: BulkAct) -> Response:
    """Give every task of a preview another chance; those that changed are left out."""
    result = bulk.retry_all(
        caller.project,
        body.preview,
        by=caller.name,
        reason=body.reason,
    )
    return shown(request, result)
