"""What goes wrong around a server: clients that leave, databases that go away, disks that fill up.

Nothing is lost, nothing is done twice, it recovers by itself, and every answer is a documented problem.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from accordance.project.home import Home
from accordance.server import event_stream
from accordance.server.event_feed import FeedEvent, wake
from accordance.server.serving import bound_socket
from accordance.service.events import EventReader
from accordance.service.project import Project, open_project
from tests.chaos.proxy import Proxy
from tests.messages import edge, node, plan, small_plan
from tests.prepared import PreparedSqlite
from tests.server.stage import LIMIT, Served, serving
from tests.server.test_runs import until
from tests.service.conftest import brings

TASKS = 40


def action(task: str) -> bytes:
    """A product of a task."""
    artifact = {"name": task, "format": "md", "content": "done"}
    message = {
        "schema_version": "xiaobo_action_v1",
        "task_id": task,
        "result_type": "ARTIFACT",
        "artifact": artifact,
    }
    return json.dumps(message).encode()


def messages_of(project: Project) -> Counter[str]:
    """How many messages each task has taken, by the chain."""
    events = EventReader(project, "kind:MESSAGE").news()
    return Counter(event.task_id or "" for event in events)


def must_be_problem(answer: httpx.Response) -> None:
    """An error has its code, and a page for it."""
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["type"] == f"/v1/errors/{problem['code']}"
    assert answer.status_code == problem["status"] != 500, problem


def raw_request(
    served: Served, key: str, path: str, body: bytes, **headers: str
) -> bytes:
    """A request as it goes over the wire."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {key}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def connection_to(served: Served) -> socket.socket:
    """A plain connection."""
    host, _, port = served.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=LIMIT)


# -- clients


def test_an_address_that_is_printed_may_be_used() -> None:
    """Connections wait for the server from the moment on at which it has its port."""
    with contextlib.closing(bound_socket("127.0.0.1", 0)) as listening:
        socket.create_connection(listening.getsockname(), timeout=LIMIT).close()


def test_answers_are_sent_without_delay() -> None:
    """The body of an answer does not wait until the client has acknowledged its head."""

    async def delays() -> int:
        with contextlib.closing(bound_socket("127.0.0.1", 0)) as listening:
            accepted: asyncio.Future[asyncio.StreamWriter] = asyncio.Future()
            server = await asyncio.start_server(
                lambda _, writer: accepted.set_result(writer), sock=listening
            )
            address = listening.getsockname()
            async with server:
                _, client = await asyncio.open_connection(*address)
                answering = await accepted
                connection = answering.get_extra_info("socket")
                no_delay = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
                answering.close()
                client.close()
            return int(no_delay)

    assert asyncio.run(delays()) == 1


@pytest.mark.parametrize("request_key", [None, "request-1"])
def test_a_client_that_leaves_within_its_request(
    served: Served,
    project: Project,
    caplog: pytest.LogCaptureFixture,
    request_key: str | None,
) -> None:
    """Half a message is no message: nothing happens, and the same may be sent again."""
    key = served.key("admin")
    headers = {"Idempotency_Key": request_key} if request_key else {}
    path = "/v1/tasks/a/submit?any_holder=true"
    whole = raw_request(served, key, path, action("a"), **headers)
    with (
        caplog.at_level(logging.WARNING, "accordance.server"),
        connection_to(served) as client,
    ):
        client.sendall(whole[:-10])

    with served.client(key) as other:
        again = until(
            lambda: other.post(
                path,
                content=action("a"),
                headers={
                    "content-type": "application/json",
                    **{
                        name.replace("_", "-"): value for name, value in headers.items()
                    },
                },
            ),
            lambda answer: answer.status_code != 409,  # the first has not ended yet
        )
    assert again.status_code == 200
    assert again.json()["status"] == "accepted"
    assert messages_of(project) == {"a": 1}
    assert not caplog.records


