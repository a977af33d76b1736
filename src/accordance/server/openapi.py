"""The OpenAPI document: what FastAPI writes, with keys and problems."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from accordance.server.problems import Problem

_OPEN: Final = (
    "/livez",
    "/readyz",
    "/auth/",
    "/.well-known/",
    "/v1/openapi.json",
    "/v1/errors/",
)
_ABOUT: Final = (
    "Every answer that is no success is a problem (RFC 9457) with a stable `code`. Send"
    " `Idempotency-Key` with acts that may be sent again, and `If-Match` with acts that"
    " depend on what you have seen. Lists have `filter`, `cursor` and `limit`."
)
_REPEATED: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request with the same key is carried out once.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": 200,
        "pattern": "^[!-~]+$",
    },
}
_ACTS: Final = ("post", "put", "patch", "delete")


def describe(app: FastAPI) -> None:
    """Let an app write this document."""

    def write() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = document_of(app)
        return app.openapi_schema

    app.openapi = write  # type: ignore[method-assign]


def document_of(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an app."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=_ABOUT,
        routes=app.routes,
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    components["securitySchemes"] = {
        "key": {
            "type": "http",
            "scheme": "bearer",
            "description": "A key: acc_...",
        }
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _describe(path, method, operation)
    return document


def _describe(path: str, method: str, operation: dict[str, Any]) -> None:
    is_open = path.startswith(_OPEN)
    if not is_open:
        operation["security"] = [{"key": []}]
    if method in _ACTS and not is_open:
        operation.setdefault("parameters", []).append(_REPEATED)
    elif str(int(HTTPStatus.OK)) in operation["responses"] and not is_open:
        operation["responses"][str(int(HTTPStatus.NOT_MODIFIED))] = {
            "description": "You have it already (If-None-Match)."
        }
