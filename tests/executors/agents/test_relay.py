"""The relay between an agent and its model: the key goes in, nothing else gets out, every call is seen."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from accordance.domain.faults import Fault
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget
from accordance.executors.agents.answer_reader import AnswerReader
from accordance.executors.agents.calls import Calls, fault_of_status, seconds_to_wait
from accordance.executors.agents.executor import AGENTS
from accordance.executors.agents.grants import Grant, Request
from accordance.executors.agents.relay import (
    AT_ONCE,
    SOCKET,
    UNREADABLE,
    Endpoint,
    RelayAccess,
    relaying,
)
from accordance.executors.agents.sockets import within
from tests.fake_model_server import Script, serving
from tests.limits import LIMIT

CALLS = ("/chat/completions", "/responses", "/messages")
BESIDE = (
    Request("POST", "/messages/count_tokens"),
    Request("GET", "/models"),
    Request("HEAD", "/"),
)
BELOW = Grant(
    (*(Request("POST", path, asks_model=True) for path in CALLS), *BESIDE), "m"
)
"""What is lent of an endpoint whose own path is /v1."""
LENT = replace(
    BELOW, requests=tuple(one._replace(path=f"/v1{one.path}") for one in BELOW.requests)
)
"""What is lent of an endpoint without a path of its own."""
BODY = json.dumps(
    {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
)


def post(
    door: RelayAccess,
    path: str,
    headers: dict[str, str] | None = None,
    body: str = BODY,
) -> tuple[int, bytes]:
    """Ask through the relay, as an agent would."""
    return ask(door, "POST", path, headers, body)


def ask(
    door: RelayAccess,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: str | None = None,
) -> tuple[int, bytes]:
    """Send it any request, with the run's key unless something else is said."""
    with closing(connected(door)) as connection:
        connection.request(
            method, path, body, {"X-Api-Key": door.key} if headers is None else headers
        )
        answer = connection.getresponse()
        return answer.status, answer.read()


def connected(door: RelayAccess) -> http.client.HTTPConnection:
    """A connection to the relay."""
    return http.client.HTTPConnection("127.0.0.1", door.port, timeout=LIMIT)


def head(door: RelayAccess, path: str, *lines: str, method: str = "POST") -> bytes:
    """The head of a request, for a client that writes it itself."""
    return "\r\n".join(
        [f"{method} {path} HTTP/1.1", f"X-Api-Key: {door.key}", *lines, "", ""]
    ).encode()


def test_the_key_is_put_in_and_the_agents_own_is_dropped() -> None:
    """The endpoint takes only the real one."""
    with serving(Script([{"say": "hello"}], key="real")) as server:
        endpoint = Endpoint(f"{server.url}/v1", (("Authorization", "Bearer real"),))
        with relaying(endpoint, BELOW, None) as door:
            keys = {"Authorization": f"Bearer {door.key}", "X-Api-Key": "p"}
            status, said = post(door, "/v1/chat/completions", keys)
    assert (status, door.calls.statuses, door.calls.fault) == (200, [200], None)
    assert b"llo" in said
    assert b"[DONE]" in said
    assert not door.calls.hopeless.is_set()


def test_a_body_in_chunks_is_passed_on() -> None:
    """As some clients send it."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
        socket.create_connection(("127.0.0.1", door.port), LIMIT) as client,
    ):
        client.sendall(head(door, "/v1/chat/completions", "Transfer-Encoding: chunked"))
        client.sendall(f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"
    assert server.requests[0]["model"] == "m"


OUTSIDE = [
    "/admin",
    "/v10/models",
    "http://elsewhere.example/v1/x",
    "/v1/../admin",
    "/v1/x/../../admin",
    "/v1/..",
    "/v1/./x",
    "/v1/%2e%2e/admin",
    "/v1/.%2E/admin",
    "/v1/x%2f..%2f..%2fadmin",
    "/v1/%252e%252e/admin",
    "/v1/..\\admin",
    "/v1/..;x=1/admin",
    "/v1/%3f/../../admin",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_only_the_endpoints_own_paths_can_be_reached(path: str) -> None:
    """No other host, and no way up, however it is written."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(f"{server.url}/v1"), BELOW, None) as door,
    ):
        assert post(door, path)[0] == 403
    assert (server.requests, door.calls.statuses) == ([], [])


