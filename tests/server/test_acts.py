"""What is done through the API: once, by somebody, to what they have seen."""

from __future__ import annotations

import io
import threading
import zipfile

import httpx
import pytest

from accordance.service import kept_replies
from accordance.service.project import Project
from accordance.store.kept_replies import RepliesInLedger
from tests.messages import small_plan
from tests.server.stage import Served, serving
from tests.service.conftest import brings


def the_plan(client: httpx.Client) -> str:
    """The id of the only plan."""
    plan_id: str = client.get("/v1/plans").json()["items"][0]["plan_id"]
    return plan_id


# -- sent again


def test_the_same_request_again(admin: httpx.Client) -> None:
    """Gets the same answer, and is carried out once."""
    headers = {"Idempotency-Key": "k-1"}
    body = {"resume": False}
    first = admin.post("/v1/tasks/next", json=body, headers=headers)
    again = admin.post("/v1/tasks/next", json=body, headers=headers)
    another = admin.post("/v1/tasks/next", json=body)
    assert first.json()["task"]["task_id"] == "a"
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert another.json()["task"] is None


def test_another_request_with_the_same_key(admin: httpx.Client) -> None:
    """Is refused: it would get the answer to something else."""
    headers = {"Idempotency-Key": "k-1"}
    admin.post("/v1/keys", json={"name": "a", "role": "viewer"}, headers=headers)
    other = admin.post(
        "/v1/keys", json={"name": "b", "role": "viewer"}, headers=headers
    )
    assert (other.status_code, other.json()["code"]) == (422, "reused-request-key")
    elsewhere = admin.post("/v1/runs", json={"plan": "x"}, headers=headers)
    assert elsewhere.json()["code"] == "reused-request-key"


def test_a_request_that_is_still_being_carried_out(
    admin: httpx.Client, project: Project
) -> None:
    """Is a conflict, until its server is known to be gone."""
    key_id = admin.get("/v1/keys").json()["items"][0]["key_id"]
    kept_replies.claim(project, key_id, "k-1")
    headers = {"Idempotency-Key": "k-1"}
    body = {"name": "ci", "role": "viewer"}
    meanwhile = admin.post("/v1/keys", json=body, headers=headers)
    assert (meanwhile.status_code, meanwhile.json()["code"]) == (409, "still-running")

    rows = RepliesInLedger(project.ledger.engine)  # type: ignore[attr-defined]
    assert rows.claim(key_id, "k-1", now="9", stale="9") is None  # taken over
    assert kept_replies.forget_old(project) == 0


def test_keys_of_requests_belong_to_their_caller(served: Served) -> None:
    """Two callers may happen to use the same one."""
    headers = {"Idempotency-Key": "k-1"}
    names = []
    for name in ("ada", "grace"):
        with served.client(served.key("admin", name=name)) as client:
            body = {"name": f"of {name}", "role": "viewer"}
            names.append(client.post("/v1/keys", json=body, headers=headers).json())
    assert [key["name"] for key in names] == ["of ada", "of grace"]


def test_a_failed_request_may_be_sent_again(
    admin: httpx.Client, project: Project
) -> None:
    """A problem that is the caller's is kept; after a fault of ours it is tried anew."""
    headers = {"Idempotency-Key": "k-1"}
    missing = admin.post("/v1/plans/none/pause", json={}, headers=headers)
    again = admin.post("/v1/plans/none/pause", json={}, headers=headers)
    assert missing.status_code == again.status_code == 404
    assert again.headers["idempotency-replayed"] == "true"
    assert missing.json()["instance"] == again.json()["instance"]


# -- what was seen


