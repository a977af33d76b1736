"""The relay between an agent and its model: the key goes in, nothing else gets out, every call is seen."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from accordance.domain.case import Budget
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending
from accordance.executors.agents.calls import Calls, fault_of, wait_of
from accordance.executors.agents.counting import Reading
from accordance.executors.agents.relay import AT_ONCE, SOCKET, Endpoint, relaying
from accordance.executors.agents.sockets import within
from tests.fake_model_server import Script, serving

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True})


def post(port: int, path: str, headers: dict[str, str] | None = None, body: str = BODY) -> tuple[int, bytes]:
    """Ask through the relay, as an agent would."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_key_is_put_in_and_the_agents_own_is_dropped() -> None:
    """The endpoint takes only the real one."""
    with serving(Script([{"say": "hello"}], key="real")) as server:
        endpoint = Endpoint(f"{server.url}/v1", (("Authorization", "Bearer real"),))
        with relaying(endpoint, None) as (port, calls):
            status, said = post(
                port, "/v1/chat/completions", {"Authorization": "Bearer pretended", "X-Api-Key": "p"}
            )
    assert (status, calls.statuses, calls.fault) == (200, [200], None)
    assert b"llo" in said
    assert b"[DONE]" in said
    assert not calls.hopeless.is_set()


def test_a_body_in_chunks_is_passed_on() -> None:
    """As some clients send it."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None) as (port, _),
        socket.create_connection(("127.0.0.1", port), 60) as client,
    ):
        head = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.sendall(f"{head}{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n".encode())
        assert client.recv(12) == b"HTTP/1.1 200"
    assert server.requests[0]["model"] == "m"


@pytest.mark.parametrize("path", ["/admin", "/v10/models", "http://elsewhere.example/v1/x"])
def test_only_the_endpoints_own_paths_can_be_reached(path: str) -> None:
    """And no other host."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(f"{server.url}/v1"), None) as (port, calls),
    ):
        assert post(port, path)[0] == 404
    assert (server.requests, calls.statuses) == ([], [])


def test_looking_around_is_passed_on_and_says_nothing_of_the_model() -> None:
    """Agents ask for models and send HEAD before they begin."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as (port, calls):
        for method, path, status in (("HEAD", "/", 200), ("GET", "/v1/models", 200), ("GET", "/x", 404)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(method, path)
            assert connection.getresponse().status == status
            connection.close()
    assert calls.statuses == []


def test_an_endpoint_that_is_not_there_is_hopeless_after_a_few_calls() -> None:
    """The agent would wait for ever; the relay knows better."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with relaying(Endpoint(f"http://127.0.0.1:{port}"), None) as (relay, calls):
        hopeless = []
        for _ in range(3):
            assert post(relay, "/v1/responses")[0] == 502
            hopeless.append(calls.hopeless.is_set())
    assert hopeless == [False, False, True]
    assert calls.fault is Fault.UNAVAILABLE


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
def test_a_body_of_no_length_or_too_much_of_it_is_refused(length: str, body: str, status: int) -> None:
    """What an agent sends is not trusted either, and never read without end."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as (port, _):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(f"POST /v1/x HTTP/1.1\r\n{length}\r\n\r\n{body}".encode())
            client.shutdown(socket.SHUT_WR)
            assert client.recv(12) == f"HTTP/1.1 {status}".encode()
        assert post(port, "/v1/chat/completions")[0] == 200
    assert len(server.requests) == 1


def test_what_has_no_length_is_not_read() -> None:
    """Nothing waits for the end of what has none: the answer is there while the agent still sends."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None) as (port, _),
        socket.create_connection(("127.0.0.1", port), 60) as client,
    ):
        client.sendall(b"POST /v1/x HTTP/1.1\r\nContent-Length: -1\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 400"


def test_nonsense_ends_only_its_own_connection() -> None:
    """The next one is served."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as (port, _):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(b"\x00\xff\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            client.recv(1)
        assert post(port, "/v1/chat/completions")[0] == 200


def test_only_a_few_connections_are_served_at_once() -> None:
    """One more is hung up on; when another has gone, there is room again."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None) as (port, _),
        contextlib.ExitStack() as held,
    ):
        address = ("127.0.0.1", port)
        first, *_ = [held.enter_context(socket.create_connection(address, 60)) for _ in range(AT_ONCE)]
        with socket.create_connection(address, 60) as client:
            assert client.recv(1) == b""
        first.sendall(b"nonsense\r\n\r\n")
        while first.recv(1 << 16):
            pass
        assert post(port, "/v1/chat/completions")[0] == 200


def test_ending_breaks_off_what_still_goes_on() -> None:
    """No call outlives its run."""
    with serving(Script([{"say": "hello", "fault": {"endless": "x"}}])) as server:
        with relaying(Endpoint(server.url), None) as (port, calls):
            client = socket.create_connection(("127.0.0.1", port), 60)
            client.sendall(
                f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}".encode()
            )
            assert client.recv(10)
        with client, client.makefile("rb") as rest:
            rest.read()  # comes to an end
    assert calls.statuses == [200]