def test_a_query_is_no_part_of_the_path() -> None:
    """Claude Code asks with ?beta=true."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
    ):
        assert post(door, "/v1/chat/completions?beta=../x")[0] == 200


BILLABLE = {
    "codex": ["POST /v1/responses", "POST /v1/responses/compact"],
    "opencode": ["POST /v1/chat/completions"],
    "claude": ["POST /v1/messages"],
}
FREE = {
    "codex": ["GET /v1/models"],
    "opencode": ["GET /v1/models"],
    "claude": ["POST /v1/messages/count_tokens", "GET /v1/models", "HEAD /"],
}
CLOSED = [
    "POST /v1/files",
    "GET /v1/files",
    "POST /v1/batches",
    "POST /v1/messages/batches",
    "POST /v1/fine_tuning/jobs",
    "GET /v1/organization/users",
    "GET /v1/organizations/me",
    "POST /v1/embeddings",
    "POST /v1/images/generations",
    "GET /v1/responses/resp_1",
    "DELETE /v1/responses/resp_1",
    "DELETE /v1/models/ft-1",
    "PUT /v1/messages",
    "PATCH /v1/responses",
    "OPTIONS /v1/chat/completions",
    "GET /v1/chat/completions",
    "POST /v1/responses/",
    "POST /v1//messages",
    "POST /v1/x/messages",
    "POST /V1/chat/completions",
    "POST /v1/chat%2fcompletions",
    "POST /v1/messages;x=1",
]


def lent_to(agent: str) -> Grant:
    """What an agent is lent, as the executor lends it."""
    return Grant(AGENTS[agent].requests, "m", AGENTS[agent].is_same_model)


def base_of(agent: str) -> str:
    """The path of the agent's own endpoint."""
    return Endpoint(AGENTS[agent].endpoint).parts.path


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_each_agent_may_make_its_own_requests_and_no_others(agent: str) -> None:
    """The key would open far more. What is refused is recorded, and says nothing about the model."""
    others = sorted(
        {line for name in AGENTS for line in (*BILLABLE[name], *FREE[name])}
    )
    closed = [
        line
        for line in (*CLOSED, *others)
        if line not in (*BILLABLE[agent], *FREE[agent])
    ]
    with answering(200, b"{}") as url:
        endpoint = Endpoint(
            url + base_of(agent), (("Authorization", f"Bearer {SECRET}"),), SECRET
        )
        with relaying(endpoint, lent_to(agent), None) as door:
            open_ones = [
                line
                for line in (*BILLABLE[agent], *FREE[agent])
                if asked(door, line)[0] != 200
            ]
            let_through = [line for line in closed if asked(door, line)[0] != 403]
            refusal = asked(door, "POST /v1/files")[1]
    assert (open_ones, let_through) == ([], [])
    assert b"this agent may use: POST /v1/" in refusal
    assert len(door.calls.statuses) == len(BILLABLE[agent])
    assert (door.calls.spent.calls, door.calls.refusals) == (
        len(BILLABLE[agent]),
        len(closed) + 1,
    )
    assert door.calls.refused[0][:2] == ("POST /v1/files", 403)
    assert len(door.calls.refused) == 20
    assert (door.calls.fault, door.calls.hopeless.is_set()) == (None, False)


