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

from accordance.domain.case import Budget
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending
from accordance.executors.agents.calls import Calls, fault_of, wait_of
from accordance.executors.agents.counting import Reading
from accordance.executors.agents.relay import AT_ONCE, SOCKET, UNREADABLE, Door, Endpoint, relaying
from accordance.executors.agents.sockets import within
from tests.fake_model_server import Script, serving

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True})


def post(door: Door, path: str, headers: dict[str, str] | None = None, body: str = BODY) -> tuple[int, bytes]:
    """Ask through the relay, as an agent would."""
    return ask(door, "POST", path, headers, body)


def ask(
    door: Door, method: str, path: str, headers: dict[str, str] | None = None, body: str | None = None
) -> tuple[int, bytes]:
    """Send it any request, with the run's key unless something else is said."""
    with closing(connected(door)) as connection:
        connection.request(method, path, body, {"X-Api-Key": door.key} if headers is None else headers)
        answer = connection.getresponse()
        return answer.status, answer.read()


def connected(door: Door) -> http.client.HTTPConnection:
    """A connection to the relay."""
    return http.client.HTTPConnection("127.0.0.1", door.port, timeout=60)


def head(door: Door, path: str, *lines: str, method: str = "POST") -> bytes:
    """The head of a request, for a client that writes it itself."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", f"X-Api-Key: {door.key}", *lines, "", ""]).encode()


def test_the_key_is_put_in_and_the_agents_own_is_dropped() -> None:
    """The endpoint takes only the real one."""
    with serving(Script([{"say": "hello"}], key="real")) as server:
        endpoint = Endpoint(f"{server.url}/v1", (("Authorization", "Bearer real"),))
        with relaying(endpoint, None) as door:
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
        relaying(Endpoint(server.url), None) as door,
        socket.create_connection(("127.0.0.1", door.port), 60) as client,
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
        relaying(Endpoint(f"{server.url}/v1"), None) as door,
    ):
        assert post(door, path)[0] == 404
    assert (server.requests, door.calls.statuses) == ([], [])


@pytest.mark.parametrize("path", ["/v1/chat/completions?beta=../x", "/v1/a..b/.well-known/chat/completions"])
def test_dots_that_lead_nowhere_else_are_no_way_up(path: str) -> None:
    """In a query, or in a name."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(f"{server.url}/v1"), None) as door:
        assert post(door, path)[0] == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"X-Api-Key": "guessed"}, {"Authorization": "Bearer "}, {"Authorization": "Bearer \xe9"}],
    ids=["none", "another", "empty", "not ASCII"],
)
def test_whoever_does_not_know_the_key_of_the_run_is_sent_away(headers: dict[str, str]) -> None:
    """Others on this machine can reach the port, and would spend the real one. Nothing of theirs is read."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as door:
        told = {**headers, "Content-Length": "5"}  # which never come
        assert ask(door, "POST", "/v1/chat/completions", told)[0] == 401
        assert ask(door, "GET", "/v1/models", headers)[0] == 401
    assert (server.requests, door.calls.statuses, door.calls.hopeless.is_set()) == ([], [], False)


def test_every_run_has_a_key_of_its_own() -> None:
    """What one agent knew opens no other door."""
    endpoint = Endpoint("http://127.0.0.1:9")
    with relaying(endpoint, None) as one, relaying(endpoint, None) as other:
        assert one.key != other.key
        assert ask(other, "GET", "/v1/models", {"X-Api-Key": one.key})[0] == 401


def test_looking_around_is_passed_on_and_says_nothing_of_the_model() -> None:
    """Agents ask for models and send HEAD before they begin."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as door:
        for method, path, status in (("HEAD", "/", 200), ("GET", "/v1/models", 200), ("GET", "/x", 404)):
            assert ask(door, method, path)[0] == status
    assert door.calls.statuses == []


