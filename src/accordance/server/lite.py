"""`/lite`: the pages without JavaScript, their sessions and their forms.

A form carries the token of its session; an act without it is refused, as an act that
another site may have caused. Problems are pages, too.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final, TypeAlias

from fastapi import FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import RedirectResponse, Response

from accordance.domain.access import Right
from accordance.errors import AccordanceError, NotAllowed, NotAuthenticated
from accordance.rendering.pages.page import STYLE
from accordance.server import lite_pages
from accordance.server.authentication import (
    SESSION_COOKIE,
    authenticate,
    authenticate_key,
    csrf_token,
)
from accordance.server.lite_pages import LitePage
from accordance.server.problems import InvalidRequest, ServerFault, status_of
from accordance.server.routes.session import end_cookies, set_session
from accordance.server.state import state_of
from accordance.server.tenants import Caller
from accordance.service import dead_letters, inbox, keys
from accordance.service.inbox import PersonAnswer

log: Final = logging.getLogger("accordance.server")
_ROOT: Final = "/lite"
_MOST_FIELDS: Final = 200
Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
Page: TypeAlias = Callable[[Caller, LitePage], str]


def add_lite_pages(app: FastAPI) -> None:
    """Let an app show the pages without JavaScript."""
    pages: dict[str, Page] = {
        "/plans": lite_pages.plans_page,
        "/plans/{name:path}": lite_pages.plan_page,
        "/tasks/{name:path}": lite_pages.task_page,
        "/inbox": lite_pages.inbox_page,
        "/inbox/{name:path}": lite_pages.question_page,
        "/dead-letters": lite_pages.dead_letters_page,
    }
    forms: dict[str, Handler] = {
        "/login": _log_in,
        "/logout": _log_out,
        "/inbox/{name:path}": _answer,
        "/dead-letters/{name:path}": _requeue,
    }
    _add(app, "", "GET", _first)
    _add(app, "/style.css", "GET", _style)
    _add(app, "/login", "GET", _login_form)
    for path, show in pages.items():
        _add(app, path, "GET", _shown(show))
    for path, act in forms.items():
        _add(app, path, "POST", act)


def _add(app: FastAPI, path: str, method: str, handle: Handler) -> None:
    async def guarded(request: Request) -> Response:
        try:
            return await handle(request)
        except NotAuthenticated as error:
            if request.method == "GET" and not request.url.path.endswith("/login"):
                return _sent_to(f"{_ROOT}/login")
            return _problem(request, error)
        except AccordanceError as error:
            return _problem(request, error)
        except HTTPException as error:  # a form that cannot be read
            return _problem(request, InvalidRequest(str(error.detail)))
        except ClientDisconnect:
            left = InvalidRequest("the client left before its request was whole")
            return _problem(request, left)
        except Exception:
            log.exception("a fault of the server")
            fault = ServerFault("the server has met a fault of its own; see its log")
            return _problem(request, fault)

    route = f"{_ROOT}{path}"
    app.add_route(route, guarded, methods=[method], include_in_schema=False)


def _sent_to(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)


def _page(text: str, status: int = HTTPStatus.OK) -> Response:
    return Response(text.encode("utf-8", "replace"), status, media_type="text/html")


def _problem(request: Request, error: AccordanceError) -> Response:
    back = request.url.path if request.method == "GET" else f"{_ROOT}/plans"
    text = lite_pages.problem_page(error, back)
    return _page(text, status_of(type(error)))


# -- looking


async def _first(_: Request) -> Response:
    return _sent_to(f"{_ROOT}/plans")


async def _style(_: Request) -> Response:
    return Response(STYLE, media_type="text/css")


def _shown(show: Page) -> Handler:
    async def handle(request: Request) -> Response:
        caller = await authenticate(request)
        caller.identity.must(Right.READ)
        session = request.cookies.get(SESSION_COOKIE, "")
        wanted = LitePage(
            name=request.path_params.get("name", ""),
            cursor=request.query_params.get("cursor"),
            csrf=csrf_token(session),
            largest_upload_mb=caller.tenant.settings.largest_upload_mb,
            may_decide=caller.identity.may(Right.DECIDE),
        )
        return _page(await run_in_threadpool(show, caller, wanted))

    return handle


# -- sessions


async def _login_form(request: Request) -> Response:
    has_provider = bool(state_of(request).settings.login.issuer)
    return _page(lite_pages.login_page(has_provider=has_provider))


async def _log_in(request: Request) -> Response:
    """Begin a session with a key, unless another site sends the form."""
    if request.headers.get("sec-fetch-site", "same-origin") not in (
        "same-origin",
        "none",
    ):
        raise NotAllowed("the form comes from another site", way_out="log in here")
    form = await request.form(max_fields=_MOST_FIELDS, max_files=0)
    key = _text(form, "key")
    if key is None:
        raise NotAuthenticated("the form has no key", way_out="paste your key into it")
    await authenticate_key(request, key)
    state = state_of(request)
    response = _sent_to(f"{_ROOT}/plans")
    seconds = state.settings.login.hours * 3600
    set_session(response, key, seconds, is_secure=state.is_secure)
    return response


async def _log_out(request: Request) -> Response:
    caller, _ = await _meant(request)
    session = request.cookies[SESSION_COOKIE]
    if caller.identity.key_id is not None:
        await run_in_threadpool(
            keys.end_session, caller.project, caller.identity.key_id, by=caller.name
        )
        state_of(request).tenants.forget(session)
    response = _sent_to(f"{_ROOT}/login")
    end_cookies(response)
    return response


async def _meant(request: Request) -> tuple[Caller, FormData]:
    """Return who sends a form of ours, and the form. Raises NotAllowed.

    The form of a stranger, which may have large files, is not even read.
    """
    session = request.cookies.get(SESSION_COOKIE)
    if not session:
        raise NotAuthenticated("nobody is logged in here", way_out="log in again")
    caller = await authenticate_key(request, session)
    form = await request.form(max_fields=_MOST_FIELDS)
    sent = _text(form, "csrf") or ""
    if not hmac.compare_digest(sent.encode(), csrf_token(session).encode()):
        raise NotAllowed(
            "the form may come from another site", way_out="open the page again"
        )
    return caller, form


def _text(form: FormData, name: str) -> str | None:
    value = form.get(name)
    if not isinstance(value, str):
        return None
    return value.strip() or None


# -- acting


async def _answer(request: Request) -> Response:
    caller, form = await _meant(request)
    caller.identity.must(Right.DECIDE)
    name = request.path_params["name"]
    try:
        reply = await _reply(caller, form)
    finally:
        await form.close()

    def act() -> None:
        line = _text(form, "line")
        is_line = line is not None and not reply.files and reply.word is None
        answer = (
            inbox.read_line(caller.project, name, line or "", by=caller.name)
            if is_line
            else reply
        )
        inbox.answer_question(caller.project, name, answer)

    await run_in_threadpool(act)
    return _sent_to(f"{_ROOT}/inbox")


async def _reply(caller: Caller, form: FormData) -> PersonAnswer:
    """Return what a form says beside a line."""
    uploads = []
    for name, value in form.multi_items():
        if isinstance(value, UploadFile) and value.filename:
            document = None
            if name.startswith("file:"):
                document = name.removeprefix("file:")
            content = await value.read()
            uploads.append(inbox.upload_from(value.filename, content, document))
    return PersonAnswer(
        by=caller.name,
        text=_text(form, "line") if uploads else None,
        files=tuple(uploads),
        choose=_text(form, "choose"),
    )


async def _requeue(request: Request) -> Response:
    caller, form = await _meant(request)
    caller.identity.must(Right.DECIDE)
    await run_in_threadpool(
        lambda: dead_letters.requeue(
            caller.project,
            request.path_params["name"],
            by=caller.name,
            reason=_text(form, "reason"),
        )
    )
    return _sent_to(f"{_ROOT}/dead-letters")
