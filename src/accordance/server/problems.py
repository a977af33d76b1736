"""Errors as RFC 9457 problems: the status of each code, and how it is shown.

A category of errors has a status; a few codes have a status of their own. `type` is the page
of the code, which the server shows itself.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from accordance.errors import AccordanceError, Category
from accordance.telemetry import tracing

log: Final = logging.getLogger("accordance.server")
MEDIA_TYPE: Final = "application/problem+json"
ERROR_PAGES: Final = "/v1/errors/"


class NoSuchRoute(AccordanceError):
    """The API has no such address."""

    code = "no-such-route"
    category = Category.NOT_FOUND


class MethodNotAllowed(AccordanceError):
    """The address is known, but not with this method."""

    code = "method-not-allowed"


class InvalidRequest(AccordanceError):
    """A parameter or the body is not what the API expects there."""

    code = "invalid-request"


class RequestTooLarge(AccordanceError):
    """The body is larger than the server takes."""

    code = "request-too-large"


class UnsupportedMediaType(AccordanceError):
    """The body has a type that is not read there."""

    code = "unsupported-media-type"


class TooManyRequests(AccordanceError):
    """The key has used up its requests for now."""

    code = "too-many-requests"


class StaleView(AccordanceError):
    """What was changed is not any more what If-Match says."""

    code = "stale-view"
    category = Category.CONFLICT


class ServerFault(AccordanceError):
    """A fault of the server itself; its log has the details."""

    code = "server-fault"
    category = Category.UNAVAILABLE


class ServerStopping(AccordanceError):
    """The server is about to end, and begins nothing more."""

    code = "server-stopping"
    category = Category.UNAVAILABLE


STATUSES: Final[Mapping[Category, int]] = MappingProxyType(
    {
        Category.USAGE: HTTPStatus.BAD_REQUEST,
        Category.NOT_FOUND: HTTPStatus.NOT_FOUND,
        Category.CONFLICT: HTTPStatus.CONFLICT,
        Category.AUTH: HTTPStatus.FORBIDDEN,
        Category.REJECTED: HTTPStatus.UNPROCESSABLE_ENTITY,
        Category.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    }
)
"""The HTTP status of each category of errors."""

OWN_STATUSES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "invalid-request": HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid-settings": HTTPStatus.SERVICE_UNAVAILABLE,
        "ledger-address": HTTPStatus.SERVICE_UNAVAILABLE,
        "ledger-busy": HTTPStatus.SERVICE_UNAVAILABLE,
        "ledger-damaged": HTTPStatus.INTERNAL_SERVER_ERROR,
        "ledger-denied": HTTPStatus.SERVICE_UNAVAILABLE,
        "ledger-missing": HTTPStatus.SERVICE_UNAVAILABLE,
        "ledger-unreachable": HTTPStatus.SERVICE_UNAVAILABLE,
        "message-too-large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "method-not-allowed": HTTPStatus.METHOD_NOT_ALLOWED,
        "not-authenticated": HTTPStatus.UNAUTHORIZED,
        "request-too-large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "reused-request-key": HTTPStatus.UNPROCESSABLE_ENTITY,
        "server-fault": HTTPStatus.INTERNAL_SERVER_ERROR,
        "stale-view": HTTPStatus.PRECONDITION_FAILED,
        "too-many-requests": HTTPStatus.TOO_MANY_REQUESTS,
        "unsupported-media-type": HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    }
)
"""Codes whose status is not that of their category.

A ledger that cannot be used is no fault of the request, whatever it is to a person who
has named it: the same request may be sent again.
"""

_RETRY_SECONDS: Final = "2"


class FieldProblem(BaseModel):
    """What is wrong with a part of the request."""

    pointer: str = Field(description="Where: a JSON pointer, or the parameter.")
    detail: str


class Problem(BaseModel):
    """What went wrong, as RFC 9457 has it."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(description="The page of the code.")
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable; see docs/errors.md.")
    instance: str = Field(description="This answer; the server's log has the same.")
    trace: str | None = Field(
        default=None, description="The trace of the request, where there are traces."
    )
    way_out: str | None = None
    errors: list[FieldProblem] | None = None
    violations: list[dict[str, Any]] | None = Field(
        default=None, description="Why a plan was rejected; see docs/codes.md."
    )