def test_a_socket_in_a_folder_with_a_long_path(tmp_path: Path) -> None:
    """Longer than the name of a socket can be."""
    folder = tmp_path / ("x" * 120)
    folder.mkdir()
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), folder) as (port, _),
        socket.socket(socket.AF_UNIX) as client,
        within(folder) as place,
    ):
        client.connect(f"{place}/{SOCKET}")
        client.sendall(b"GET /v1/models HTTP/1.1\r\n\r\n")
        assert client.recv(12) == b"HTTP/1.1 200"
    assert port == 0


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
    assert fault_of(status) is fault
    calls = Calls()
    assert calls.fault is None
    calls.note(status)
    assert calls.hopeless.is_set() is (fault in (Fault.UNAUTHORISED, Fault.UNKNOWN_MODEL))


def test_what_an_endpoint_does_not_know_counts_only_before_it_has_answered() -> None:
    """An endpoint that has answered knows the model: whatever it does not find then is another thing."""
    calls = Calls()
    calls.note(200)
    calls.listen(Reading(1))
    calls.note(404)
    assert (calls.fault, calls.hopeless.is_set()) == (Fault.REJECTED, False)


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/v1/x"])
def test_side_paths_say_nothing_of_the_model(path: str) -> None:
    """Known or not: they are passed on, and neither tokens nor faults come of them."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as (port, calls):
        assert post(port, path)[0] == (404 if path.endswith("x") else 200)
    assert (calls.statuses, calls.fault, calls.spent) == ([], None, Spending())


@pytest.mark.parametrize("stream", [True, False])
def test_every_answer_is_counted(stream: bool) -> None:
    """Also one whose reader hangs up; what was given back is what came."""
    body = json.dumps({**json.loads(BODY), "stream": stream})
    with serving(Script([{"say": "hello"}], read=7, written=2, cached=1)) as server:
        with relaying(Endpoint(server.url), None) as (port, calls):
            for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
                status, said = post(port, path, body=body)
                assert (status, b"llo" in said) == (200, True)
        assert calls.spent == Spending(read=21, written=6, cached=3, calls=3)


def test_what_is_broken_off_is_reckoned() -> None:
    """By what was asked and what had come by then."""
    with serving(Script([{"say": "hello", "fault": {"endless": "x" * 40}}])) as server:
        with relaying(Endpoint(server.url), None) as (port, calls):
            client = socket.create_connection(("127.0.0.1", port), 60)
            client.sendall(
                f"POST /v1/messages HTTP/1.1\r\nContent-Length: {len(BODY)}\r\n\r\n{BODY}".encode()
            )
            while calls.spent.written < 50:
                assert client.recv(1 << 16)
        client.close()
    assert (calls.spent.read, calls.spent.calls, calls.spent.estimated) == (100, 1, True)


@pytest.mark.parametrize("budget", [Budget(tokens=240), Budget(cost=2.4)], ids=["tokens", "money"])
def test_no_call_is_made_for_which_nothing_is_left(budget: Budget) -> None:
    """The agent is told, and there is no hope for its run."""

    def priced(spent: Spending) -> Spending:
        return replace(spent, cost=spent.tokens / 100)

    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None, Calls(budget, priced)) as (port, calls),
    ):
        told = [post(port, "/v1/responses")[0] for _ in range(3)]
        beside = post(port, "/v1/messages/count_tokens")[0]
    assert (told, beside, len(server.requests)) == ([200, 200, 402], 200, 2)
    assert (calls.fault, calls.hopeless.is_set(), calls.statuses) == (Fault.OVER_BUDGET, True, [200, 200])


def test_only_a_refusal_of_the_work_counts() -> None:
    """A title that was asked for beside it says nothing; neither does a refusal the agent got over."""
    work = json.dumps({**json.loads(BODY), "tools": []})
    script = Script([{}], asked=lambda body: {"refuse": "no"} if "tools" in body else {"say": "x"})
    with serving(script) as server, relaying(Endpoint(server.url), None) as (port, calls):
        assert (post(port, "/v1/messages", body=BODY)[0], calls.fault) == (200, None)
        assert (post(port, "/v1/messages", body=work)[0], calls.fault) == (200, Fault.REFUSED)
        assert (post(port, "/v1/messages", body=BODY)[0], calls.fault) == (200, Fault.REFUSED)
        script.asked = lambda _: {"say": "as you like"}
        assert (post(port, "/v1/messages", body=work)[0], calls.fault) == (200, None)
    assert not calls.hopeless.is_set()


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
def test_how_long_an_endpoint_asks_to_wait(said: str | None, seconds: float | None) -> None:
    """A number or a time; what is neither asks for nothing, and nobody waits for ever."""
    assert wait_of(said) == seconds


def test_the_wait_of_the_last_answer_counts() -> None:
    """As long as it was one that asks to wait."""
    fault = {"status": 429, "retry_after": 7}
    script = Script([{"say": "x", "fault": fault, "times": 1}])
    with serving(script) as server, relaying(Endpoint(server.url), None) as (port, calls):
        assert (post(port, "/v1/responses")[0], calls.fault, calls.wait) == (429, Fault.RATE_LIMITED, 7)
        assert (post(port, "/v1/responses")[0], calls.fault, calls.wait) == (200, None, None)


def test_https_is_spoken_to_https() -> None:
    """The agent speaks plainly to the relay; the relay does not to the world."""
    assert isinstance(Endpoint("https://api.example/v1").connection(), http.client.HTTPSConnection)
