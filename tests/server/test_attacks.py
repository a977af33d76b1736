"""What an attacker tries who knows the server: each attempt is refused, or comes to nothing."""

from __future__ import annotations

import base64
import contextlib
import json
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
from a2a.types.a2a_pb2 import ListTasksRequest
from sqlalchemy import text

from accordance.cli.doors import open_doors
from accordance.domain.access import RIGHTS, Identity, Role
from accordance.project.server_settings import ServerSettings
from accordance.server.tenants import OneOffToken
from accordance.service.project import Project
from accordance.store.sql import SqlLedger
from tests.server.a2a_client import talking
from tests.server.mcp_agent import connected, product, running
from tests.server.stage import Served, serving
from tests.server.test_runs import until
from tests.server.test_webhooks import ask_person

ALLOWED = ServerSettings(private_webhooks=True, requests_per_second=1000, burst=1000)
ONE_OFF = "acc_aaaaaaaa_of-this-process"


def refuse(line: str) -> None:
    """No door stays shut here."""
    raise AssertionError(line)


@pytest.fixture
def door(project: Project) -> Iterator[Served]:
    """The project as `accordance serve` serves it: with a key for this run."""
    settings = ServerSettings(
        private_webhooks=True, requests_per_second=10_000, burst=10_000
    )
    identity = Identity(name="me", role=Role.ADMIN, rights=RIGHTS[Role.ADMIN])
    with serving(project, settings=settings, mounts=open_doors(refuse)) as served:
        served.state.tenants.one_off = OneOffToken(ONE_OFF, identity)
        yield served


# -- without a key


def test_a_key_of_any_characters_is_unknown(door: Served) -> None:
    """However it comes: it is compared with the key for this run, too."""
    strange = "acc_é"
    latin = strange.encode("latin-1")
    as_bearer = {b"Authorization": b"Bearer " + latin}
    as_cookie = {b"Cookie": b"accordance_session=" + latin}
    with door.client() as client:
        answers = [
            client.get("/v1/plans", headers=as_bearer),
            client.get("/v1/plans", headers=as_cookie),
            client.post("/auth/session", json={"key": strange}),
            client.post("/lite/login", data={"key": strange}),
            client.post("/mcp", headers=as_bearer),
        ]
    assert [answer.status_code for answer in answers] == [401] * 5


def _fields(count: int) -> bytes:
    part = b'--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nx\r\n'
    return part * count + b"--b--\r\n"


_FILE = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n--b--\r\n'
_MULTIPART = "multipart/form-data; boundary=b"


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (_MULTIPART, _fields(10_000)),
        (_MULTIPART, b"no form"),
        (_MULTIPART, _FILE),
        ("multipart/form-data", _fields(1)),
        ("application/x-www-form-urlencoded", b"a=1&" * 1000),
    ],
    ids=["10,000 parts", "no form", "a file", "no boundary", "1,000 fields"],
)
def test_a_form_that_is_none(door: Served, kind: str, body: bytes) -> None:
    """It is refused as a page; the log has no fault of the server."""
    with door.client() as client:
        answer = client.post(
            "/lite/login", content=body, headers={"Content-Type": kind}
        )
    assert answer.status_code == 422
    assert "This did not work" in answer.text


def test_a_strangers_upload_is_not_read(door: Served) -> None:
    """A made-up session with its right token does not open a form with files."""
    with door.client() as client:
        client.cookies.set("accordance_session", "made-up")
        answer = client.post(
            "/lite/inbox/1", content=b"no form", headers={"Content-Type": _MULTIPART}
        )
    assert answer.status_code == 401


# -- with the ledger


def test_a_key_is_in_no_kept_reply(door: Served, project: Project) -> None:
    """The request that made it is repeatable, and yet the ledger has its hash alone."""
    headers = {"Idempotency-Key": "k-1"}
    wanted = {"name": "ci", "role": "viewer"}
    with door.client(ONE_OFF) as client:
        made = client.post("/v1/keys", json=wanted, headers=headers)
        again = client.post("/v1/keys", json=wanted, headers=headers)
        keys = client.get("/v1/keys").json()["items"]

    assert made.status_code == 201
    assert (again.status_code, again.json()["code"]) == (409, "shown-once")
    assert made.json()["key_id"] in again.json()["detail"]
    assert len(keys) == 1
    assert isinstance(project.ledger, SqlLedger)
    with project.ledger.engine.connect() as connection:
        (reply,) = connection.execute(text("SELECT reply FROM kept_replies")).scalars()
    body = base64.b64decode(json.loads(reply)["body"])
    assert made.json()["key"].encode() not in body


# -- with the key of an agent that is bound to another task


def test_two_agents_of_a_name_are_bound_apart(door: Served, project: Project) -> None:
    """The tasks of an agent are not those of its namesake, through any door."""
    free = door.key("agent", name="robot")
    bound = door.key("agent", name="robot", tasks=("b",))

    async def act() -> None:
        async with connected(door.url, bound) as agent:
            for message in (product("a"), json.dumps(product("a"))):
                assert "'a'" in await agent.error("submit", message=message)
        async with talking(door, bound) as agent:
            assert not (await agent.list_tasks(ListTasksRequest())).tasks
        async with talking(door, free) as agent:
            (task,) = (await agent.list_tasks(ListTasksRequest())).tasks
            assert task.id == "a"

    with door.client(free) as client:
        taken = client.post("/v1/tasks/next", json={}).json()
    assert taken["task"]["task_id"] == "a"
    with door.client(bound) as client:
        nothing = client.post("/v1/tasks/next", json={}).json()
        assert client.get("/v1/tasks/a").status_code == 404
    assert (nothing["task"], nothing["yours"]) == (None, [])
    running(act)


# -- with a target for notifications


@contextlib.contextmanager
def dripping() -> Iterator[str]:
    """A target that sends a byte of its answer now and then, for ever."""
    over = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            connection.sendall(b"HTTP/1.1 204 No Content\r\nX: ")
            while not over.wait(0.05):
                connection.sendall(b"x")

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}/hook"
        finally:
            over.set()


def _first_attempt(client: httpx.Client, url: str) -> str:
    """Let a target be told; return why it was not."""
    hook = client.post("/v1/webhooks", json={"url": url}).json()["webhook_id"]
    ask_person(client)
    path = f"/v1/webhooks/{hook}/deliveries"
    (failed,) = until(
        lambda: client.get(path).json()["items"],
        lambda items: bool(items) and items[0]["attempts"] == 1,
    )
    assert failed["state"] == "waiting"
    return str(failed["error"])


def test_a_target_that_drips_is_given_up(door: Served) -> None:
    """It has its seconds for the whole answer, not for each byte."""
    with dripping() as url, door.client(ONE_OFF) as client:
        door.state.senders[0].seconds = 0.5
        assert _first_attempt(client, url) == "TimeoutError"


def test_a_host_that_is_no_name(door: Served) -> None:
    """The resolver knows it, HTTP does not: the failure is in the log of deliveries."""
    with door.client(ONE_OFF) as client:
        assert _first_attempt(client, "http://ｌocalhost:9/hook")