@pytest.mark.parametrize("waits", [True, False], ids=["done", "under way"])
def test_a_client_that_leaves_before_its_answer(
    served: Served, project: Project, waits: bool
) -> None:
    """What it asked for is done once at most; asking again gives the answer it missed."""
    key = served.key("admin")
    path = "/v1/tasks/a/submit?any_holder=true"
    with connection_to(served) as client:
        client.sendall(raw_request(served, key, path, action("a")))
        if waits:
            until(lambda: messages_of(project), lambda taken: taken == {"a": 1})

    with served.client(key) as other:
        headers = {"content-type": "application/json"}
        again = other.post(path, content=action("a"), headers=headers)
    assert again.json()["status"] == "accepted"
    assert messages_of(project) == {"a": 1}


def test_a_reader_of_events_that_reads_nothing(
    served: Served, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up; another reader gets everything meanwhile."""
    monkeypatch.setattr(event_stream, "SEND_SECONDS", 0.5)
    key = served.key("operator")
    feed = served.state.feeds.of("one", project)
    request = f"GET /v1/events/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n"
    with connection_to(served) as lazy, served.client(key) as client:
        lazy.sendall(request.encode())
        assert lazy.recv(15) == b"HTTP/1.1 200 OK"
        (reader,) = feed._readers
        with client.stream("GET", "/v1/events/stream") as following:
            reader.accept(large_events(project))
            wake([reader])
            until(lambda: feed.readers, lambda count: count == 1)
            plan_id = client.get("/v1/plans").json()["items"][0]["plan_id"]
            client.post(f"/v1/plans/{plan_id}/pause", json={}).raise_for_status()
            lines = following.iter_lines()
            assert any(line == "event: PLAN_PAUSED" for line in lines)


def large_events(project: Project) -> list[FeedEvent]:
    """Events that fill every buffer between a server and its client."""
    (entry, *_), _ = EventReader(project).next_page()
    events = [FeedEvent(entry) for _ in range(32)]
    for number, event in enumerate(events):
        event.number = 1_000 + number
        event.__dict__["text"] = b": %s\n\n" % (b"x" * (1 << 20))
    return events


# -- a database that is away


def wide_plan() -> dict[str, Any]:
    """A plan of tasks that can all begin."""
    names = [f"t{number:03}" for number in range(TASKS)]
    nodes = [node("root", "GOAL"), *(node(name) for name in names)]
    return plan(nodes, [edge("root", name) for name in names])


@pytest.fixture
def behind_a_door(
    tmp_path: Path, postgresql_url: str
) -> Iterator[tuple[Project, Proxy]]:
    """A project on PostgreSQL, which is reached through a door that can be cut."""
    parts = urlsplit(postgresql_url)
    folder = parse_qs(parts.query)["host"][0]
    with Proxy(1) as proxy:
        proxy.target(f"{folder}/.s.PGSQL.5432")
        user = parts.username or "postgres"
        place = f"postgresql://{user}@127.0.0.1:{proxy.ports[0]}{parts.path}"
        with open_project(tmp_path, place, create=True) as project:
            brings(project, wide_plan())
            yield project, proxy
            proxy.open(0)


class Agents:
    """Clients that hand in for tasks, each until it has an answer that is no fault of the server."""

    def __init__(self, served: Served) -> None:
        self.served = served
        self.key = served.key("admin")
        self.problems: Counter[str] = Counter()
        self.faults: list[str] = []
        self.taken: list[str] = []
        self._lock = threading.Lock()

    def hand_in(self, names: list[str]) -> None:
        """Hand in for some tasks, again and again."""
        pause = threading.Event()
        headers = {"content-type": "application/json"}
        with self.served.client(self.key) as client:
            for name in names:
                path = f"/v1/tasks/{name}/submit?any_holder=true"
                while True:
                    answer = client.post(path, content=action(name), headers=headers)
                    if self._is_final(answer):
                        break
                    pause.wait(0.05)  # as Retry-After asks, only sooner

    def _is_final(self, answer: httpx.Response) -> bool:
        with self._lock:
            if answer.status_code == 200:
                self.taken.append(answer.json()["status"])
                return True
            try:
                must_be_problem(answer)
            except (AssertionError, ValueError, KeyError) as fault:
                self.faults.append(f"{answer.status_code} {answer.text}: {fault}")
                return True
            self.problems[answer.json()["code"]] += 1
            assert answer.status_code in (409, 503)
            return False


@pytest.mark.parametrize("kind", ["cut", "stalled"])
def test_a_database_that_is_away_for_a_while(
    behind_a_door: tuple[Project, Proxy], kind: str
) -> None:
    """Under load: agents learn that it is, and every message counts once when it is back."""
    project, proxy = behind_a_door
    names = [f"t{number:03}" for number in range(TASKS)]
    with serving(project) as served:
        agents = Agents(served)
        follower = Follower(served, TASKS)
        threads = [
            threading.Thread(target=agents.hand_in, args=(names[at::4],))
            for at in range(4)
        ]
        for thread in [follower, *threads]:
            thread.start()
        until(lambda: len(agents.taken), lambda count: count > 4)
        if kind == "cut":
            proxy.cut(0)
            until(
                lambda: agents.problems.total() or agents.faults,
                bool,
            )
            with served.client() as client:
                assert client.get("/livez").status_code == 200
                ready = client.get("/readyz")
            assert ready.status_code == 503
            must_be_problem(ready)
        else:
            proxy.stall(0)
            with served.client() as client:
                assert client.get("/livez").status_code == 200
        proxy.open(0)
        for thread in [*threads, follower]:
            thread.join(LIMIT * 2)
            assert not thread.is_alive()

    assert not agents.faults
    assert agents.taken == ["accepted"] * TASKS
    assert messages_of(project) == dict.fromkeys(names, 1)
    assert sorted(follower.tasks) == names


class Follower(threading.Thread):
    """A client that follows messages, and resumes where its stream has ended."""

    def __init__(self, served: Served, wanted: int) -> None:
        super().__init__(daemon=True)
        self._served = served
        self._wanted = wanted
        self.tasks: list[str] = []

    def run(self) -> None:
        """Follow until as many have come as were wanted."""
        with self._served.client(self._served.key("viewer")) as client:
            after = 0
            while len(self.tasks) < self._wanted:
                params: dict[str, str | int] = {
                    "filter": "kind:MESSAGE",
                    "after": after,
                }
                with (
                    contextlib.suppress(httpx.TransportError),
                    client.stream("GET", "/v1/events/stream", params=params) as stream,
                ):
                    for line in stream.iter_lines():
                        if not line.startswith("data: {"):
                            continue
                        event = json.loads(line.removeprefix("data: "))
                        if "number" not in event:
                            continue  # why the stream ends
                        after = event["number"]
                        self.tasks.append(event["task_id"])
                        if len(self.tasks) == self._wanted:
                            break


# -- a disk that is full


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with little room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, check=False, capture_output=True)
    except OSError:
        pytest.skip("file systems cannot be mounted here")
    if mounted.returncode:
        pytest.skip("file systems cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False, capture_output=True)


def fill(folder: Path) -> Callable[[], None]:
    """Leave no room in a folder; return what makes room again."""
    filler = folder / "filler"
    with contextlib.suppress(OSError), filler.open("ab", buffering=0) as file:
        while True:
            file.write(b"x" * 4096)
    return filler.unlink


def test_a_disk_that_is_full(small_disk: Path, prepared_sqlite: PreparedSqlite) -> None:
    """A message is refused with the way out, and taken once there is room."""
    home = small_disk / "home"
    prepared_sqlite.copy_to(Home(home).ledger)
    with open_project(home, create=True) as project:
        brings(project, small_plan())
        with serving(project) as served, served.client(served.key("admin")) as client:
            path = "/v1/tasks/a/submit?any_holder=true"
            headers = {"content-type": "application/json"}
            make_room = fill(small_disk)
            message = action("a").replace(b"done", b"done" * 50_000)
            refused = client.post(path, content=message, headers=headers)
            read = client.get("/v1/tasks/a")
            make_room()
            taken = client.post(path, content=message, headers=headers)
        counted = messages_of(project)
    assert refused.status_code == 503
    must_be_problem(refused)
    assert "disk" in refused.json()["detail"]
    assert read.status_code == 200
    assert taken.json()["status"] == "accepted"
    assert counted == {"a": 1}
