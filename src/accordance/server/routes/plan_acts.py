"""What people do with plans: import, approve, return, amend, pause, cancel, archive."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import Depends, Query, Request
from starlette.responses import Response

from accordance.errors import PlanChanged
from accordance.server.authentication import Planner, Worker
from accordance.server.problems import StaleView
from accordance.server.requests import Note, Reason, Reasons
from accordance.server.routes.plans import revision_tag
from accordance.server.routing import ACT, raw_body, reads
from accordance.server.routing import router as new_router
from accordance.server.showing import must_match, shown
from accordance.server.tenants import Caller
from accordance.service import plan_amending, plan_intake, plan_life
from accordance.service.plan_files import PlanFile, read_plan_file
from accordance.service.plan_intake import accepted_plan
from accordance.service.tasks import MessageRefused
from accordance.service.views.amendments import AmendmentView
from accordance.service.views.answers import AnswerView
from accordance.service.views.plans import ImportedPlanView, PlanPreviewView, PlanView

router = new_router("plans")
Format = Literal["json", "yaml", "toml", "md"]
_PLAN = reads(
    "application/json",
    "application/yaml",
    "application/toml",
    "text/markdown",
    "text/plain",
    "application/octet-stream",
)
_FORMATS = {
    "application/yaml": "yaml",
    "application/toml": "toml",
    "text/markdown": "md",
}
Raw = Annotated[bytes, Depends(raw_body)]


def _file(
    request: Request,
    caller: Caller,
    raw: bytes,
    stated: Format | None,
) -> PlanFile:
    """Read the plan in a body: in the stated format, else by the type of the body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    form: Any = stated or _FORMATS.get(kind, "json")
    return read_plan_file("the plan", raw, caller.project.home, form)


@router.post(
    "/plans",
    response_model=ImportedPlanView,
    status_code=HTTPStatus.CREATED,
    responses={**ACT, 200: {"model": ImportedPlanView, "description": "As before."}},
    openapi_extra=_PLAN,
)
def import_plan(
    request: Request,
    caller: Planner,
    raw: Raw,
    format: Annotated[Format | None, Query()] = None,  # noqa: A002
    review: bool = True,
) -> Response:
    """Import a plan, which is the body. The same plan again changes nothing.

    With `review=false` it begins unreviewed, in your name.
    """
    project = caller.project
    file = _file(request, caller, raw, format)
    accepted = accepted_plan(file.result)
    rules = plan_intake.rules_for(project.home, {})
    waived_by = None if review else caller.name
    view = plan_intake.import_plan(
        project, file.raw, accepted, rules, waived_by=waived_by
    )
    status = HTTPStatus.CREATED if view.is_new else HTTPStatus.OK
    headers = (
        {"Location": f"/v1/plans/{view.plan_id}"} if _is_plain(view.plan_id) else {}
    )
    return shown(request, view, status=status, headers=headers)


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isprintable() and not set(name) & set('/?#% "<>')


@router.post(
    "/plans/preview",
    response_model=PlanPreviewView,
    responses=ACT,
    openapi_extra=_PLAN,
)
def preview_plan(
    request: Request,
    caller: Planner,
    raw: Raw,
    format: Annotated[Format | None, Query()] = None,  # noqa: A002
) -> Response:
    """Check a plan and show what could begin. Nothing is kept."""
    file = _file(request, caller, raw, format)
    accepted = accepted_plan(file.result)
    return shown(request, plan_intake.preview_import(accepted))


@router.post(
    "/plans/{plan}/review",
    response_model=AnswerView,
    responses=ACT,
    openapi_extra=reads("application/json"),
)
def review_plan(request: Request, caller: Worker, plan: str, raw: Raw) -> Response:
    """Hand in an agent's review of a plan, which is the body."""
    answer = plan_intake.review_plan(caller.project, raw, plan)
    return answered(request, answer)


