"""The routes of this API: what they read, and requests that may come again."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter, Request, params
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.types import Message

from accordance.server.authentication import authenticate
from accordance.server.problems import (
    InvalidRequest,
    UnsupportedMediaType,
    documented,
    problem,
    problem_for,
)
from accordance.server.tenants import Caller
from accordance.service import kept_replies
from accordance.service.kept_replies import KeptReply, ShownOnce

JSON: Final = "application/json"
_UNSAFE: Final = ("POST", "PUT", "PATCH", "DELETE")
_LONGEST_KEY: Final = 200
_LARGEST_KEPT: Final = 4 << 20  # bytes of a reply
_NOT_KEPT: Final = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.FORBIDDEN,
    HTTPStatus.TOO_MANY_REQUESTS,
)
Handler = Callable[[Request], Awaitable[Response]]


class RepeatableRoute(APIRoute):
    """A route that says which bodies it reads, and repeats its answers."""

    def get_route_handler(self) -> Any:
        """Return the handler of FastAPI, with ours around it."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            self._must_be_readable(request)
            key = request.headers.get("idempotency-key")
            if key is None or request.method not in _UNSAFE:
                return await handle(request)
            return await _repeatable(request, key, handle)

        return guarded

    def _must_be_readable(self, request: Request) -> None:
        """Refuse a body of a type that this route does not read."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        readable = self._readable()
        if not readable or not _has_body(request) or kind in readable:
            return
        raise UnsupportedMediaType(
            f"{kind or 'a body without a type'} is not read here",
            way_out=f"send {' or '.join(readable)}",
        )

    def _readable(self) -> Sequence[str]:
        extra: Any = self.openapi_extra or {}
        content = extra.get("requestBody", {}).get("content")
        if content:
            return list(content)
        if self.body_field is None:
            return ()
        is_form = isinstance(self.body_field.field_info, params.Form)
        return ("multipart/form-data",) if is_form else (JSON,)


def _has_body(request: Request) -> bool:
    length = request.headers.get("content-length")
    return length not in (None, "0") or "transfer-encoding" in request.headers


def router(*tags: str, prefix: str = "/v1") -> APIRouter:
    """Return a router whose routes document every problem."""
    return APIRouter(
        prefix=prefix,
        tags=list(tags),
        route_class=RepeatableRoute,
        responses=documented(
            HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND
        ),
    )


ACT: Final = documented(
    HTTPStatus.CONFLICT,
    HTTPStatus.PRECONDITION_FAILED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
)
"""The further problems of a route that acts."""


def reads(*kinds: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the OpenAPI of a body that is taken as it is."""
    content = {kind: {"schema": schema or {}} for kind in kinds}
    return {"requestBody": {"required": True, "content": content}}


async def raw_body(request: Request) -> bytes:
    """Return the body as it came."""
    return await request.body()


# -- requests that may come again


class SecretAnswer(Response):
    """An answer with a secret. It is not kept: the same request again is refused."""

    def __init__(self, answer: Response, again: ShownOnce) -> None:
        super().__init__(answer.body, answer.status_code, answer.headers)
        self.again = again


async def _repeatable(request: Request, key: str, handle: Handler) -> Response:
    """Carry out a request once; the same request again gets the same answer."""
    has_good_length = 1 <= len(key) <= _LONGEST_KEY
    is_plain = key.isascii() and key.isprintable()
    if not has_good_length or not is_plain:
        raise InvalidRequest(
            f"Idempotency-Key has 1 to {_LONGEST_KEY} ASCII characters"
        )
    caller = await authenticate(request)
    name = caller.identity.key_id or caller.name
    body = _Fingerprint(request)
    kept = await run_in_threadpool(kept_replies.claim, caller.project, name, key)
    if kept is not None:
        await body.read_all()
        kept_replies.must_be_same(kept, body.digest())
        return _kept_response(kept)
    try:
        response = await handle(Request(request.scope, body.receive))
    except Exception as error:  # noqa: BLE001 - an answer is kept, whatever it is
        response = problem_for(error, request)
    except BaseException:
        await run_in_threadpool(kept_replies.forget, caller.project, name, key)
        raise
    await body.read_all()
    if body.is_cut:  # of a part of a request, which may come again whole
        await run_in_threadpool(kept_replies.forget, caller.project, name, key)
        return response
    await run_in_threadpool(_keep, caller, name, key, body.digest(), response)
    return response


class _Fingerprint:
    """The hash of a request, computed while it is read."""

    def __init__(self, request: Request) -> None:
        url = request.url
        self._receive = request.receive
        start = f"{request.method} {url.path}?{url.query}\n"
        self._hash = hashlib.sha256(start.encode())
        self._is_read = False
        self.is_cut = False  # the client left before the body was whole

    async def receive(self) -> Message:
        """Pass a part of the body on."""
        message = await self._receive()
        if message["type"] == "http.request":
            self._hash.update(message.get("body", b""))
            self._is_read = not message.get("more_body", False)
        else:
            self.is_cut = not self._is_read
            self._is_read = True
        return message

    async def read_all(self) -> None:
        """Read the rest of the body."""
        while not self._is_read:
            await self.receive()

    def digest(self) -> str:
        return self._hash.hexdigest()


def _kept_response(kept: KeptReply) -> Response:
    headers = {**kept.headers, "Idempotency-Replayed": "true"}
    return Response(kept.body, kept.status, headers)


def _keep(caller: Caller, name: str, key: str, digest: str, response: Response) -> None:
    """Keep an answer, unless it says that nothing was tried."""
    if isinstance(response, SecretAnswer):
        response = problem(response.again)
    status = response.status_code
    is_final = status < HTTPStatus.INTERNAL_SERVER_ERROR and status not in _NOT_KEPT
    body = getattr(response, "body", None)
    if not is_final or not isinstance(body, bytes) or len(body) > _LARGEST_KEPT:
        kept_replies.forget(caller.project, name, key)
        return
    wanted = ("content-type", "etag", "location")
    headers = {
        header: response.headers[header]
        for header in wanted
        if header in response.headers
    }
    reply = KeptReply(
        request=digest,
        status=status,
        headers=headers,
        body=body,
    )
    kept_replies.keep(caller.project, name, key, reply)