def asked(door: RelayAccess, line: str) -> tuple[int, bytes]:
    """Make a request that is written as method and path."""
    method, path = line.split(" ")
    return ask(door, method, path, body=BODY if method == "POST" else None)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param('{"model": "m"}', 200, id="the model of the run"),
        pytest.param(
            '{"model": "m", "background": false}', 200, id="an answer at once"
        ),
        pytest.param(
            '{"model": "m", "messages": [{"model": "x"}]}',
            200,
            id="another name further inside",
        ),
        pytest.param(
            '{"model": "m", "x": "\\ud83d"}',
            200,
            id="half a character, as cut output has it",
        ),
        pytest.param('{"model": "dear"}', 403, id="a dearer model"),
        pytest.param('{"model": "M"}', 403, id="a name in other letters"),
        pytest.param('{"model": ["m"]}', 403, id="a list of models"),
        pytest.param("{}", 403, id="no model"),
        pytest.param('{"model": "m", "model": "dear"}', 403, id="two models"),
        pytest.param(
            '{"model": "m", "Model": "dear"}',
            403,
            id="two models, for readers that take any letters",
        ),
        pytest.param('{"Model": "m"}', 403, id="a key in other letters"),
        pytest.param('{"model": "m", "models": ["dear"]}', 403, id="further models"),
        pytest.param(
            '{"model": "m", "fallbacks": [{"model": "dear"}]}',
            403,
            id="models to fall back to",
        ),
        pytest.param(
            '{"model": "m", "background": true}',
            403,
            id="an answer that is made unseen",
        ),
        pytest.param('["model"]', 400, id="no object"),
        pytest.param("model=m", 400, id="no JSON"),
        pytest.param("", 400, id="no body"),
    ],
)
@pytest.mark.parametrize("path", ["/v1/responses", "/v1/messages/count_tokens"])
def test_only_the_model_of_the_run_may_be_asked(
    path: str, body: str, status: int
) -> None:
    """Whatever an endpoint makes of a body: no reading of it leads to another model."""
    with answering(200, b"{}") as url, relaying(Endpoint(url), LENT, None) as door:
        assert post(door, path, body=body)[0] == status
    assert door.calls.refusals == (status != 200)


@pytest.mark.parametrize(
    ("model", "asked_for", "same"),
    [
        ("claude-sonnet-4-5", "claude-sonnet-4-5", True),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5", True),
        ("sonnet", "claude-sonnet-4-5-20250929", True),
        ("sonnet", "claude-haiku-4-5", True),
        ("opusplan", "claude-sonnet-4-5", True),
        ("claude-sonnet-4-5", "claude-opus-4-1", False),
        ("claude-sonnet-4-5", "claude-haiku-4-5", False),
        ("claude-sonnet-4", "claude-sonnet-4-5", False),
        ("sonnet", "claude-opus-4-1", False),
        ("haiku", "claude-sonnet-4-5", False),
    ],
)
def test_claude_code_writes_names_of_models_out(
    model: str, asked_for: str, same: bool
) -> None:
    """A family stands for its newest model; that is no other model."""
    assert AGENTS["claude"].is_same_model(model, asked_for) is same


def test_headers_that_say_who_pays_or_lead_elsewhere_are_dropped() -> None:
    """Those that agents need are passed on; of an answer, those about the key's owner are left out."""
    passed = {
        "Content-Type": "application/json",
        "Anthropic-Version": "2023-06-01",
        "X-Stainless-Lang": "js",
    }
    dropped = {
        "Cookie": "session=1",
        "OpenAI-Organization": "org-1",
        "OpenAI-Project": "proj-1",
        "Anthropic-Workspace-Id": "w",
        "X-Goog-User-Project": "p",
        "X-HTTP-Method-Override": "DELETE",
        "X-Original-URL": "/v1/files",
        "X-Forwarded-Host": "elsewhere.example",
        "Proxy-Authorization": "Basic x",
    }
    about = {
        "OpenAI_Organization": "org-1",
        "Set_Cookie": "session=1",
        "X_Request_Id": "7",
    }
    heads: list[dict[str, str]] = []
    with (
        answering(200, b"{}", heads, **about) as url,
        relaying(Endpoint(url), LENT, None) as door,
        closing(connected(door)) as connection,
    ):
        connection.request(
            "POST", "/v1/messages", BODY, {**passed, **dropped, "X-Api-Key": door.key}
        )
        answer = connection.getresponse()
        answer.read()
    got = {name.lower(): value for name, value in heads[0].items()}
    assert {name: got.get(name.lower()) for name in passed} == passed
    assert [name for name in (*dropped, "X-Api-Key") if name.lower() in got] == []
    given = [answer.getheader(name.replace("_", "-")) for name in about]
    assert given == [None, None, "7"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-Api-Key": "guessed"},
        {"Authorization": "Bearer "},
        {"Authorization": "Bearer \xe9"},
    ],
    ids=["none", "another", "empty", "not ASCII"],
)
def test_whoever_does_not_know_the_key_of_the_run_is_sent_away(
    headers: dict[str, str],
) -> None:
    """Others on this machine can reach the port, and would spend the real one. Nothing of theirs is read."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
    ):
        told = {**headers, "Content-Length": "5"}  # which never come
        assert ask(door, "POST", "/v1/chat/completions", told)[0] == 401
        assert ask(door, "GET", "/v1/models", headers)[0] == 401
    assert (server.requests, door.calls.statuses, door.calls.hopeless.is_set()) == (
        [],
        [],
        False,
    )


def test_every_run_has_a_key_of_its_own() -> None:
    """What one agent knew opens no other door."""
    endpoint = Endpoint("http://127.0.0.1:9")
    with relaying(endpoint, LENT, None) as one, relaying(endpoint, LENT, None) as other:
        assert one.key != other.key
        assert ask(other, "GET", "/v1/models", {"X-Api-Key": one.key})[0] == 401


def test_looking_around_is_passed_on_and_says_nothing_of_the_model() -> None:
    """Agents ask for models and send HEAD before they begin."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
    ):
        for method, path, status in (
            ("HEAD", "/v1/", 200),
            ("GET", "/v1/models", 200),
            ("GET", "/x", 403),
        ):
            assert ask(door, method, path)[0] == status
    assert door.calls.statuses == []