def test_an_endpoint_that_is_not_there_is_hopeless_after_a_few_calls() -> None:
    """The agent would wait for ever; the relay knows better."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with relaying(Endpoint(f"http://127.0.0.1:{port}"), None) as door:
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
def test_a_body_of_no_length_or_too_much_of_it_is_refused(length: str, body: str, status: int) -> None:
    """What an agent sends is not trusted either, and never read without end."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as door:
        with socket.create_connection(("127.0.0.1", door.port), 60) as client:
            client.sendall(head(door, "/v1/x", length) + body.encode())
            client.shutdown(socket.SHUT_WR)
            assert client.recv(12) == f"HTTP/1.1 {status}".encode()
        assert post(door, "/v1/chat/completions")[0] == 200
    assert len(server.requests) == 1


def test_what_has_no_length_is_not_read() -> None:
    """Nothing waits for the end of what has none: the answer is there while the agent still sends."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None) as door,
        socket.create_connection(("127.0.0.1", door.port), 60) as client,
    ):
        client.sendall(head(door, "/v1/x", "Content-Length: -1"))
        assert client.recv(12) == b"HTTP/1.1 400"


def test_nonsense_ends_only_its_own_connection() -> None:
    """The next one is served."""
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as door:
        with socket.create_connection(("127.0.0.1", door.port), 60) as client:
            client.sendall(b"\x00\xff\r\n\r\n")
            client.shutdown(socket.SHUT_WR)
            client.recv(1)
        assert post(door, "/v1/chat/completions")[0] == 200


def test_only_a_few_connections_are_served_at_once() -> None:
    """One more is hung up on; when another has gone, there is room again."""
    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None) as door,
        contextlib.ExitStack() as held,
    ):
        address = ("127.0.0.1", door.port)
        first, *_ = [held.enter_context(socket.create_connection(address, 60)) for _ in range(AT_ONCE)]
        with socket.create_connection(address, 60) as client:
            assert client.recv(1) == b""
        first.sendall(b"nonsense\r\n\r\n")
        while first.recv(1 << 16):
            pass
        assert post(door, "/v1/chat/completions")[0] == 200


def test_ending_breaks_off_what_still_goes_on() -> None:
    """No call outlives its run."""
    with serving(Script([{"say": "hello", "fault": {"endless": "x"}}])) as server:
        with relaying(Endpoint(server.url), None) as door:
            client = socket.create_connection(("127.0.0.1", door.port), 60)
            client.sendall(head(door, "/v1/chat/completions", f"Content-Length: {len(BODY)}") + BODY.encode())
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
        relaying(Endpoint(server.url), folder) as door,
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
    with serving(Script([{"say": "hello"}])) as server, relaying(Endpoint(server.url), None) as door:
        assert post(door, path)[0] == (404 if path.endswith("x") else 200)
    assert (door.calls.statuses, door.calls.fault, door.calls.spent) == ([], None, Spending())


@pytest.mark.parametrize("stream", [True, False])
def test_every_answer_is_counted(stream: bool) -> None:
    """Also one whose reader hangs up; what was given back is what came."""
    body = json.dumps({**json.loads(BODY), "stream": stream})
    with serving(Script([{"say": "hello"}], read=7, written=2, cached=1)) as server:
        with relaying(Endpoint(server.url), None) as door:
            for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
                status, said = post(door, path, body=body)
                assert (status, b"llo" in said) == (200, True)
        assert door.calls.spent == Spending(read=21, written=6, cached=3, calls=3)


def test_what_is_broken_off_is_reckoned() -> None:
    """By what was asked and what had come by then."""
    with serving(Script([{"say": "hello", "fault": {"endless": "x" * 40}}])) as server:
        with relaying(Endpoint(server.url), None) as door:
            client = socket.create_connection(("127.0.0.1", door.port), 60)
            client.sendall(head(door, "/v1/messages", f"Content-Length: {len(BODY)}") + BODY.encode())
            while door.calls.spent.written < 50:
                assert client.recv(1 << 16)
        client.close()
    assert (door.calls.spent.read, door.calls.spent.calls, door.calls.spent.estimated) == (100, 1, True)


@pytest.mark.parametrize("budget", [Budget(tokens=240), Budget(cost=2.4)], ids=["tokens", "money"])
def test_no_call_is_made_for_which_nothing_is_left(budget: Budget) -> None:
    """The agent is told, and there is no hope for its run."""

    def priced(spent: Spending) -> Spending:
        return replace(spent, cost=spent.tokens / 100)

    with (
        serving(Script([{"say": "hello"}])) as server,
        relaying(Endpoint(server.url), None, Calls(budget, priced)) as door,
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
    script = Script([{}], asked=lambda body: {"refuse": "no"} if "tools" in body else {"say": "x"})
    with serving(script) as server, relaying(Endpoint(server.url), None) as door:
        assert (post(door, "/v1/messages", body=BODY)[0], door.calls.fault) == (200, None)
        assert (post(door, "/v1/messages", body=work)[0], door.calls.fault) == (200, Fault.REFUSED)
        assert (post(door, "/v1/messages", body=BODY)[0], door.calls.fault) == (200, Fault.REFUSED)
        script.asked = lambda _: {"say": "as you like"}
        assert (post(door, "/v1/messages", body=work)[0], door.calls.fault) == (200, None)
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
def test_how_long_an_endpoint_asks_to_wait(said: str | None, seconds: float | None) -> None:
    """A number or a time; what is neither asks for nothing, and nobody waits for ever."""
    assert wait_of(said) == seconds


def test_the_wait_of_the_last_answer_counts() -> None:
    """As long as it was one that asks to wait."""
    fault = {"status": 429, "retry_after": 7}
    script = Script([{"say": "x", "fault": fault, "times": 1}])
    with serving(script) as server, relaying(Endpoint(server.url), None) as door:
        assert (post(door, "/v1/responses")[0], door.calls.fault, door.calls.wait) == (
            429,
            Fault.RATE_LIMITED,
            7,
        )
        assert (post(door, "/v1/responses")[0], door.calls.fault, door.calls.wait) == (200, None, None)


SECRET = "sk-very-secret"
SAID = f'{{"error": "no such key: {SECRET}"}}'.encode()


@contextlib.contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[str]:
    """An endpoint that always gives the same answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

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
        pytest.param(gzip.compress(SAID, mtime=0), "gzip", b'{"error": "no such key: [key]"}', id="gzip"),
        pytest.param(zlib.compress(SAID), "Deflate", b'{"error": "no such key: [key]"}', id="deflate"),
        pytest.param(SAID, "gzip", UNREADABLE, id="not the encoding it claims"),
        pytest.param(SAID[::-1], "br", UNREADABLE, id="an encoding we cannot read"),
        pytest.param(b"\xff" + SAID, "identity", b'\xff{"error": "no such key: [key]"}', id="not UTF-8"),
    ],
)
def test_an_error_is_given_back_without_the_key(body: bytes, encoding: str, given: bytes) -> None:
    """Some endpoints repeat it, and the agent, its logs and its words are not to have it."""
    about = {"Content_Encoding": encoding, "Content_Length": str(len(body)), "WWW_Authenticate": SECRET}
    with answering(401, body, **about) as url:
        endpoint = Endpoint(url, (("Authorization", f"Bearer {SECRET}"),), SECRET)
        with relaying(endpoint, None) as door, closing(connected(door)) as connection:
            connection.request("POST", "/v1/responses", BODY, {"X-Api-Key": door.key})
            answer = connection.getresponse()
            assert (answer.status, answer.read()) == (401, given)
            assert answer.getheader("www-authenticate") == "[key]"
    assert door.calls.fault is Fault.UNAUTHORISED


def test_https_is_spoken_to_https() -> None:
    """The agent speaks plainly to the relay; the relay does not to the world."""
    assert isinstance(Endpoint("https://api.example/v1").connection(), http.client.HTTPSConnection)
