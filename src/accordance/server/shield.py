"""The outermost part of the app: bounds of bodies, headers of every answer, last help."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from accordance.server.problems import RequestTooLarge, problem_for
from accordance.server.state import STATE, ServerState
from accordance.telemetry import names, tracing
from accordance.telemetry.tracing import Span, SpanPlace

log: Final = logging.getLogger("accordance.server")
_MEGABYTE: Final = 1 << 20
HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
        " font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_STRICT_TRANSPORT: Final = "max-age=31536000"


@dataclass(slots=True)
class Shield:
    """Gives every request the server's state and a bound, every answer its headers."""

    app: ASGIApp
    state: ServerState

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; whatever goes wrong inside becomes a problem."""
        if scope["type"] != "http":
            scope[STATE] = self.state
            await self.app(scope, receive, send)
            return
        scope[STATE] = self.state
        guarded = _Exchange(receive, send, self.state, self._bound(scope))
        method, path = scope["method"], scope["path"]
        caller = SpanPlace.read(Headers(scope=scope).get("traceparent", ""))
        with tracing.span(
            method,
            names.of_request(method, path),
            within=caller,
            kind="server",
        ) as span:
            try:
                await self._answer(scope, receive, guarded)
            finally:
                _describe(span, scope, guarded.status)

    async def _answer(self, scope: Scope, receive: Receive, guarded: _Exchange) -> None:
        try:
            guarded.must_fit(scope)
            await self.app(scope, guarded.receive, guarded.send)
        except Exception as error:
            if guarded.has_ended:
                return  # it was answered and logged
            if guarded.has_begun:
                raise
            response = problem_for(error, Request(scope))
            await response(scope, receive, guarded.send)

    def _bound(self, scope: Scope) -> int:
        settings = self.state.settings
        kind = Headers(scope=scope).get("content-type", "")
        is_upload = kind.startswith("multipart/form-data")
        megabytes = (
            settings.largest_upload_mb if is_upload else settings.largest_request_mb
        )
        return megabytes * _MEGABYTE


def _describe(span: Span, scope: Scope, status: int) -> None:
    """Say in a span which route has answered, and how."""
    log.info("%s %s %d", scope["method"], scope["path"], status)
    if not tracing.is_on():
        return
    route = getattr(scope.get("route"), "path", None)
    span.set(names.of_response(status, route))
    if route is not None:
        span.rename(f"{scope['method']} {route}")
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        span.fail(str(status))


@dataclass(slots=True)
class _Exchange:
    """One request and its answer."""

    _receive: Receive
    _send: Send
    state: ServerState
    bound: int
    has_begun: bool = False
    has_ended: bool = False
    status: int = 0
    _read: int = 0

    def must_fit(self, scope: Scope) -> None:
        length = Headers(scope=scope).get("content-length", "")
        if length.isdecimal() and int(length) > self.bound:
            raise _too_large(self.bound)

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._read += len(message.get("body", b""))
            if self._read > self.bound:
                raise _too_large(self.bound)
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-cache, private")
            if self.state.is_secure:
                headers.setdefault("Strict-Transport-Security", _STRICT_TRANSPORT)
        elif message["type"] == "http.response.body":
            self.has_ended = not message.get("more_body", False)
        await self._send(message)


def _too_large(bound: int) -> RequestTooLarge:
    return RequestTooLarge(
        f"the body is larger than {bound // _MEGABYTE} MB",
        way_out="send less, or raise the bound in [server]",
    )
