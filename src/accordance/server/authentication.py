"""Who sends a request: by a key, or by the cookie of a login.

`authenticate` is the one way to find out. Routes ask for a right with `allowed`; an
ASGI app of another face is mounted behind `Guarded`, which puts identity and project
into its scope.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import Annotated, Final, cast

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from accordance.domain.access import Right
from accordance.errors import AccordanceError, NotAllowed, NotAuthenticated
from accordance.server.hosting import host_for
from accordance.server.problems import TooManyRequests, problem
from accordance.server.state import state_of
from accordance.server.tenants import Caller
from accordance.service.hosting import HOST, PUBLIC_URL

SESSION_COOKIE: Final = "accordance_session"
CSRF_COOKIE: Final = "accordance_csrf"
CSRF_HEADER: Final = "x-csrf-token"
PROJECT_HEADER: Final = "accordance-project"
CALLER: Final = "accordance.caller"
"""The key of the caller in the scope of a request."""
IDENTITY: Final = "accordance.identity"
PROJECT: Final = "accordance.project"
"""The keys that a mounted app finds in its scope."""
_SAFE: Final = ("GET", "HEAD", "OPTIONS")


async def authenticate(connection: HTTPConnection) -> Caller:
    """Return who sends a request.

    Raises NotAuthenticated, NotAllowed, TooManyRequests, and NotFound for a project.
    """
    known = connection.scope.get(CALLER)
    if known is not None:
        return cast("Caller", known)

    try:
        key = _key_of(connection)
    except NotAuthenticated:
        _must_wait(state_of(connection).strangers.take(_address(connection)))
        raise
    caller = await authenticate_key(connection, key)
    connection.scope[CALLER] = caller
    return caller


async def authenticate_key(connection: HTTPConnection, key: str) -> Caller:
    """Return who has a key that a connection has brought.

    Raises NotAuthenticated, NotAllowed, TooManyRequests, and NotFound for a project.
    """
    state = state_of(connection)
    wanted = connection.headers.get(PROJECT_HEADER)
    try:
        caller = state.tenants.recall(key, wanted)
        if caller is None:
            caller = await run_in_threadpool(state.tenants.look_up, key, wanted)
    except NotAuthenticated:
        _must_wait(state.strangers.take(_address(connection)))
        raise
    _must_wait(state.buckets.take(caller.identity.key_id or caller.name))
    return caller


def _must_wait(seconds: float) -> None:
    if seconds > 0:
        raise TooManyRequests(
            "too many requests at once", way_out=f"try again in {seconds:.1f} s"
        )


def _address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else "nowhere"


def _key_of(connection: HTTPConnection) -> str:
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and key.strip():
        return key.strip()
    session = connection.cookies.get(SESSION_COOKIE)
    if session:
        _must_be_meant(connection, session)
        return session
    raise NotAuthenticated(
        "the request has no key", way_out="send it as `Authorization: Bearer KEY`"
    )


def _must_be_meant(connection: HTTPConnection, session: str) -> None:
    """Refuse an act by cookie that another site may have caused. Raises NotAllowed."""
    if connection.scope.get("method", "GET") in _SAFE:
        return
    sent = connection.headers.get(CSRF_HEADER, "")
    if not hmac.compare_digest(sent.encode(), csrf_token(session).encode()):
        raise NotAllowed(
            "the request may come from another site",
            way_out=f"send the cookie {CSRF_COOKIE} as the header {CSRF_HEADER}, too",
        )


def csrf_token(session: str) -> str:
    """Return the token that belongs to a session; another site cannot know it."""
    return hashlib.sha256(f"csrf:{session}".encode()).hexdigest()


# -- for routes


def allowed(right: Right) -> Callable[[Request], Awaitable[Caller]]:
    """Return a dependency: the caller, who must have a right."""

    async def caller_with_right(request: Request) -> Caller:
        caller = await authenticate(request)
        caller.identity.must(right)
        return caller

    return caller_with_right


async def anyone(request: Request) -> Caller:
    """Return the caller, whatever they may do."""
    return await authenticate(request)


Anyone = Annotated[Caller, Depends(anyone)]
Checker = Annotated[Caller, Depends(allowed(Right.CHECK))]
Reader = Annotated[Caller, Depends(allowed(Right.READ))]
Worker = Annotated[Caller, Depends(allowed(Right.WORK))]
Planner = Annotated[Caller, Depends(allowed(Right.PLAN))]
Decider = Annotated[Caller, Depends(allowed(Right.DECIDE))]
Starter = Annotated[Caller, Depends(allowed(Right.RUN))]
Manager = Annotated[Caller, Depends(allowed(Right.MANAGE))]


# -- for apps of other faces


class Guarded:
    """An ASGI app that only callers with a right reach; without a right, everybody."""

    def __init__(self, app: ASGIApp, right: Right | None) -> None:
        self.app = app
        self.right = right

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with a problem."""
        connection = HTTPConnection(scope)
        scope[PUBLIC_URL] = state_of(connection).settings.public_url
        if self.right is None:
            await self.app(scope, receive, send)
            return
        try:
            caller = await authenticate(connection)
            caller.identity.must(self.right)
        except AccordanceError as error:
            await problem(error)(scope, receive, send)
            return
        scope[IDENTITY] = caller.identity
        scope[PROJECT] = caller.project
        scope[HOST] = host_for(caller, state_of(connection))
        await self.app(scope, receive, send)
