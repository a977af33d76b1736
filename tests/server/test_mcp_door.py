"""MCP over HTTP: agents anywhere take tasks up and hand them in, by the official client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from httpx import Client as HttpClient

from accordance.cli.doors import open_doors
from accordance.mcp.evidence import LARGEST_PART
from accordance.mcp.offers import TOOLS
from accordance.project.server_settings import ServerSettings
from accordance.service.project import Project
from accordance.service.task_records import show_task
from tests.server.mcp_agent import ERAS, approval, connected, product, running
from tests.server.stage import Served, serving


def refuse(line: str) -> None:
    """No door stays shut here."""
    raise AssertionError(line)


@pytest.fixture
def door(project: Project) -> Iterator[Served]:
    """The project of two actions in a row, a and b, with the doors for agents."""
    with serving(project, mounts=open_doors(refuse)) as served:
        yield served


def state_of(project: Project, task: str) -> str:
    """Where a task stands."""
    return show_task(project, task).state.value


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_takes_a_task_to_its_end(
    door: Served, project: Project, era: str
) -> None:
    """Rejected first, with every violation; mended in the same session; reviewed by another agent."""
    maker, reviewer = door.key("agent", name="maker"), door.key("agent", name="critic")

    async def act() -> None:
        async with connected(door.url, maker, era) as agent:
            tools = await agent.client.list_tools()
            assert [tool.name for tool in tools.tools] == list(TOOLS)
            taken = await agent("next_task")
            assert (taken["task"]["task_id"], taken["attempt"]) == ("a", 1)

            bad = {**product("a"), "result_type": "NOPE"}
            tried = await agent("check", message=bad)
            assert not tried["accepted"]
            refused = await agent("submit", message=bad)
            assert (refused["status"], refused["outcome"]) == ("rejected", "RETRY")
            assert [each["path"] for each in refused["violations"]] == [
                each["path"] for each in tried["violations"]
            ]

            again = await agent("next_task")
            assert (again["task"]["task_id"], again["attempt"]) == ("a", 2)
            assert "result_type" in again["context"]["last_errors"][0]
            assert (await agent("check", message=product("a")))["accepted"]
            assert state_of(project, "a") == "IN_PROGRESS"
            done = await agent("submit", message=product("a"))
            assert done["status"] == "accepted"
            repeated = await agent("submit", message=product("a"))
            assert repeated["repeated"]

        async with connected(door.url, reviewer, era) as agent:
            review = await agent("next_task")
            assert (review["kind"], review["task"]["task_id"]) == ("review", "a")
            assert not (await agent("check", message=product("a")))["accepted"]
            assert (await agent("check", message=approval("a")))["accepted"]
            assert (await agent("submit", message=approval("a")))["outcome"] == "DONE"
            verdict = await agent("get_verdict", task_id="a")
            outcomes = [each["outcome"] for each in verdict["verdicts"]]
            assert outcomes == ["RETRY", "DONE"]

    running(act)
    assert state_of(project, "a") == "DONE"


@pytest.mark.parametrize("era", ERAS)
def test_an_agent_that_comes_back_gets_its_own_task(door: Served, era: str) -> None:
    """Another key gets none of it: not its task, not its lease, not its message."""
    key, other = door.key("agent", name="anna"), door.key("agent", name="bert")

    async def act() -> None:
        async with connected(door.url, key, era) as agent:
            assert (await agent("next_task"))["task"]["task_id"] == "a"
        async with connected(door.url, other, era) as stranger:
            assert (await stranger("next_task"))["task"] is None
            assert "no such task" in await stranger.error("progress", task_id="a")
            assert "no such task" in await stranger.error("release", task_id="a")
            stolen = await stranger("submit", message=product("a"))
            assert stolen["status"] == "refused"
            assert "is not with bert" in stolen["why"]
        async with connected(door.url, key, era) as agent:
            again = await agent("next_task")
            assert (again["task"]["task_id"], again["attempt"]) == ("a", 1)
            assert (await agent("submit", message=product("a")))["attempt"] == 1

    running(act)


def test_two_sessions_of_a_key_are_the_same_worker(door: Served) -> None:
    """Until each names a worker: then they are two, and their tasks their own."""
    key = door.key("agent", name="anna")
    named = {"Accordance-Worker": "left"}

    async def act() -> None:
        async with (
            connected(door.url, key) as one,
            connected(door.url, key) as two,
            connected(door.url, key, **named) as left,
        ):
            assert (await one("next_task"))["task"]["task_id"] == "a"
            assert (await two("next_task"))["task"]["task_id"] == "a"
            assert (await left("next_task"))["why"] == "BUSY"
            assert (await two("submit", message=product("a")))["status"] == "accepted"
            # workers of a key do not review each other
            assert (await left("next_task"))["why"] == "OWN_WORK"
        async with connected(door.url, key, **named) as left:
            await one_reviewed(door)
            assert (await left("next_task"))["lease"]["holder"] == "anna/left"
            assert (await left("release"))["state"] == "READY"

    running(act)


async def one_reviewed(door: Served) -> None:
    """Let another agent approve task a."""
    async with connected(door.url, door.key("agent", name="critic")) as critic:
        await critic("next_task")
        await critic("submit", message=approval("a"))


@pytest.mark.parametrize("name", ["", "a/b", "x" * 61])
def test_a_worker_with_a_name_that_misleads(door: Served, name: str) -> None:
    """It could be taken for the worker of another key."""
    with door.client(door.key("agent")) as client:
        answer = client.post("/mcp", headers={"Accordance-Worker": name}, json={})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-worker")


def test_a_key_that_is_bound_to_a_task(door: Served) -> None:
    """It gets this task and no other, sees no other, and hands in no other contract."""
    bound = door.key("agent", name="anna", tasks=("b",))
    action_only = door.key("agent", name="bert", contracts=("xiaobo_action_v1",))

    async def act() -> None:
        async with connected(door.url, bound) as agent:
            assert (await agent("next_task"))["task"] is None
            for tool in ("get_verdict", "read_evidence", "progress"):
                why = await agent.error(tool, task_id="a")
                assert "no " in why
                assert "task" in why
            assert "no task" in await agent.error("submit", message=product("a"))
        # what another key of the same name holds is none of its business either
        unbound = door.key("agent", name="anna")
        async with connected(door.url, unbound) as agent:
            assert (await agent("next_task"))["task"]["task_id"] == "a"
        async with connected(door.url, bound) as agent:
            assert (await agent("next_task"))["task"] is None
            assert "no such task" in await agent.error("progress")
            assert "no such task" in await agent.error("release", task_id="a")
        async with connected(door.url, unbound) as agent:
            await agent("submit", message=product("a"))
        async with connected(door.url, action_only) as agent:
            assert (await agent("next_task"))["kind"] == "review"
            why = await agent.error("submit", message=approval("a"))
            assert "xiaobo_action_v1 and nothing else" in why

    running(act)


ARGUMENTS: list[tuple[str, dict[str, Any], str]] = [
    ("next_task", {"plan": "x"}, 'next_task takes no "plan"; it takes nothing'),
    ("submit", {"message": [1]}, "message of submit is a JSON object, not [1]"),
    ("submit", {"message": {}, "attempt": "1"}, 'attempt of submit is a whole number, not "1"'),
    ("submit", {"task_id": True}, "task_id of submit is a text, not true"),
    ("check", {}, "check needs message; The whole message"),
    ("check", {"message": {}, "contract": "nope"}, "nope"),
    ("ask_human", {"question": " "}, "say what you need to know"),
    ("ask_human", {"question": None}, "ask_human needs question"),
    ("progress", {"report": "x" * 2001}, "up to 2000 characters, not 2001"),
    ("read_evidence", {"task_id": "zzz"}, "zzz"),
    ("get_verdict", {}, "which task? Pass its task_id"),
    ("eat", {}, "unknown tool 'eat'; known: next_task"),
]  # fmt: skip


def test_arguments_that_a_tool_does_not_take(door: Served) -> None:
    """Each gets a line that says what would be right; the session goes on."""
    key = door.key("agent")

    async def act() -> list[str]:
        async with connected(door.url, key) as agent:
            return [await agent.error(tool, **given) for tool, given, _ in ARGUMENTS]

    for why, (tool, _, expected) in zip(running(act), ARGUMENTS, strict=True):
        assert expected in why, tool
        assert "\n" not in why


def test_a_message_is_checked_by_any_contract(door: Served) -> None:
    """Without a task. A lone surrogate is a violation, and no fault of the server."""
    key = door.key("agent")

    async def act() -> None:
        async with connected(door.url, key) as agent:
            named = await agent(
                "check", message=product("x"), contract="action", task_id="x"
            )
            assert named["accepted"]
            other = await agent(
                "check", message=product("x"), contract="action", task_id="y"
            )
            assert not other["accepted"]
            text = await agent("check", message="no JSON", contract="action")
            assert text["violations"][0]["path"] == "$"
            assert "name a contract" in await agent.error("check", message={})

    running(act)


def test_progress_keeps_the_task_and_is_told(door: Served, project: Project) -> None:
    """The lease is longer, and the report stands in the task's history."""
    key = door.key("agent", name="anna")

    async def act() -> None:
        async with connected(door.url, key) as agent:
            taken = await agent("next_task")
            kept = await agent("progress", report="half of it")
            assert kept["until"] > taken["lease"]["until"]
            assert (await agent("progress"))["until"] > kept["until"]

    running(act)
    events = [
        event for event in show_task(project, "a").events if event.event == "REPORTED"
    ]
    assert [event.model_dump()["text"] for event in events] == ["half of it"]
    assert [event.model_dump()["by"] for event in events] == ["anna"]


