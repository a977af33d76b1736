"""Logging in and out, for people with a browser."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from accordance.server.authentication import (
    CSRF_COOKIE,
    SESSION_COOKIE,
    Anyone,
    authenticate_key,
    csrf_token,
)
from accordance.server.login import SECONDS_TO_LOG_IN, attempt_in
from accordance.server.problems import documented
from accordance.server.requests import SessionWanted
from accordance.server.routing import RepeatableRoute
from accordance.server.showing import shown
from accordance.server.state import ServerState, provider_of, state_of
from accordance.service import keys
from accordance.service.keys import KeyRequest
from accordance.service.views.keys import CallerView, LoginWaysView, caller_view

router = APIRouter(
    prefix="/auth",
    tags=["login"],
    route_class=RepeatableRoute,
    responses=documented(401, 403, 404),
)
LOGIN_COOKIE = "accordance_login"
_CALLBACK = "/auth/callback"
_SENT_ON: dict[int | str, dict[str, Any]] = {
    302: {"description": "The browser is sent on."}
}


def _callback(request: Request, state: ServerState) -> str:
    base = state.settings.public_url or str(request.base_url)
    return f"{base.rstrip('/')}{_CALLBACK}"


@router.get(
    "/login", responses=_SENT_ON, status_code=302, response_class=RedirectResponse
)
def login(
    request: Request, then: Annotated[str, Query(max_length=2000)] = "/"
) -> Response:
    """Send the browser to the provider of logins."""
    state = state_of(request)
    url, attempt = provider_of(state).begin(_callback(request, state), then)
    response = RedirectResponse(url, HTTPStatus.FOUND)
    response.set_cookie(
        LOGIN_COOKIE,
        attempt.cookie(),
        max_age=SECONDS_TO_LOG_IN,
        path="/auth",
        httponly=True,
        samesite="lax",
        secure=state.is_secure,
    )
    return response


@router.get(
    "/callback", responses=_SENT_ON, status_code=302, response_class=RedirectResponse
)
def callback(request: Request) -> Response:
    """Take the answer of the provider, and begin a session."""
    state = state_of(request)
    provider = provider_of(state)
    attempt = attempt_in(request.cookies.get(LOGIN_COOKIE, ""))
    redirect = _callback(request, state)
    answer = f"{redirect}?{request.url.query}"
    name = provider.finish(redirect, answer, attempt)
    role = provider.role_of(name)
    hours = state.settings.login.hours
    wanted = KeyRequest(
        name=name,
        role=role,
        days=hours / 24,
        kind="session",
    )
    session = keys.make_key(state.tenants.first.project, wanted, by=name).key
    response = RedirectResponse(attempt.then, HTTPStatus.FOUND)
    response.delete_cookie(LOGIN_COOKIE, path="/auth")
    set_session(response, session, hours * 3600, is_secure=state.is_secure)
    return response


def set_session(
    response: Response,
    session: str,
    seconds: int,
    *,
    is_secure: bool,
) -> None:
    """Give a browser its session, and the token that its acts carry."""
    response.set_cookie(
        SESSION_COOKIE,
        session,
        max_age=seconds,
        httponly=True,
        samesite="lax",
        secure=is_secure,
    )
    response.set_cookie(  # read by our own page, which sends it as a header
        CSRF_COOKIE,
        csrf_token(session),
        max_age=seconds,
        httponly=False,
        samesite="strict",
        secure=is_secure,
    )


@router.get("/ways", response_model=LoginWaysView)
def ways_in(request: Request) -> Response:
    """Tell how people can log in here."""
    issuer = state_of(request).settings.login.issuer
    return shown(request, LoginWaysView(key=True, provider=bool(issuer)))


@router.post("/session", responses=documented(415, 413), response_model=CallerView)
async def begin_session(request: Request, wanted: SessionWanted) -> Response:
    """Begin a session of a browser with a key; it ends with the key."""
    state = state_of(request)
    caller = await authenticate_key(request, wanted.key)
    response = shown(request, caller_view(caller.identity, caller.tenant.name))
    seconds = state.settings.login.hours * 3600
    set_session(response, wanted.key, seconds, is_secure=state.is_secure)
    return response


@router.post("/logout", status_code=204, response_class=Response)
def logout(request: Request, caller: Anyone) -> Response:
    """End the session of a browser; a key is left as it is."""
    state = state_of(request)
    session = request.cookies.get(SESSION_COOKIE)
    if session is not None and caller.identity.key_id is not None:
        keys.end_session(caller.project, caller.identity.key_id, by=caller.name)
        state.tenants.forget(session)
    response = Response(status_code=HTTPStatus.NO_CONTENT)
    end_cookies(response)
    return response


def end_cookies(response: Response) -> None:
    """Take the session of a browser away."""
    response.delete_cookie(SESSION_COOKIE)
    response.delete_cookie(CSRF_COOKIE)
