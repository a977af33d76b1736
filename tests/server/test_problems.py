"""Whatever is wrong with a request, its answer is a documented problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from accordance.errors import AccordanceError
from accordance.server import problems
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.server.conftest import new_project
from tests.server.stage import Served, serving
from tests.service.conftest import brings

CASES: list[tuple[str, str, dict[str, Any], int, str]] = [
    ("GET", "/v1/nowhere", {}, 404, "no-such-route"),
    ("GET", "/nowhere", {}, 404, "no-such-route"),
    ("DELETE", "/v1/plans", {}, 405, "method-not-allowed"),
    ("GET", "/v1/plans/none", {}, 404, "not-found"),
    ("GET", "/v1/tasks/none", {}, 404, "not-found"),
    ("GET", "/v1/inbox/999", {}, 404, "not-found"),
    ("GET", "/v1/contracts/none", {}, 404, "unknown-contract"),
    ("GET", "/v1/schemas/plan?dialect=x", {}, 400, "unknown-dialect"),
    ("GET", "/v1/plans?filter=colour:red", {}, 400, "invalid-filter"),
    ("GET", "/v1/plans?limit=0", {}, 422, "invalid-request"),
    ("GET", "/v1/plans?limit=many", {}, 422, "invalid-request"),
    ("GET", "/v1/plans?cursor=x", {}, 400, "invalid-cursor"),
    ("GET", "/v1/tasks/a/diff", {}, 404, "no-evidence"),
    ("GET", "/v1/errors/none", {}, 404, "unknown-code"),
    ("POST", "/v1/keys", {"json": {"name": "x"}}, 422, "invalid-request"),
    ("POST", "/v1/keys", {"json": [1]}, 422, "invalid-request"),
    (
        "POST",
        "/v1/keys",
        {"json": {"name": "x", "role": "god"}},
        422,
        "invalid-request",
    ),
    ("POST", "/v1/keys", {"data": {"name": "x"}}, 415, "unsupported-media-type"),
    (
        "POST",
        "/v1/keys",
        {"content": b"{", "headers": {"Content-Type": "application/json"}},
        422,
        "invalid-request",
    ),
    ("POST", "/v1/plans", {"json": {"a": 1}}, 422, "invalid-plan-file"),
    ("POST", "/v1/plans", {"json": {"plan": {}, "nodes": []}}, 422, "plan-rejected"),
    ("POST", "/v1/tasks/b/submit", {"json": {}}, 409, "message-refused"),
    ("POST", "/v1/tasks/a/retry", {"json": {}}, 409, "unfit-task-state"),
    ("POST", "/v1/tasks/a/heartbeat", {"json": {"attempt": 1}}, 409, "conflict"),
    ("POST", "/v1/runs/none/stop", {}, 404, "not-found"),
    ("POST", "/v1/keys/none%00/revoke", {}, 404, "not-found"),
    ("POST", "/v1/webhooks/none%00/remove", {}, 404, "not-found"),
    ("POST", "/v1/deliveries/none%00/redeliver", {}, 404, "not-found"),
]


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, prepared_sqlite: PreparedSqlite
) -> Iterator[Served]:
    """A server for all of these tests: none of them changes anything."""
    project = new_project(tmp_path_factory.mktemp("home"), prepared_sqlite)
    brings(project, small_plan())
    with serving(project) as served:
        yield served
    project.ledger.close()


@pytest.mark.parametrize(("method", "path", "sent", "status", "code"), CASES)
def test_bad_requests(
    admin: httpx.Client,
    method: str,
    path: str,
    sent: dict[str, Any],
    status: int,
    code: str,
) -> None:
    """Each gets its status, its code, and a page for it."""
    answer = admin.request(method, path, **sent)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status
    page = admin.get(answer.json()["type"])
    assert page.json()["code"] == code


def test_a_rejected_plan_lists_its_violations(admin: httpx.Client) -> None:
    """All that is wrong comes at once, as from `check`."""
    answer = admin.post("/v1/plans", json={"plan": {}, "nodes": [], "edges": []})
    paths = {violation["path"] for violation in answer.json()["violations"]}
    assert "$.plan.title" in paths


def test_every_answer_has_its_headers(served: Served) -> None:
    """Nothing of this server is ever shown inside another page, or guessed."""
    with served.client() as client:
        for path in ("/livez", "/nowhere", "/v1/plans"):
            headers = client.get(path).headers
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"


def test_every_error_has_a_status() -> None:
    """Every code of our own has one that HTTP knows, and codes named here exist."""
    known = {error.code for error in _below(AccordanceError)}
    assert set(problems.OWN_STATUSES) <= known
    assert {problems.status_of(error) for error in _below(AccordanceError)} <= {
        *problems.STATUSES.values(),
        *problems.OWN_STATUSES.values(),
    }


def _below(error: type[AccordanceError]) -> list[type[AccordanceError]]:
    children = error.__subclasses__()
    return [*children, *(each for child in children for each in _below(child))]


def test_ready_or_not(served: Served) -> None:
    """A server that is about to end takes no further requests from a balancer."""
    with served.client() as client:
        assert client.get("/readyz").json() == {"status": "ready", "projects": 1}
        served.state.stopping.set()
        assert client.get("/readyz").status_code == 503
        assert client.get("/livez").status_code == 200
        served.state.stopping.clear()