def test_an_endpoint_that_is_not_there_is_hopeless_after_a_few_calls() -> None:
    """The agent would wait for ever; the relay knows better."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with relaying(Endpoint(f"http://127.0.0.1:{port}"), LENT, None) as door:
        hopeless = []
        for _ in range(3):
            assert post(door, "/v1/responses")[0] == 502
            hopeless.append(door.calls.hopeless.is_set())
    assert hopeless == [False, False, True]
    assert door.calls.fault is Fault.UNAVAILABLE


LENGTHS = [
    ("Content-Length: -1", "", 400),
    ("Content-Length: many", "", 400),
    ("Content-Length: +1", "x", 400),
    ("Content-Length: 5", "x", 400),
    (f"Content-Length: {1 << 40}", "", 413),
    ("Transfer-Encoding: chunked", "-1\r\n", 400),
    ("Transfer-Encoding: chunked", "-0\r\n\r\n", 400),
    ("Transfer-Encoding: chunked", "0x5\r\nhello\r\n0\r\n\r\n", 400),
    ("Transfer-Encoding: chunked", "", 400),
    ("Transfer-Encoding: chunked", "5\r\nx", 400),
    ("Transfer-Encoding: chunked", f"{1 << 40:x}\r\n", 413),
    ("Transfer-Encoding: chunked", "5" * 200, 400),
]


@pytest.mark.parametrize(("length", "body", "status"), LENGTHS)
def test_a_body_of_no_length_or_too_much_of_it_is_refused(
    length: str, body: str, status: int
) -> None:
    """What an agent sends is not trusted either, and never read without end."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
    ):
        with socket.create_connection(("127.0.0.1", door.port), LIMIT) as client:
            client.sendall(head(door, "/v1/responses", length) + body.encode())
            client.shutdown(socket.SHUT_WR)
            assert client.recv(12) == f"HTTP/1.1 {status}".encode()
        assert post(door, "/v1/chat/completions")[0] == 200
    assert len(server.requests) == 1