def test_an_amendment_of_what_was_seen(admin: httpx.Client) -> None:
    """The second of two operators with the same view is refused."""
    plan = the_plan(admin)
    shown = admin.get(f"/v1/plans/{plan}/document")
    document = shown.json()
    document["nodes"][-1]["title"] = "Another title"
    headers = {"If-Match": shown.headers["etag"]}
    path = f"/v1/plans/{plan}/amend"

    looked = admin.post(path, json=document, headers=headers, params={"dry_run": True})
    first = admin.post(path, json=document, headers=headers)
    second = admin.post(path, json=document, headers=headers)

    assert (looked.json()["is_done"], first.json()["is_done"]) == (False, True)
    assert (second.status_code, second.json()["code"]) == (412, "stale-view")
    changed = admin.get(f"/v1/plans/{plan}/document")
    assert changed.headers["etag"] == '"revision-2"'


def test_what_has_not_changed_is_not_sent_again(admin: httpx.Client) -> None:
    """Every view has an ETag."""
    for path in (
        "/v1/plans",
        f"/v1/plans/{the_plan(admin)}",
        "/v1/tasks/a",
        "/v1/inbox",
    ):
        shown = admin.get(path)
        again = admin.get(path, headers={"If-None-Match": shown.headers["etag"]})
        assert (shown.status_code, again.status_code, again.content) == (200, 304, b"")


def test_pages(admin: httpx.Client) -> None:
    """Each has the cursor and a link to the next; together they are the whole list."""
    whole = [item["task_id"] for item in admin.get("/v1/tasks").json()["items"]]
    answer = admin.get("/v1/tasks", params={"limit": 1})
    walked = []
    while True:
        walked += [item["task_id"] for item in answer.json()["items"]]
        if "link" not in answer.headers:
            break
        answer = admin.get(answer.links["next"]["url"])
    assert walked == whole


# -- plans


def test_the_life_of_a_plan(empty: Project) -> None:
    """Imported as YAML, approved, paused, resumed, cancelled, archived: by the caller."""
    text = b"title: Bake\ntasks:\n  - Buy flour\n"
    with (
        serving(empty) as served,
        served.client(served.key("operator", name="ada")) as client,
    ):
        headers = {"Content-Type": "application/yaml"}
        previewed = client.post("/v1/plans/preview", content=text, headers=headers)
        made = client.post("/v1/plans", content=text, headers=headers)
        assert made.status_code == 201, (previewed.json(), made.json())
        path = made.headers["location"]
        again = client.post("/v1/plans", content=text, headers=headers)
        assert again.status_code == 200
        states = [made.json()["state"]]
        for act in ("approve", "pause", "resume", "cancel", "archive", "unarchive"):
            body: dict[str, str] | None = (
                {} if act in ("approve", "pause", "cancel") else None
            )
            answer = client.post(f"{path}/{act}", json=body)
            assert answer.status_code == 200, answer.json()
            states.append(answer.json()["state"])
        paused = client.get("/v1/events", params={"filter": "kind:plan_paused"})
    assert states == [
        "IN_REVIEW",
        "ACTIVE",
        "PAUSED",
        "ACTIVE",
        "CANCELLED",
        "ARCHIVED",
        "CANCELLED",
    ]
    assert paused.json()["items"][0]["payload"]["by"] == "ada"


def test_a_plan_as_everything(admin: httpx.Client) -> None:
    """Status, graph, picture, summary, lint, verdicts, events, archive."""
    plan = the_plan(admin)
    base = f"/v1/plans/{plan}"
    assert admin.get(f"{base}/status").json()["root"] == "PENDING"
    assert len(admin.get(f"{base}/graph").json()["nodes"]) == 3
    assert admin.get(f"{base}/graph.svg").text.startswith("<svg")
    assert admin.get(f"{base}/summary.md").text.startswith("#")
    assert admin.get(f"{base}/lint").json()["plan_id"] == plan
    assert admin.get(f"{base}/verdicts").json() == {"items": []}
    kinds = [event["kind"] for event in admin.get(f"{base}/events").json()["items"]]
    assert "PLAN_IMPORTED" in kinds
    archive = zipfile.ZipFile(io.BytesIO(admin.get(f"{base}/export").content))
    assert {"plan.json", "manifest.json"} <= set(archive.namelist())


