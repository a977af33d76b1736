"""Whether the server lives and is ready, its numbers, its own description."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from accordance._version import __version__
from accordance.domain.access import Right
from accordance.errors import LedgerUnavailable
from accordance.server.authentication import Anyone, authenticate
from accordance.server.error_pages import ErrorPageView, page_of
from accordance.server.problems import ServerStopping, documented
from accordance.server.routing import RepeatableRoute
from accordance.server.showing import shown
from accordance.server.state import state_of
from accordance.service import metrics
from accordance.service.views.keys import CallerView, caller_view
from accordance.service.views.server import LifeView, MetaView, ReadyView

router = APIRouter(
    tags=["server"],
    route_class=RepeatableRoute,
    responses=documented(),
)
_KEYED = documented(401, 403)


@router.get("/livez", response_model=LifeView)
async def livez(request: Request) -> Response:
    """Whether the process answers at all."""
    return shown(request, LifeView(status="alive"))


@router.get("/readyz", response_model=ReadyView)
def readyz(request: Request) -> Response:
    """Whether requests can be carried out: the ledgers answer, runs go on."""
    state = state_of(request)
    if state.stopping.is_set():
        raise ServerStopping("the server is about to end")
    for tenant in state.tenants.by_name.values():
        metrics.must_answer(tenant.project)
    if not state.runs.is_well:
        raise LedgerUnavailable("the thread that carries runs out has ended")
    return shown(
        request, ReadyView(status="ready", projects=len(state.tenants.by_name))
    )


@router.get("/metrics", response_class=PlainTextResponse, responses=_KEYED)
async def prometheus(request: Request) -> Response:
    """Numbers of the project, in Prometheus's text format."""
    state = state_of(request)
    if state.settings.metrics == "open":
        tenant = state.tenants.first
    else:
        caller = await authenticate(request)
        caller.identity.must(Right.READ)
        tenant = caller.tenant
    text = await run_in_threadpool(
        metrics.prometheus_text, tenant.project, event_readers=state.feeds.readers
    )
    return PlainTextResponse(text, media_type=metrics.MEDIA_TYPE)


@router.get("/v1/meta", response_model=MetaView, responses=_KEYED)
async def meta(request: Request, caller: Anyone) -> Response:
    """What this server is."""
    view = MetaView(version=__version__, project=caller.tenant.name)
    return shown(request, view)


@router.get("/v1/me", response_model=CallerView, responses=_KEYED)
async def me(request: Request, caller: Anyone) -> Response:
    """Who you are to this server, and what you may do."""
    view = caller_view(caller.identity, caller.tenant.name)
    return shown(request, view)


@router.get("/v1/openapi.json", response_class=JSONResponse)
async def openapi_document(request: Request) -> Response:
    """Return this API as an OpenAPI document."""
    return JSONResponse(request.app.openapi())


@router.get(
    "/v1/errors/{code}", response_model=ErrorPageView, responses=documented(404)
)
async def error_page(request: Request, code: str) -> Response:
    """What a code means: the `type` of problems leads here."""
    return shown(request, page_of(code))