def status_of(error: type[AccordanceError] | AccordanceError) -> int:
    """Return the HTTP status of an error."""
    own = OWN_STATUSES.get(error.code)
    return int(own if own is not None else STATUSES[error.category])


def problem(
    error: AccordanceError,
    *,
    errors: Sequence[FieldProblem] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an error as an answer."""
    status = status_of(error)
    instance = f"urn:accordance:{secrets.token_hex(8)}"
    content: dict[str, Any] = {
        "type": f"{ERROR_PAGES}{error.code}",
        "title": _title(error),
        "status": status,
        "detail": _plain(error.text),
        "code": error.code,
        "instance": instance,
    }
    place = tracing.current()
    if place is not None:
        content["trace"] = f"{place.trace:032x}"
    if error.way_out:
        content["way_out"] = _plain(error.way_out)
    violations = getattr(error, "violations", None)
    if isinstance(violations, tuple):
        content["violations"] = list(violations)
    if errors:
        content["errors"] = [each.model_dump() for each in errors]
    sent = dict(headers or {})
    if status == HTTPStatus.UNAUTHORIZED:
        sent.setdefault("WWW-Authenticate", "Bearer")
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        sent.setdefault("Retry-After", _RETRY_SECONDS)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("%s %s %s", instance, error.code, error)
    body = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status, sent, MEDIA_TYPE)


def _title(error: AccordanceError) -> str:
    """What the code means: the first line of its class."""
    lines = (type(error).__doc__ or "").strip().splitlines()
    if not lines:
        return error.code
    return lines[0].rstrip(".")


def _plain(text: str) -> str:
    return " ".join(text.split())


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems that a route may answer with, for the OpenAPI document."""
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {
        int(status): {"description": HTTPStatus(status).phrase, "content": content}
        for status in sorted({*statuses, *_ANYWHERE})
    }


_ANYWHERE: Final = (
    HTTPStatus.BAD_REQUEST,
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
    HTTPStatus.SERVICE_UNAVAILABLE,
)


# -- what FastAPI and Starlette raise themselves


def problem_for(error: Exception, request: Request) -> Response:
    """Return the answer to any exception."""
    if isinstance(error, AccordanceError):
        return problem(error)
    if isinstance(error, RequestValidationError):
        return _invalid(error)
    if isinstance(error, HTTPException):
        return _http_problem(error, request)
    if isinstance(error, ClientDisconnect):  # the answer is for the log of a proxy
        return problem(InvalidRequest("the client left before its request was whole"))
    log.error("a fault of the server", exc_info=error)
    return problem(ServerFault("the server has met a fault of its own; see its log"))


def _invalid(error: RequestValidationError) -> Response:
    faults = error.errors()
    fields = [_field_problem(fault) for fault in faults[:50]]
    first = fields[0]
    return problem(InvalidRequest(f"{first.pointer}: {first.detail}"), errors=fields)


def _field_problem(fault: Mapping[str, Any]) -> FieldProblem:
    where, *steps = map(str, fault["loc"])
    if where == "body":
        pointer = "/".join(["", *steps])
    else:
        pointer = ".".join([where, *steps])
    return FieldProblem(pointer=pointer or "/", detail=str(fault["msg"]))


def _http_problem(error: HTTPException, request: Request) -> Response:
    path = request.url.path
    match error.status_code:
        case HTTPStatus.NOT_FOUND:
            return problem(NoSuchRoute(f"there is nothing at {path}"))
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = (error.headers or {}).get("Allow", "")
            fault = MethodNotAllowed(
                f"{path} does not take {request.method}", way_out=f"it takes {allowed}"
            )
            return problem(fault, headers={"Allow": allowed})
        case status if status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return problem(InvalidRequest(str(error.detail)))
    return problem(ServerFault(str(error.detail)))


def add_handlers(app: FastAPI) -> None:
    """Let every exception of an app become a problem."""

    async def handle(request: Request, error: Exception) -> Response:
        return problem_for(error, request)

    for kind in (AccordanceError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, handle)