def answered(request: Request, answer: AnswerView) -> Response:
    """Return what came of a message; a refused message is a problem."""
    if answer.status == "refused":
        raise MessageRefused(answer.why or "the message was refused")
    return shown(request, answer)


@router.post("/plans/{plan}/approve", response_model=PlanView, responses=ACT)
def approve(request: Request, caller: Planner, plan: str, body: Note) -> Response:
    """Let a plan begin that waits for its review."""
    view = plan_life.approve_plan(caller.project, plan, by=caller.name, note=body.note)
    return shown(request, view)


@router.post("/plans/{plan}/return", response_model=PlanView, responses=ACT)
def return_(request: Request, caller: Planner, plan: str, body: Reasons) -> Response:
    """Return a plan, so that a better plan is imported."""
    view = plan_life.return_plan(
        caller.project,
        plan,
        by=caller.name,
        reasons=body.reasons,
    )
    return shown(request, view)


@router.post("/plans/{plan}/pause", response_model=PlanView, responses=ACT)
def pause(request: Request, caller: Planner, plan: str, body: Reason) -> Response:
    """Let nothing new begin in a plan."""
    return _with_reason(request, caller, plan, body, plan_life.pause_plan)


@router.post("/plans/{plan}/cancel", response_model=PlanView, responses=ACT)
def cancel(request: Request, caller: Planner, plan: str, body: Reason) -> Response:
    """Abandon everything in a plan that is not done."""
    return _with_reason(request, caller, plan, body, plan_life.cancel_plan)


@router.post("/plans/{plan}/resume", response_model=PlanView, responses=ACT)
def resume(request: Request, caller: Planner, plan: str) -> Response:
    """Let a plan go on that was paused, or whose fuse has blown."""
    return shown(request, plan_life.resume_plan(caller.project, plan, by=caller.name))


@router.post("/plans/{plan}/archive", response_model=PlanView, responses=ACT)
def archive(request: Request, caller: Planner, plan: str) -> Response:
    """Put a plan that is over out of sight."""
    return shown(request, plan_life.archive_plan(caller.project, plan, by=caller.name))


@router.post("/plans/{plan}/unarchive", response_model=PlanView, responses=ACT)
def unarchive(request: Request, caller: Planner, plan: str) -> Response:
    """Take a plan out of the archive."""
    return shown(
        request, plan_life.unarchive_plan(caller.project, plan, by=caller.name)
    )


def _with_reason(
    request: Request,
    caller: Caller,
    plan: str,
    body: Reason,
    act: Callable[..., PlanView],
) -> Response:
    view = act(caller.project, plan, by=caller.name, reason=body.reason)
    return shown(request, view)


@router.post(
    "/plans/{plan}/amend",
    response_model=AmendmentView,
    responses=ACT,
    openapi_extra=_PLAN,
)
def amend(  # noqa: PLR0917 - FastAPI's parameters
    request: Request,
    caller: Planner,
    plan: str,
    raw: Raw,
    format: Annotated[Format | None, Query()] = None,  # noqa: A002
    dry_run: bool = False,
    note: Annotated[str | None, Query(max_length=2000)] = None,
) -> Response:
    """Amend a plan: the body is the whole plan as it should become.

    Send the ETag of its document as If-Match: an amendment of another revision is
    refused.
    """
    project = caller.project
    file = _file(request, caller, raw, format)
    accepted_plan(file.result)
    text = plan_amending.amended_text(project, plan, file)
    must_match(request, revision_tag(text.base))
    checked = plan_amending.check_amendment(project, text, {})
    amendment = plan_amending.accepted_amendment(checked)
    if dry_run:
        return shown(request, plan_amending.preview_amendment(project, amendment))
    try:
        view = plan_amending.amend_plan(project, amendment, by=caller.name, note=note)
    except PlanChanged as error:
        if "if-match" in request.headers:
            raise StaleView(error.text, way_out=error.way_out) from error
        raise
    return shown(request, view)