# -- tasks


ACTION = {
    "schema_version": "xiaobo_action_v1",
    "task_id": "a",
    "result_type": "ARTIFACT",
    "artifact": {"name": "a", "format": "md", "content": "done"},
}


def test_a_task_from_its_lease_to_its_product(served: Served) -> None:
    """Taken up, kept for longer, handed in; a second worker gets nothing of it."""
    ada = served.client(served.key("operator", name="ada"))
    grace = served.client(served.key("operator", name="grace"))
    taken = ada.post("/v1/tasks/next", json={}).json()
    again = ada.post("/v1/tasks/next", json={}).json()
    other = grace.post("/v1/tasks/next", json={}).json()
    assert taken["task"]["task_id"] == again["task"]["task_id"] == "a"
    assert other["task"] is None
    assert taken["lease"]["holder"] == "ada"

    longer = ada.post("/v1/tasks/a/heartbeat", json={"attempt": 1, "seconds": 7200})
    assert longer.json()["until"] > taken["lease"]["until"]
    stolen = grace.post("/v1/tasks/a/submit", json=ACTION, params={"attempt": 1})
    assert (stolen.status_code, stolen.json()["code"]) == (409, "message-refused")
    done = ada.post("/v1/tasks/a/submit", json=ACTION, params={"attempt": 1})
    assert (done.json()["status"], done.json()["state"]) == (
        "accepted",
        "READY_TO_CHECK",
    )
    twice = ada.post("/v1/tasks/a/submit", json=ACTION, params={"attempt": 1})
    assert twice.json()["repeated"]

    listed = ada.get("/v1/tasks/a/evidence").json()
    assert listed["kind"] == "product"
    name = listed["files"][0]["name"]
    file = ada.get("/v1/tasks/a/evidence/file", params={"name": name})
    assert file.content == b"done"
    assert file.headers["content-disposition"].startswith("attachment")
    for bad in ("../../../accordance.toml", "/etc/passwd", ""):
        answer = ada.get("/v1/tasks/a/evidence/file", params={"name": bad})
        assert answer.status_code == 404
    ada.close()
    grace.close()


def test_a_message_that_breaks_its_contract_is_an_answer(served: Served) -> None:
    """The agent learns why; the message counts as an attempt, as ever."""
    with served.client(served.key("agent", name="ada")) as client:
        client.post("/v1/tasks/next", json={})
        answer = client.post("/v1/tasks/a/submit", json={"task_id": "a"}).json()
        assert answer["status"] == "rejected"
        assert answer["violations"]
        statistics = client.get("/v1/statistics")
        assert statistics.status_code == 403
    with served.client(served.key("viewer")) as viewer:
        failures = viewer.get("/v1/statistics").json()["failures"]
        assert {failure["agent"] for failure in failures} == {"ada"}


def test_a_question_and_its_answer(served: Served, admin: httpx.Client) -> None:
    """An agent asks, a person answers what they have seen, once."""
    with served.client(served.key("agent", name="ada")) as agent:
        agent.post("/v1/tasks/next", json={}).raise_for_status()
        asked = agent.post("/v1/tasks/a/ask", json={"attempt": 1, "question": "Which?"})
        assert asked.json()["state"] == "BLOCKED"
    question = admin.get("/v1/inbox").json()["items"][0]
    path = f"/v1/inbox/{question['question_id']}"
    tag = admin.get(path).headers["etag"]
    stale = admin.post(
        f"{path}/answer", json={"text": "this"}, headers={"If-Match": '"x"'}
    )
    done = admin.post(
        f"{path}/answer", json={"text": "this"}, headers={"If-Match": tag}
    )
    late = admin.post(f"{path}/answer", json={"text": "that"})
    assert (stale.status_code, done.status_code, late.status_code) == (412, 200, 409)
    assert late.json()["code"] == "already-answered"
    events = admin.get("/v1/events", params={"filter": "kind:question_answered"}).json()
    assert events["items"][0]["payload"]["by"] == "admin"