def test_what_has_no_length_is_not_read() -> None:
    """Nothing waits for the end of what has none: the answer is there while the agent still sends."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
        socket.create_connection(("127.0.0.1", door.port), LIMIT) as client,
    ):
        client.sendall(head(door, "/v1/responses", "Content-Length: -1"))
        assert client.recv(12) == b"HTTP/1.1 400"


def test_nonsense_ends_only_its_own_connection() -> None:
    """The next one is served."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
    ):
        with socket.create_connection(("127.0.0.1", door.port), LIMIT) as client:
            client.sendall(b"\x00\xff\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            client.recv(1)
        assert post(door, "/v1/chat/completions")[0] == 200


def test_only_a_few_connections_are_served_at_once() -> None:
    """One more is hung up on; when another has gone, there is room again."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
        contextlib.ExitStack() as held,
    ):
        address = ("127.0.0.1", door.port)
        first, *_ = [
            held.enter_context(socket.create_connection(address, LIMIT))
            for _ in range(AT_ONCE)
        ]
        with socket.create_connection(address, LIMIT) as client:
            assert client.recv(1) == b""
        first.sendall(b"nonsense\r\n\r\n")
        while first.recv(1 << 16):
            pass
        assert post(door, "/v1/chat/completions")[0] == 200


def test_ending_breaks_off_what_still_goes_on() -> None:
    """No call outlives its run."""
    with serving(Script([{"say": "hello", "fault": {"endless": "x"}}])) as server:
        with relaying(Endpoint(server.url), LENT, None) as door:
            client = socket.create_connection(("127.0.0.1", door.port), LIMIT)
            client.sendall(
                head(door, "/v1/chat/completions", f"Content-Length: {len(BODY)}")
                + BODY.encode()
            )
            assert client.recv(10)
        with client, client.makefile("rb") as rest:
            rest.read()  # comes to an end
    assert door.calls.statuses == [200]


def test_a_socket_in_a_folder_with_a_long_path(tmp_path: Path) -> None:
    """Longer than the name of a socket can be."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, folder) as door,
        socket.socket(socket.AF_UNIX) as client,
        within(folder) as place,
    ):
        client.connect(f"{place}/{SOCKET}")
        client.sendall(head(door, "/v1/models", method="GET"))
        assert client.recv(12) == b"HTTP/1.1 200"
    assert door.port == 0


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (200, None),
        (400, Fault.REJECTED),
        (401, Fault.UNAUTHORISED),
        (403, Fault.UNAUTHORISED),
        (404, Fault.UNKNOWN_MODEL),
        (429, Fault.RATE_LIMITED),
        (500, Fault.SERVER_ERROR),
        (503, Fault.UNAVAILABLE),
        (529, Fault.UNAVAILABLE),
        (0, Fault.UNAVAILABLE),
    ],
)
def test_a_status_says_what_is_wrong(status: int, fault: Fault | None) -> None:
    """The endpoint's own word, not the agent's."""
    assert fault_of_status(status) is fault
    calls = Calls()
    assert calls.fault is None
    calls.record_status(status)
    assert calls.hopeless.is_set() is (
        fault in (Fault.UNAUTHORISED, Fault.UNKNOWN_MODEL)
    )


def test_what_an_endpoint_does_not_know_counts_only_before_it_has_answered() -> None:
    """An endpoint that has answered knows the model: whatever it does not find then is another thing."""
    calls = Calls()
    calls.record_status(200)
    calls.record_answer(AnswerReader(1))
    calls.record_status(404)
    assert (calls.fault, calls.hopeless.is_set()) == (Fault.REJECTED, False)