def test_a_person_is_asked_and_the_task_waits(door: Served, project: Project) -> None:
    """As over stdio."""

    async def act() -> None:
        async with connected(door.url, door.key("agent")) as agent:
            await agent("next_task")
            asked = await agent("ask_human", question="Which currency?")
            assert (asked["state"], asked["waiting"]) == ("BLOCKED", "WAITING_INPUT")

    running(act)
    assert state_of(project, "a") == "BLOCKED"


def test_evidence_is_read_in_parts(door: Served) -> None:
    """Every character arrives, and none is cut in two."""
    content = "€" * (LARGEST_PART // 2)

    async def act() -> str:
        async with connected(door.url, door.key("agent")) as agent:
            await agent("next_task")
            nothing = await agent.error("read_evidence")
            assert "changes no repository" in nothing
            await agent("submit", message=product("a", content))
            listing = await agent("read_evidence", task_id="a")
            (file,) = listing["files"]
            read, offset = "", 0
            while offset is not None:
                part = await agent(
                    "read_evidence", task_id="a", file=file["name"], offset=offset
                )
                assert len(part["text"].encode()) <= LARGEST_PART
                read, offset = read + part["text"], part["next"]
            outside = "../../../etc/passwd"
            away = await agent.error("read_evidence", task_id="a", file=outside)
            assert away.startswith(f"no file {outside!r}")
            beyond = await agent.error(
                "read_evidence",
                task_id="a",
                file=file["name"],
                offset=file["bytes"] + 1,
            )
            assert "nothing at offset" in beyond
            return read

    assert running(act) == content


# -- the protocol

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def new_session(client: HttpClient) -> dict[str, str]:
    """Begin a session; return the headers of its requests."""
    begun = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
    assert begun.status_code == 200, begun.text
    return {**ACCEPT, "Mcp-Session-Id": begun.headers["mcp-session-id"]}


def test_a_session_ends_and_is_no_longer_known(door: Served) -> None:
    """404 for an unknown session, and for that of another key, as the specification says."""
    with (
        door.client(door.key("agent", name="anna")) as client,
        door.client(door.key("agent", name="bert")) as other,
    ):
        session = new_session(client)
        assert client.post("/mcp", json=PING, headers=session).status_code == 200
        assert other.post("/mcp", json=PING, headers=session).status_code == 404
        assert other.delete("/mcp", headers=session).status_code == 404
        assert client.delete("/mcp", headers=session).status_code == 200
        assert client.post("/mcp", json=PING, headers=session).status_code == 404
        made_up = {**ACCEPT, "Mcp-Session-Id": "0" * 32}
        assert client.post("/mcp", json=PING, headers=made_up).status_code == 404


def test_without_a_key_that_works(door: Served) -> None:
    """Neither a stranger nor a key that may only look comes in."""
    with door.client() as stranger, door.client("acc_x_y") as guesser:
        for client in (stranger, guesser):
            answer = client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
            assert (answer.status_code, answer.json()["code"]) == (
                401,
                "not-authenticated",
            )
            assert answer.headers["www-authenticate"] == "Bearer"
    with door.client(door.key("viewer")) as viewer:
        answer = viewer.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")


def in_pieces(size: int) -> Iterator[bytes]:
    """A body whose length is not announced."""
    for _ in range(size):
        yield b" " * (1 << 20)


def test_a_body_that_is_too_large(project: Project) -> None:
    """The bound of the server holds, whether the length is announced or not."""
    settings = ServerSettings(
        largest_request_mb=1, requests_per_second=1000, burst=1000
    )
    mounts = open_doors(refuse)
    kind = {**ACCEPT, "Content-Type": "application/json"}
    with (
        serving(project, settings=settings, mounts=mounts) as served,
        served.client(served.key("agent")) as client,
    ):
        for body in (b" " * (2 << 20), in_pieces(2)):
            answer = client.post("/mcp", content=body, headers=kind)
            assert answer.status_code == 413, answer.text
            assert answer.json()["code"] == "request-too-large"


def test_the_server_ends_while_a_stream_is_open(project: Project) -> None:
    """The stream ends with it; the fixture of the server would fail otherwise."""
    with serving(project, mounts=open_doors(refuse)) as served:
        client = served.client(served.key("agent"))
        session = new_session(client)
        stream = client.stream("GET", "/mcp", headers=session)
        answer = stream.__enter__()
        assert answer.headers["content-type"].startswith("text/event-stream")
    client.close()