UPLOADS = [
    ("prices.csv", b"rye,1.20\n", 200),
    ("../../evil/prices.csv", b"rye,1.20\n", 200),
    ("C:\\temp\\prices.csv", b"rye,1.20\n", 200),
    ("prices.csv", b"\x7fELF....", 400),
    ("prices.csv", b"a\0b", 400),
    ("prices.pdf", b"not a pdf", 400),
]


@pytest.mark.parametrize(("name", "content", "status"), UPLOADS)
def test_uploads(empty: Project, name: str, content: bytes, status: int) -> None:
    """A file lands among the inputs under its plain name, or is refused."""
    brings(empty, small_plan())
    with serving(empty) as served, served.client(served.key("admin")) as client:
        client.post("/v1/tasks/next", json={}).raise_for_status()
        needs = {
            "schema_version": "xiaobo_action_v1",
            "task_id": "a",
            "result_type": "NEEDS_INPUT",
            "needs_input": {
                "required_docs": [
                    {
                        "name": "prices",
                        "description": "The prices",
                        "accepted_types": ["csv", "pdf"],
                        "suggested_path": "workspace/inputs/prices/",
                    }
                ]
            },
        }
        asked = client.post("/v1/tasks/a/submit", json=needs)
        assert asked.json()["status"] == "accepted", asked.json()
        question = client.get("/v1/inbox").json()["items"][0]["question_id"]
        answer = client.post(
            f"/v1/inbox/{question}/upload", files=[("files", (name, content))]
        )
        assert answer.status_code == status, answer.json()
    home = empty.home.root
    kept = [path for path in home.rglob("*prices*") if path.is_file()]
    assert bool(kept) is (status == 200)
    assert all(empty.home.inputs in path.parents for path in kept)
    assert not (home.parent / "evil").exists()


def test_dead_letters_at_a_rate(served: Served, admin: httpx.Client) -> None:
    """Previewed, then requeued with a reason; what changed meanwhile is left out."""
    refused = admin.post(
        "/v1/dead-letters/requeue",
        json={
            "items": [{"id": f"t{n}", "seen_at": "x"} for n in range(100)],
            "reason": "mended",
            "per_second": 1,
        },
    )
    assert refused.json()["code"] == "invalid-request"
    taken = admin.post("/v1/tasks/next", json={}).json()
    assert taken["task"]["task_id"] == "a"
    admin.post(
        "/v1/tasks/a/ask", json={"attempt": 1, "question": "?"}
    ).raise_for_status()
    question = admin.get("/v1/inbox").json()["items"][0]["question_id"]
    admin.post(f"/v1/inbox/{question}/answer", json={"line": "give-up"})
    letters = admin.get("/v1/dead-letters").json()["items"]
    assert [letter["task_id"] for letter in letters] == ["a"]

    items = admin.get("/v1/dead-letters/preview").json()["items"]
    body = {"items": items, "reason": "mended", "per_second": 50}
    first = admin.post("/v1/dead-letters/requeue", json=body).json()
    second = admin.post("/v1/dead-letters/requeue", json=body).json()
    assert [item["id"] for item in first["done"]] == ["a"]
    assert [item["id"] for item in second["skipped"]] == ["a"]


def test_two_operators_at_once(served: Served) -> None:
    """Of two who decide the same thing, one does it and the other learns of it."""
    statuses: list[int] = []
    start = threading.Barrier(2)

    def pause(name: str) -> None:
        with served.client(served.key("operator", name=name)) as client:
            plan = the_plan(client)
            start.wait()
            answer = client.post(f"/v1/plans/{plan}/pause", json={})
            statuses.append(answer.status_code)

    threads = [threading.Thread(target=pause, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == [200, 409]
