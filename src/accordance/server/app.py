"""The app: every route, the shield around them, and the apps of other faces."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import anyio.to_thread
from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import ASGIApp

from accordance._version import __version__
from accordance.domain.access import Right
from accordance.server import openapi, problems
from accordance.server.dashboard import add_dashboard
from accordance.server.event_feed import Feeds
from accordance.server.guarding import Guarded
from accordance.server.lite import add_lite_pages
from accordance.server.rate_limits import Buckets
from accordance.server.routes import all_routers
from accordance.server.shield import Shield
from accordance.server.state import ServerState
from accordance.server.tenants import Tenants
from accordance.server.webhook_sender import WebhookSender
from accordance.service.hosted_runs import HostedRuns

Lifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[Any]]
_STRANGERS_PER_SECOND: Final = 20.0
_STRANGERS_AT_ONCE: Final = 100.0


@dataclass(frozen=True, slots=True)
class Mount:
    """An ASGI app of another face, behind the server's authentication.

    It gets the requests to its path, and to everything below. Its scope has the caller's
    `Identity` under `accordance.identity` and their `Project` under
    `accordance.project`.
    """

    path: str
    app: ASGIApp
    right: Right | None = Right.WORK  # None: everybody reaches it
    lifespan: Lifespan | None = None  # entered while the server runs


def make_state(tenants: Tenants, **options: Any) -> ServerState:
    """Return the state of a server for some projects."""
    settings = tenants.first.settings
    runs = HostedRuns()
    return ServerState(
        tenants=tenants,
        settings=settings,
        feeds=Feeds(runs.stopping),
        runs=runs,
        buckets=Buckets(settings.requests_per_second, settings.burst),
        strangers=Buckets(_STRANGERS_PER_SECOND, _STRANGERS_AT_ONCE),
        stopping=runs.stopping,
        **options,
    )


def make_app(state: ServerState, mounts: Sequence[Mount] = ()) -> ASGIApp:
    """Return the app of a server."""
    app = make_api()
    add_dashboard(app)
    add_lite_pages(app)
    app.router.lifespan_context = _lifespan(state, mounts)
    state.doors = tuple(mount.path for mount in mounts if mount.right is not None)
    for mount in mounts:
        _mount(app, mount)
    return Shield(app, state)


def _mount(app: FastAPI, mount: Mount) -> None:
    """Put an app at its path itself, and at everything below."""
    guarded = Guarded(mount.app, mount.right, mount.path)
    if mount.path:
        route = Route(mount.path, guarded, include_in_schema=False)
        app.router.routes.append(route)
    app.mount(mount.path, guarded)


def make_api() -> FastAPI:
    """Return the API alone, without a state: enough for its OpenAPI document."""
    app = FastAPI(
        title="accordance",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    for router in all_routers():
        # a router that is included looks for each route twice, and slowly
        app.router.routes += router.routes
    problems.add_handlers(app)
    openapi.describe(app)
    return app


def _lifespan(
    state: ServerState, mounts: Sequence[Mount]
) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = state.settings.threads
        async with AsyncExitStack() as stack:
            for mount in mounts:
                if mount.lifespan is not None:
                    await stack.enter_async_context(mount.lifespan())
            await anyio.to_thread.run_sync(_begin_senders, state)
            yield
            state.stopping.set()
        await anyio.to_thread.run_sync(_close, state)

    return lifespan


def _begin_senders(state: ServerState) -> None:
    """Send the notifications of every project."""
    for tenant in state.tenants.by_name.values():
        feed = state.feeds.of(tenant.name, tenant.project)
        sender = WebhookSender(tenant.project, tenant.settings, feed, state.stopping)
        state.senders.append(sender)
        sender.start()


def _close(state: ServerState) -> None:
    for sender in state.senders:
        sender.close()
    state.feeds.close()
