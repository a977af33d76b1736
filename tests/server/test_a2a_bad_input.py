"""What is no call of A2A, or asks for what cannot be: an error of A2A, never a fault."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from accordance.service.project import Project
from tests.server.a2a_client import DOOR, saying
from tests.server.stage import serving

HEADERS = {"A2A-Version": "1.0", "Content-Type": "application/json"}


def call(method: str, params: Any) -> dict[str, Any]:
    """Return a call of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def send(*parts: Any, **more: Any) -> dict[str, Any]:
    """Return a call that sends a message."""
    content = MessageToDict(saying(*parts, **more))
    content["configuration"] = {"returnImmediately": True}
    return call("SendMessage", content)


def push(**more: Any) -> dict[str, Any]:
    """Return a call that asks for a push."""
    config = {"taskId": "a", "url": "http://8.8.8.8/", **more}
    return call("CreateTaskPushNotificationConfig", config)


BODIES: list[tuple[str, str | bytes | dict[str, Any], int]] = [
    ("no JSON", "{", -32700),
    ("nothing", "", -32700),
    ("a batch", "[]", -32600),
    ("a key twice", '{"jsonrpc": "2.0", "jsonrpc": "2.0"}', -32700),
    ("brackets without end", '{"a":' * 5000, -32700),
    ("not UTF-8", b"\xff\xfe", -32700),
    ("half a character", r'{"id": "\ud800"}', -32700),
    ("no method", {"jsonrpc": "2.0", "id": 1}, -32600),
    ("another JSON-RPC", {"jsonrpc": "1.0", "id": 1, "method": "GetTask"}, -32600),
    ("an unknown method", call("Dance", {}), -32601),
    ("parameters that are none", call("GetTask", [1]), -32602),
    ("a text as a number", call("ListTasks", {"pageSize": "x"}), -32602),
    ("no task", call("GetTask", {}), -32602),
    ("a page that is too large", call("ListTasks", {"pageSize": 9999}), -32602),
    ("a page that is none", call("ListTasks", {"pageToken": "x"}), -32602),
    (
        "a history that is negative",
        call("GetTask", {"id": "a", "historyLength": -1}),
        -32602,
    ),
    ("an unknown task", call("GetTask", {"id": "none"}), -32001),
    ("a life that was not led", call("GetTask", {"id": "a~2"}), -32001),
    ("to cancel an unknown task", call("CancelTask", {"id": "none"}), -32001),
    ("to cancel what others wait for", call("CancelTask", {"id": "a"}), -32002),
    ("a stream of an unknown task", call("SubscribeToTask", {"id": "none"}), -32001),
    ("a message without parts", send(), -32602),
    ("a message to an unknown task", send("x", task="none"), -32001),
    ("a message that nobody waits for", send("x", task="a"), -32004),
    ("a task of another context", send("x", task="a", plan="none"), -32602),
    ("an unknown skill", send("x", options={"skill": "dance"}), -32602),
    ("a skill without its task", send("x", options={"skill": "answer"}), -32602),
    ("a check of a task", send("x", task="a", options={"skill": "check"}), -32602),
    ("an option of the wrong kind", send("x", options={"run": "yes"}), -32602),
    ("an empty goal", send("  "), -32602),
    ("a part that has to be fetched", send({"url": "http://x/y"}), -32005),
    ("a picture as a plan", send({"raw": "AAAA", "mediaType": "image/png"}), -32005),
    (
        "bytes as words",
        send(
            {"raw": "/w==", "mediaType": "text/plain"},
            task="a",
            options={"skill": "ask"},
        ),
        -32004,
    ),
    ("no plan", send({"data": {"a": 1}}), -32602),
    ("a bad plan", send({"data": {"plan": {}, "nodes": []}}), -32602),
    ("two plans", send({"data": {}}, {"data": {}}), -32602),
    (
        "an unknown contract",
        send("{}", options={"skill": "check", "contract": "x"}),
        -32602,
    ),
    (
        "work in an unknown plan",
        send("x", plan="none", options={"skill": "work"}),
        -32602,
    ),
    ("a push to this machine", push(url="http://127.0.0.1:1/"), -32602),
    ("a push to no address", push(url="nowhere"), -32602),
    ("a push of an unknown task", push(taskId="none"), -32001),
    ("a token with a line end", push(token="a\r\nHost: b"), -32602),
    (
        "a weak secret",
        push(authentication={"scheme": "standard-webhooks", "credentials": "x"}),
        -32602,
    ),
    (
        "an unknown push",
        call("GetTaskPushNotificationConfig", {"taskId": "a", "id": "x"}),
        -32602,
    ),
    (
        "to delete an unknown push",
        call("DeleteTaskPushNotificationConfig", {"taskId": "a", "id": "x"}),
        -32602,
    ),
]


def test_bad_input(project: Project) -> None:
    """Each is answered with the error that A2A has for it, and nothing has changed."""
    seen = []
    with (
        serving(project, mounts=DOOR) as served,
        served.client(served.key("operator")) as client,
    ):
        before = client.get("/v1/events").text
        for name, body, _ in BODIES:
            raw = json.dumps(body) if isinstance(body, dict) else body
            answer = client.post("/a2a", content=raw, headers=HEADERS)
            code = answer.json().get("error", {}).get("code", answer.text)
            seen.append((name, answer.status_code, code))
        after = client.get("/v1/events").text
    assert seen == [(name, 200, code) for name, _, code in BODIES]
    assert after == before


def test_what_is_not_answered_in_json_rpc(project: Project) -> None:
    """The server's own refusals are problems: no key, no such path, too large a body."""
    with (
        serving(project, mounts=DOOR) as served,
        served.client(served.key("operator")) as client,
    ):
        huge = client.post("/a2a", content=b" " * (17 << 20), headers=HEADERS)
        below = client.post("/a2a/below", json={}, headers=HEADERS)
        read = client.get("/a2a")
        old = client.post("/a2a", json=call("GetTask", {"id": "a"}))
        written = client.post("/.well-known/agent-card.json")
    assert (huge.status_code, huge.json()["code"]) == (413, "request-too-large")
    assert (below.status_code, below.json()["code"]) == (404, "no-such-route")
    assert (read.status_code, read.headers["allow"]) == (405, "POST")
    assert (written.status_code, written.headers["allow"]) == (405, "GET")
    assert old.json()["error"]["code"] == -32009  # a version that is not spoken


@pytest.mark.parametrize(
    ("role", "message", "right"),
    [
        ("viewer", send("Do it"), "plan"),
        ("agent", send("Do it"), "plan"),
        ("viewer", send("x", options={"skill": "work"}), "work"),
        ("viewer", call("CancelTask", {"id": "root"}), "plan"),
        ("viewer", call("CancelTask", {"id": "b"}), "decide"),
    ],
)
def test_a_key_without_the_right(
    project: Project, role: str, message: dict[str, Any], right: str
) -> None:
    """Is refused with the name of the right."""
    with (
        serving(project, mounts=DOOR) as served,
        served.client(served.key(role)) as client,
    ):
        error = client.post("/a2a", json=message, headers=HEADERS).json()["error"]
    assert error["code"] == -32004
    assert f"right '{right}'" in error["message"]
    assert error["data"][0]["metadata"]["code"] == "not-allowed"
