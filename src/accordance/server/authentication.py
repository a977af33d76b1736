"""Who sends a request: by a key, or by the cookie of a login.

`authenticate` is the only way to find out. Routes ask for a right with `allowed`; the app
of another face is mounted behind `guarding.Guarded`.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable
from typing import Annotated, Final, cast

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from accordance.domain.access import Right
from accordance.errors import NotAllowed, NotAuthenticated
from accordance.server.problems import TooManyRequests
from accordance.server.state import state_of
from accordance.server.tenants import Caller

SESSION_COOKIE: Final = "accordance_session"
CSRF_COOKIE: Final = "accordance_csrf"
CSRF_HEADER: Final = "x-csrf-token"
PROJECT_HEADER: Final = "accordance-project"
CALLER: Final = "accordance.caller"
"""The key of the caller in the scope of a request."""
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
        strangers_must_wait(connection)
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
        strangers_must_wait(connection)
        raise
    return admitted(connection, caller)


def admitted(connection: HTTPConnection, caller: Caller) -> Caller:
    """Let a caller in, unless they ask too often. Raises TooManyRequests."""
    state = state_of(connection)
    _must_wait(state.buckets.take(caller.identity.key_id or caller.name))
    return caller


def strangers_must_wait(connection: HTTPConnection) -> None:
    """Count a request without a key that holds. Raises TooManyRequests."""
    _must_wait(state_of(connection).strangers.take(_address(connection)))


def _must_wait(seconds: float) -> None:
    if seconds > 0:
        raise TooManyRequests(
            "too many requests at once", way_out=f"try again in {seconds:.1f} s"
        )


def _address(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else "nowhere"


def bearer_of(connection: HTTPConnection) -> str | None:
    """Return what a caller brings as Bearer."""
    scheme, _, key = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    return key.strip() or None


def _key_of(connection: HTTPConnection) -> str:
    key = bearer_of(connection)
    if key is not None:
        return key
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