def test_counting_beforehand_says_nothing_of_the_model() -> None:
    """It is passed on, and neither tokens nor faults come of it."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None) as door,
    ):
        assert post(door, "/v1/messages/count_tokens")[0] == 200
    assert (door.calls.statuses, door.calls.fault, door.calls.spent) == (
        [],
        None,
        Spending(),
    )


@pytest.mark.parametrize("stream", [True, False])
def test_every_answer_is_counted(stream: bool) -> None:
    """Also one whose reader hangs up; what was given back is what came."""
    body = json.dumps({**json.loads(BODY), "stream": stream})
    with serving(Script([{"say": "hello"}], read=7, written=2, cached=1)) as server:
        with relaying(Endpoint(server.url), LENT, None) as door:
            for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
                status, said = post(door, path, body=body)
                assert (status, b"llo" in said) == (200, True)
        assert door.calls.spent == Spending(read=21, written=6, cached=3, calls=3)


def test_what_is_broken_off_is_reckoned() -> None:
    """By what was asked and what had come by then."""
    with serving(Script([{"say": "hello", "fault": {"endless": "x" * 40}}])) as server:
        with relaying(Endpoint(server.url), LENT, None) as door:
            client = socket.create_connection(("127.0.0.1", door.port), LIMIT)
            client.sendall(
                head(door, "/v1/messages", f"Content-Length: {len(BODY)}")
                + BODY.encode()
            )
            while door.calls.spent.written < 50:
                assert client.recv(1 << 16)
        client.close()
    assert (
        door.calls.spent.read,
        door.calls.spent.calls,
        door.calls.spent.estimated,
    ) == (100, 1, True)


@pytest.mark.parametrize(
    "budget", [Budget(tokens=240), Budget(cost=2.4)], ids=["tokens", "money"]
)
def test_no_call_is_made_for_which_nothing_is_left(budget: Budget) -> None:
    """The agent is told, and there is no hope for its run."""

    def priced(spent: Spending) -> Spending:
        return replace(spent, cost=spent.tokens / 100)

    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), LENT, None, Calls(budget, priced)) as door,
    ):
        told = [post(door, "/v1/responses")[0] for _ in range(3)]
        beside = post(door, "/v1/messages/count_tokens")[0]
    assert (told, beside, len(server.requests)) == ([200, 200, 402], 200, 2)
    assert (door.calls.fault, door.calls.hopeless.is_set(), door.calls.statuses) == (
        Fault.OVER_BUDGET,
        True,
        [200, 200],
    )


def test_only_a_refusal_of_the_work_counts() -> None:
    """A title that was asked for beside it says nothing; neither does a refusal the agent got over."""
    work = json.dumps({**json.loads(BODY), "tools": []})
    script = Script(
        [{}], asked=lambda body: {"refuse": "no"} if "tools" in body else {"say": "x"}
    )
    with serving(script) as server, relaying(Endpoint(server.url), LENT, None) as door:
        assert (post(door, "/v1/messages", body=BODY)[0], door.calls.fault) == (
            200,
            None,
        )
        assert (post(door, "/v1/messages", body=work)[0], door.calls.fault) == (
            200,
            Fault.REFUSED,
        )
        assert (post(door, "/v1/messages", body=BODY)[0], door.calls.fault) == (
            200,
            Fault.REFUSED,
        )
        script.asked = lambda _: {"say": "as you like"}
        assert (post(door, "/v1/messages", body=work)[0], door.calls.fault) == (
            200,
            None,
        )
    assert not door.calls.hopeless.is_set()


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7),
        ("1.5", 1.5),
        ("-3", None),
        ("nan", None),
        ("inf", 86_400),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 86_400),
        ("Wed, 21 Oct 2099 07:28:00 -0000", 86_400),
    ],
)
def test_how_long_an_endpoint_asks_to_wait(
    said: str | None, seconds: float | None
) -> None:
    """A number or a time; what is neither asks for nothing, and nobody waits for ever."""
    assert seconds_to_wait(said) == seconds


def test_the_wait_of_the_last_answer_counts() -> None:
    """As long as it was one that asks to wait."""
    fault = {"status": 429, "retry_after": 7}
    script = Script([{"say": "x", "fault": fault, "times": 1}])
    with serving(script) as server, relaying(Endpoint(server.url), LENT, None) as door:
        assert (post(door, "/v1/responses")[0], door.calls.fault, door.calls.wait) == (
            429,
            Fault.RATE_LIMITED,
            7,
        )
        assert (post(door, "/v1/responses")[0], door.calls.fault, door.calls.wait) == (
            200,
            None,
            None,
        )


SECRET = "sk-very-secret"
SAID = f'{{"error": "no such key: {SECRET}"}}'.encode()


@contextlib.contextmanager
def answering(
    status: int,
    body: bytes,
    heads: list[dict[str, str]] | None = None,
    /,
    **headers: str,
) -> Iterator[str]:
    """An endpoint that always gives the same answer, and notes the heads of what it is asked."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if heads is not None:
                heads.append(dict(self.headers.items()))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.do_POST()

        def do_HEAD(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("body", "encoding", "given"),
    [
        pytest.param(SAID, "identity", b'{"error": "no such key: [key]"}', id="plain"),
        pytest.param(
            gzip.compress(SAID, mtime=0),
            "gzip",
            b'{"error": "no such key: [key]"}',
            id="gzip",
        ),
        pytest.param(
            zlib.compress(SAID),
            "Deflate",
            b'{"error": "no such key: [key]"}',
            id="deflate",
        ),
        pytest.param(SAID, "gzip", UNREADABLE, id="not the encoding it claims"),
        pytest.param(SAID[::-1], "br", UNREADABLE, id="an encoding we cannot read"),
        pytest.param(
            b"\xff" + SAID,
            "identity",
            b'\xff{"error": "no such key: [key]"}',
            id="not UTF-8",
        ),
    ],
)
def test_an_error_is_given_back_without_the_key(
    body: bytes, encoding: str, given: bytes
) -> None:
    """Some endpoints repeat it, and the agent, its logs and its words are not to have it."""
    about = {
        "Content_Encoding": encoding,
        "Content_Length": str(len(body)),
        "WWW_Authenticate": SECRET,
    }
    with answering(401, body, None, **about) as url:
        endpoint = Endpoint(url, (("Authorization", f"Bearer {SECRET}"),), SECRET)
        with (
            relaying(endpoint, LENT, None) as door,
            closing(connected(door)) as connection,
        ):
            connection.request("POST", "/v1/responses", BODY, {"X-Api-Key": door.key})
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (401, given)
            assert answer.getheader("www-authenticate") == "[key]"
    assert door.calls.fault is Fault.UNAUTHORISED


