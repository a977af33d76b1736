"""Who may use the server: keys, their roles, scopes, bounds, ends; and its limits."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from accordance.project.server_settings import ServerSettings
from accordance.server.rate_limits import Buckets
from accordance.service.project import Project
from accordance.service.verification import verify
from tests.messages import small_plan
from tests.prepared import PreparedSqlite
from tests.server.conftest import new_project
from tests.server.stage import Served, serving
from tests.service.conftest import brings


def test_a_key_is_shown_once_and_kept_as_a_hash(admin: httpx.Client) -> None:
    """The list has its id and beginning; the chain says who made and revoked it."""
    made = admin.post("/v1/keys", json={"name": "ci", "role": "viewer"}).json()
    listed = admin.get("/v1/keys").json()["items"]
    entry = next(key for key in listed if key["key_id"] == made["key_id"])

    assert made["key"].startswith(entry["prefix"])
    assert "key" not in entry
    events = admin.get("/v1/events", params={"filter": "kind:key_made text:ci"}).json()
    assert [event["payload"]["by"] for event in events["items"]] == ["admin"]


def test_a_revoked_key_is_refused(served: Served, admin: httpx.Client) -> None:
    """At once by the server that revoked it."""
    made = admin.post("/v1/keys", json={"name": "ci", "role": "viewer"}).json()
    with served.client(made["key"]) as client:
        assert client.get("/v1/me").json()["rights"] == ["check", "read"]
        admin.post(f"/v1/keys/{made['key_id']}/revoke").raise_for_status()
        answer = client.get("/v1/me")
    assert answer.status_code == 401
    assert answer.json()["code"] == "not-authenticated"


def test_keys_are_sealed(served: Served, project: Project) -> None:
    """`verify` holds the rows of keys to the chain."""
    served.key("viewer")
    assert verify(project).holds


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer x", "Basic YTpi", f"Bearer acc_aaaaaaaa_{'x' * 40}"],
    ids=["none", "no key", "no form of ours", "another scheme", "an unknown one"],
)
def test_without_a_key_that_holds(served: Served, header: str) -> None:
    """There is a problem with the way out, and a challenge."""
    headers = {"Authorization": header} if header else {}
    with served.client() as client:
        answer = client.get("/v1/plans", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_expired_key(served: Served) -> None:
    """A key may hold for a moment only."""
    with served.client(served.key("viewer", days=1e-9)) as client:
        assert client.get("/v1/me").status_code == 401


def test_scopes_narrow_a_role(served: Served, admin: httpx.Client) -> None:
    """A key has the named rights of its role, and no others can be named."""
    with served.client(served.key("operator", scopes=["read"])) as client:
        assert client.get("/v1/plans").status_code == 200
        refused = client.post("/v1/plans/P-1/pause", json={})
    assert refused.status_code == 403
    assert refused.json()["code"] == "not-allowed"
    wanted = {"name": "x", "role": "viewer", "scopes": ["manage"]}
    assert admin.post("/v1/keys", json=wanted).status_code == 403


def test_another_tenants_key_sees_nothing(
    tmp_path: Path, prepared_sqlite: PreparedSqlite, project: Project
) -> None:
    """The same ids lead nowhere, and naming the other project does not help."""
    other = new_project(tmp_path / "other", prepared_sqlite)
    with serving(project, other) as served:
        mine = served.client(served.key("admin", "one"))
        theirs = served.client(served.key("admin", "two"))
        plan = mine.get("/v1/plans").json()["items"][0]["plan_id"]
        assert theirs.get("/v1/plans").json()["items"] == []
        assert theirs.get(f"/v1/plans/{plan}").status_code == 404
        assert theirs.get("/v1/tasks/a").status_code == 404
        assert (
            theirs.get("/v1/events", params={"filter": "-kind:key_made"}).json()[
                "items"
            ]
            == []
        )
        headers = {"Accordance-Project": "one"}
        assert theirs.get("/v1/plans", headers=headers).status_code == 403
        mine.close()
        theirs.close()
    other.ledger.close()


# -- agents


def test_an_agent_is_bound_to_its_tasks(served: Served) -> None:
    """It gets, sees and hands in its own task; there is no other for it."""
    with served.client(served.key("agent", tasks=("b",))) as client:
        assert client.get("/v1/tasks/b").status_code == 200
        assert client.get("/v1/tasks/a").status_code == 404
        assert client.get("/v1/tasks").status_code == 403
        taken = client.post("/v1/tasks/next", json={"any_task": True}).json()
        refused = client.post("/v1/tasks/a/submit", json={"task_id": "a"})
    assert taken["task"] is None  # b waits for a
    assert refused.status_code == 404


def test_an_agent_is_bound_to_its_contracts(served: Served) -> None:
    """Messages of another contract are refused before they are kept."""
    key = served.key("agent", contracts=("xiaojing_review_v1",))
    with served.client(key) as client:
        message = {"schema_version": "xiaobo_action_v1", "task_id": "a"}
        answer = client.post("/v1/tasks/a/submit", json=message)
    assert answer.status_code == 403
    assert "xiaojing_review_v1" in answer.json()["detail"]


# -- limits


def test_a_bucket_fills_again() -> None:
    """Two at once, then one every half second."""
    moments = iter([0.0, 0.0, 0.0, 0.5, 0.5])
    buckets = Buckets(2, 2, lambda: next(moments))
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0.5, 0, 0.5]


def test_too_many_requests(project: Project) -> None:
    """Are answered with 429, each key by itself."""
    settings = ServerSettings(requests_per_second=1, burst=3)
    with serving(project, settings=settings) as served:
        served.state.buckets.clock = lambda: 0.0
        hasty = served.client(served.key("viewer"))
        calm = served.client(served.key("viewer"))
        statuses = [hasty.get("/v1/me").status_code for _ in range(5)]
        assert statuses[:3] == [200, 200, 200]
        assert statuses[-1] == 429
        assert calm.get("/v1/me").status_code == 200
        hasty.close()
        calm.close()


def test_strangers_are_slowed_down(served: Served) -> None:
    """Guessing keys ends in 429."""
    served.state.strangers.clock = lambda: 0.0
    with served.client() as client:
        statuses = {client.get("/v1/me").status_code for _ in range(130)}
    assert statuses == {401, 429}


def test_a_body_that_is_too_large(project: Project) -> None:
    """Is refused by its length, and while it is read."""
    settings = ServerSettings(largest_request_mb=1)
    with serving(project, settings=settings) as served:
        client = served.client(served.key("viewer"))
        large = b"x" * (2 << 20)
        headers = {"Content-Type": "text/plain"}
        declared = client.post("/v1/check", content=large, headers=headers)
        pieces = (large[at : at + 65536] for at in range(0, len(large), 65536))
        streamed = client.post("/v1/check", content=pieces, headers=headers)
        client.close()
    assert declared.status_code == streamed.status_code == 413
    assert declared.json()["code"] == "request-too-large"


def test_two_projects_and_their_plans(
    tmp_path: Path, prepared_sqlite: PreparedSqlite, project: Project
) -> None:
    """Plans of the same id in two projects have nothing to do with each other."""
    other = new_project(tmp_path / "other", prepared_sqlite)
    brings(other, small_plan())
    with serving(project, other) as served:
        mine = served.client(served.key("operator", "one"))
        theirs = served.client(served.key("operator", "two"))
        plan = mine.get("/v1/plans").json()["items"][0]["plan_id"]
        mine.post(f"/v1/plans/{plan}/pause", json={}).raise_for_status()
        assert mine.get(f"/v1/plans/{plan}").json()["state"] == "PAUSED"
        assert theirs.get(f"/v1/plans/{plan}").json()["state"] == "ACTIVE"
        mine.close()
        theirs.close()
    other.ledger.close()
