"""The app that is mounted in a server: JSON-RPC at a path of its own, and the card."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Final

from a2a.server.context import ServerCallContext
from a2a.server.jsonrpc_models import JSONParseError, JSONRPCError
from a2a.server.request_handlers.response_helpers import (
    agent_card_to_dict,
    build_error_response,
)
from a2a.server.routes.common import ServerCallContextBuilder
from a2a.server.routes.jsonrpc_dispatcher import JsonRpcDispatcher
from a2a.utils.errors import A2AError, InvalidRequestError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from accordance.a2a.agent import BASE, Agent
from accordance.a2a.cards import CARD_PATH, PATH, card_at
from accordance.contracts.reading import parse_object
from accordance.errors import Unparseable
from accordance.service.hosting import HOST, PUBLIC_URL

_NO_OBJECT: Final = "not_object"
_CARD_SECONDS: Final = 300
_TALKATIVE: Final = "a2a.server.routes.jsonrpc_dispatcher"
"""The logger that writes a traceback for every malformed request."""


def base_of(request: Request) -> str:
    """Return the address of the server: that of the settings, else of the request."""
    public: str = request.scope.get(PUBLIC_URL, "")
    if public:
        return public.rstrip("/")
    return f"{request.url.scheme}://{request.url.netloc}"


class _Calls(ServerCallContextBuilder):
    """Gives every call the server it has come to."""

    def build(self, request: Request) -> ServerCallContext:
        state = {
            "headers": dict(request.headers),
            HOST: request.scope[HOST],
            BASE: base_of(request),
        }
        return ServerCallContext(state=state)


class AgentApp:
    """Answers JSON-RPC. What is no JSON object never reaches the protocol's own code."""

    def __init__(self, agent: Agent | None = None) -> None:
        logging.getLogger(_TALKATIVE).setLevel(logging.CRITICAL)
        self._dispatcher = JsonRpcDispatcher(agent or Agent(), _Calls())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        _must_be_at(request, PATH, "POST")
        body = await request.body()
        response = _refused(body)
        if response is None:
            again = Request(scope, _replayed(body, receive))
            response = await self._dispatcher.handle_requests(again)
        await response(scope, receive, send)


async def card_app(scope: Scope, receive: Receive, send: Send) -> None:
    """Show the card to everybody."""
    request = Request(scope, receive)
    _must_be_at(request, CARD_PATH, "GET")
    content = agent_card_to_dict(card_at(base_of(request)))
    headers = {"Cache-Control": f"public, max-age={_CARD_SECONDS}"}
    await JSONResponse(content, headers=headers)(scope, receive, send)


def _must_be_at(request: Request, path: str, method: str) -> None:
    if request.url.path.rstrip("/") != path:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    is_read = method == "GET" and request.method == "HEAD"
    if request.method != method and not is_read:
        raise HTTPException(HTTPStatus.METHOD_NOT_ALLOWED, headers={"Allow": method})


def _refused(body: bytes) -> Response | None:
    """Return the answer to a body that is no request, None if it may be one."""
    try:
        parse_object(body)
    except Unparseable as flaw:
        text = " ".join(str(flaw).split()).encode("utf-8", "replace").decode()
        error: A2AError | JSONRPCError = JSONParseError(message=text)
        if flaw.code == _NO_OBJECT:
            error = InvalidRequestError(text)
        return JSONResponse(build_error_response(None, error))
    return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return the way to a body that was read already."""
    is_read = False

    async def again() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {
            "type": "http.request",
            "body": body,
            "more_body": False,
        }

    return again