HIDDEN = b"[key]" + b"*" * (len(SECRET) - len("[key]"))


@pytest.mark.parametrize(
    ("body", "encoding", "given"),
    [
        pytest.param(
            SAID, "identity", SAID.replace(SECRET.encode(), HIDDEN), id="plain"
        ),
        pytest.param(
            gzip.compress(SAID, mtime=0),
            "gzip",
            SAID.replace(SECRET.encode(), HIDDEN),
            id="gzip",
        ),
        pytest.param(
            zlib.compress(SAID),
            "deflate",
            SAID.replace(SECRET.encode(), HIDDEN),
            id="deflate",
        ),
        pytest.param(
            SAID[::-1], "br", UNREADABLE, id="an encoding nobody here can look into"
        ),
        pytest.param(b"no gzip" + SAID, "gzip", b"", id="not the encoding it claims"),
    ],
)
def test_a_good_answer_is_given_back_without_the_key(
    body: bytes, encoding: str, given: bytes
) -> None:
    """As much as an error: a gateway that tells what it was sent must not tell the agent."""
    about = {"Content_Encoding": encoding, "Content_Length": str(len(body))}
    with answering(200, body, None, **about) as url:
        endpoint = Endpoint(url, (("Authorization", f"Bearer {SECRET}"),), SECRET)
        with relaying(endpoint, LENT, None) as door:
            assert post(door, "/v1/responses") == (
                502 if encoding == "br" else 200,
                given,
            )


def test_a_key_that_is_streamed_in_pieces_is_held_back_and_the_rest_is_not() -> None:
    """Each piece is written when the one before has come through, so that nothing waits but a beginning of the key."""
    pieces = [
        b"data: hello\n\n",
        b"data: sk-ve",
        b"ry-sec",
        b"ret\n\n",
        b"data: sk-very-good\n\n",
    ]
    with socket.create_server(("127.0.0.1", 0)) as listener:
        endpoint = Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}", (), SECRET)
        with (
            relaying(endpoint, LENT, None) as door,
            socket.create_connection(("127.0.0.1", door.port), LIMIT) as client,
        ):
            client.sendall(
                head(door, "/v1/responses", f"Content-Length: {len(BODY)}")
                + BODY.encode()
            )
            upstream = listener.accept()[0]
            with upstream, client.makefile("rb") as answer:
                upstream.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + pieces[0])
                while answer.readline() != b"\r\n":
                    pass
                assert answer.read(len(pieces[0])) == pieces[0]
                upstream.sendall(pieces[1])
                assert answer.read(6) == b"data: "
                for piece in pieces[2:]:
                    upstream.sendall(piece)
                upstream.shutdown(socket.SHUT_WR)
                assert answer.read() == HIDDEN + b"\n\n" + pieces[4]


def test_https_is_spoken_to_https() -> None:
    """The agent speaks plainly to the relay; the relay does not to the world."""
    assert isinstance(
        Endpoint("https://api.example/v1").connection(), http.client.HTTPSConnection
    )
