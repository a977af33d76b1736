"""What the dashboard counts: attempts in time, verdicts and dead letters by reason."""

from __future__ import annotations

import httpx

from accordance.service import tasks
from accordance.service.project import Project
from tests.ledger.project import encoded, failing
from tests.messages import PLAN
from tests.service.test_task_pages import ANNA


def fail(project: Project, times: int) -> None:
    """Let task a fail so often."""
    for _ in range(times):
        tasks.take_task(project, ANNA)
        tasks.submit(project, encoded(failing("a")))


def test_attempts_in_time(admin: httpx.Client, project: Project) -> None:
    """Each with its begin, its end and its verdict; an open attempt has no end."""
    fail(project, 1)
    tasks.take_task(project, ANNA)
    timeline = admin.get(f"/v1/plans/{PLAN}/timeline").json()
    first, second = timeline["items"]
    assert (first["task_id"], first["attempt"], first["holder"]) == ("a", 1, "anna")
    assert first["began_at"] <= first["ended_at"] <= second["began_at"]
    assert (first["outcome"], first["reason_code"]) == ("RETRY", "LLM_FAILED")
    assert (second["ended_at"], second["outcome"]) == (None, None)
    assert timeline["left_out"] == 0
    assert timeline["marks"]


def test_verdicts_by_reason(admin: httpx.Client, project: Project) -> None:
    """With the number of tasks and an example; plans in a list have counts."""
    fail(project, 2)
    reasons = admin.get(f"/v1/plans/{PLAN}/reasons").json()
    assert reasons["verdicts"] == 2
    assert sum(reason["verdicts"] for reason in reasons["items"]) == 2
    assert all(reason["tasks"] == 1 for reason in reasons["items"])
    assert "it broke" in reasons["items"][0]["example"]
    (plan,) = admin.get("/v1/plans").json()["items"]
    assert sum(plan["states"].values()) == plan["nodes"]
    assert plan["open_questions"] == 1


def test_dead_letters_by_reason(admin: httpx.Client, project: Project) -> None:
    """A group is requeued by its own items."""
    assert admin.get("/v1/dead-letters/groups").json() == {"total": 0, "groups": []}
    fail(project, 2)
    question = admin.get("/v1/inbox").json()["items"][0]["question_id"]
    buried = admin.post(f"/v1/inbox/{question}/answer", json={"give_up": True})
    buried.raise_for_status()
    grouped = admin.get("/v1/dead-letters/groups").json()
    (group,) = grouped["groups"]
    assert (grouped["total"], group["count"], group["plans"]) == (1, 1, 1)
    assert group["reason_code"]
    body = {"items": group["items"], "reason": "again"}
    done = admin.post("/v1/dead-letters/requeue", json=body).json()["done"]
    assert [item["id"] for item in done] == ["a"]
