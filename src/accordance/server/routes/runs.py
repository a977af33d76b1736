"""Runs: plans that this server carries out in its own process."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request
from starlette.responses import Response

from accordance.server.authentication import Reader, Starter
from accordance.server.problems import ServerStopping
from accordance.server.requests import RunWanted
from accordance.server.routing import ACT
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.server.state import state_of
from accordance.service.views.hosted_runs import HostedRunListView, HostedRunView

router = new_router("runs")


@router.get("/runs", response_model=HostedRunListView)
def list_runs(request: Request, caller: Reader) -> Response:
    """List the runs of this server process, the newest first."""
    return shown(request, state_of(request).runs.list(caller.project))


@router.post(
    "/runs",
    response_model=HostedRunView,
    status_code=HTTPStatus.ACCEPTED,
    responses=ACT,
)
def start_run(request: Request, caller: Starter, body: RunWanted) -> Response:
    """Carry a plan out; without a name, the newest. Follow it with /v1/events/stream."""
    state = state_of(request)
    if state.stopping.is_set():
        raise ServerStopping("the server is about to end")
    run = state.runs.ask(caller.project, body.plan, by=caller.name)
    return shown(request, run, status=HTTPStatus.ACCEPTED)


@router.get("/runs/{run}", response_model=HostedRunView)
def show_run(request: Request, caller: Reader, run: str) -> Response:
    """Show a run: whether it goes on, and the attempts that have ended last."""
    return shown(request, state_of(request).runs.show(caller.project, run))


@router.post("/runs/{run}/stop", response_model=HostedRunView, responses=ACT)
def stop_run(request: Request, caller: Starter, run: str) -> Response:
    """Stop a run; what is under way is ended or handed back."""
    return shown(request, state_of(request).runs.stop_run(caller.project, run))
