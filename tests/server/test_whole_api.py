"""The whole API: every route against every role, and against what nobody expects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from tools.make_docs import DOCS

from accordance.domain.access import RIGHTS, Right, Role
from accordance.project.server_settings import ServerSettings
from accordance.server.app import make_api
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.server.conftest import new_project
from tests.server.stage import Served, serving
from tests.service.conftest import brings

DOCUMENT = make_api().openapi()
EXAMPLES = int(os.environ.get("API_EXAMPLES", "4"))
"""Examples for each route; `make api` tries many."""

OPEN = (
    "/livez",
    "/readyz",
    "/v1/openapi.json",
    "/v1/errors/{code}",
    "/auth/",
    "/.well-known/",
)
RIGHT_OF: Mapping[str, Right | None] = {
    "GET /metrics": Right.READ,
    "GET /v1/meta": None,
    "GET /v1/me": None,
    "GET /v1/contracts": Right.CHECK,
    "GET /v1/contracts/{name}": Right.CHECK,
    "GET /v1/schemas/{name}": Right.CHECK,
    "POST /v1/check": Right.CHECK,
    "POST /v1/plans/{plan}/review": Right.WORK,
    "POST /v1/tasks/next": Right.WORK,
    "POST /v1/tasks/{task}/heartbeat": Right.WORK,
    "POST /v1/tasks/{task}/release": Right.WORK,
    "POST /v1/tasks/{task}/submit": Right.WORK,
    "POST /v1/tasks/{task}/review": Right.WORK,
    "POST /v1/tasks/{task}/ask": Right.WORK,
    "POST /v1/tasks/{task}/retry": Right.DECIDE,
    "POST /v1/tasks/{task}/cancel": Right.DECIDE,
    "POST /v1/task-retries": Right.DECIDE,
    "POST /v1/inbox/{question}/answer": Right.DECIDE,
    "POST /v1/inbox/{question}/upload": Right.DECIDE,
    "POST /v1/dead-letters/requeue": Right.DECIDE,
    "POST /v1/dead-letters/{task}/requeue": Right.DECIDE,
    "POST /v1/dead-letters/{task}/drop": Right.DECIDE,
    "POST /v1/runs": Right.RUN,
    "POST /v1/runs/{run}/stop": Right.RUN,
    "GET /v1/keys": Right.MANAGE,
    "POST /v1/keys": Right.MANAGE,
    "POST /v1/keys/{key_id}/revoke": Right.MANAGE,
    "GET /v1/webhooks": Right.MANAGE,
    "POST /v1/webhooks": Right.MANAGE,
    "POST /v1/webhooks/{webhook}/remove": Right.MANAGE,
    "GET /v1/webhooks/{webhook}/deliveries": Right.MANAGE,
    "POST /v1/deliveries/{delivery}/redeliver": Right.MANAGE,
}
"""The right that each route takes. Other GETs take `read`, other acts on plans `plan`."""
SEEN_BY_AGENTS = (
    "/v1/tasks/{task}",
    "/v1/tasks/{task}/verdicts",
    "/v1/tasks/{task}/diff",
    "/v1/tasks/{task}/diff/files",
    "/v1/tasks/{task}/diff/lines",
    "/v1/tasks/{task}/matrix",
    "/v1/tasks/{task}/reviews",
    "/v1/tasks/{task}/tests",
    "/v1/tasks/{task}/log",
    "/v1/tasks/{task}/judgement",
    "/v1/tasks/{task}/evidence",
    "/v1/tasks/{task}/evidence.zip",
    "/v1/tasks/{task}/evidence/file",
    "/v1/tasks/{task}/evidence/verification",
)
"""What whoever may work on a task sees of it."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every operation that takes a key."""
    for path, methods in DOCUMENT["paths"].items():
        if not path.startswith(OPEN):
            for method, operation in methods.items():
                yield method.upper(), path, operation


def may(role: Role, method: str, path: str) -> bool:
    """Whether a role may use a route."""
    rights = RIGHTS[role]
    if method == "GET" and path in SEEN_BY_AGENTS:
        return bool(rights & {Right.READ, Right.WORK})
    usual = Right.READ if method == "GET" else Right.PLAN
    right = RIGHT_OF.get(f"{method} {path}", usual)
    return right is None or right in rights


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, prepared_sqlite: PreparedSqlite
) -> Iterator[Served]:
    """A server for all of these tests."""
    project = new_project(tmp_path_factory.mktemp("home"), prepared_sqlite)
    brings(project, small_plan())
    free = ServerSettings(requests_per_second=100_000, burst=100_000)
    with serving(project, settings=free) as served:
        yield served
    project.ledger.close()


def call(client: httpx.Client, method: str, path: str, operation: Any) -> int:
    """Call a route with names that lead nowhere; return the status."""
    concrete = path
    for name in ("plan", "task", "question", "name", "key_id", "run", "webhook"):
        concrete = concrete.replace(f"{{{name}}}", "nowhere")
    concrete = concrete.replace("{delivery}", "nowhere")
    sent: dict[str, Any] = {}
    if path == "/v1/events/stream":
        sent["params"] = {"filter": "colour:red"}  # a stream would not end
    body = operation.get("requestBody", {}).get("content", {})
    if "multipart/form-data" in body:
        sent["files"] = [("files", ("a.txt", b"a"))]
    elif body:
        sent["json"] = {}
    return client.request(method, concrete, **sent).status_code


@pytest.mark.parametrize("role", list(Role))
def test_every_role_against_every_route(served: Served, role: Role) -> None:
    """403 exactly where a role has not the right; whatever else is wrong comes later."""
    wrong = []
    with served.client(served.key(role.value)) as client:
        for method, path, operation in operations():
            status = call(client, method, path, operation)
            is_invalid = status == 422 and "requestBody" in operation
            is_right = (status != 403) is may(role, method, path)
            if not is_right and not (is_invalid and not may(role, method, path)):
                wrong.append((method, path, status))
            assert status < 500, (method, path, status)
    assert wrong == []


def test_no_route_is_open(served: Served) -> None:
    """Without a key every one of them answers 401, or 422 for the body."""
    served.state.strangers.per_second = served.state.strangers.burst = 1e9
    with served.client() as client:
        statuses = {
            (method, path): call(client, method, path, operation)
            for method, path, operation in operations()
        }
    others = {route: status for route, status in statuses.items() if status != 401}
    assert all(status == 422 for status in others.values()), others


def test_the_document_is_up_to_date() -> None:
    """`make docs` writes it; a change of the API is a change of this file."""
    text = (DOCS / "openapi.json").read_text(encoding="utf-8")
    assert json.loads(text) == json.loads(json.dumps(DOCUMENT)), "run make docs"


# -- what nobody expects

CHECKS = [
    schemathesis.checks.not_a_server_error,
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]
KEYS: dict[str, str] = {}
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.mark.filterwarnings("ignore")  # of schemathesis and what it is built on
@schema.exclude(path="/v1/events/stream").exclude(path_regex="^/auth/").parametrize()
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_no_request_is_answered_wrongly(case: Any, served: Served) -> None:
    """No 5xx, no status, type or shape that the document does not have."""
    key = KEYS.setdefault(served.url, served.key("admin"))
    headers = {"Authorization": f"Bearer {key}"}
    response = case.call(base_url=served.url, headers=headers)
    case.validate_response(response, checks=CHECKS)
