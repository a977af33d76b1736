"""The relay: the only way from an agent to its model. It holds the key, so that the agent never does, and sees every call.

The agent speaks HTTP to it, through a socket in its folder or on loopback; the relay puts the key in and speaks to the
endpoint. Only paths below the endpoint's own are passed on, and no call of the model for which nothing is left.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import http.client
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from accordance.domain.case import Budget
from accordance.domain.faults import Fault
from accordance.domain.spending import Spending, total
from accordance.executors.agents.counting import Reading, asks_the_model
from accordance.executors.agents.sockets import within

SOCKET: Final = "model.sock"
_CHUNK: Final = 1 << 16
_MOST_BODY: Final = 64 << 20
_HOPELESS_AFTER: Final = 3  # calls in a row that never reached the endpoint
_LAST_WORDS: Final = 2.0  # seconds that calls which were broken off have to end
_LONGEST_WAIT: Final = 24 * 3600.0  # whatever an endpoint asks for
_OVERLOADED: Final = (503, 529)
_BETWEEN_HOPS: Final = frozenset(
    ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host")
)
_KEYS: Final = frozenset(("authorization", "x-api-key", "proxy-authorization", "api-key"))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is, and how it is told who asks."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()  # with the key

    @property
    def parts(self) -> SplitResult:
        """The address in its parts."""
        return urlsplit(self.url)

    def connection(self) -> http.client.HTTPConnection:
        """A new connection, not yet open."""
        parts = self.parts
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return kind(parts.hostname or "", parts.port, timeout=600)


@dataclass(slots=True)
class Calls:
    """What was seen of the calls of a model, as facts."""

    budget: Budget = field(default_factory=Budget)
    priced: Callable[[Spending], Spending] = lambda spent: spent
    statuses: list[int] = field(default_factory=list)  # 0: the endpoint was not reached
    answers: list[Reading] = field(default_factory=list)  # the good ones, also those that are still coming
    wait: float | None = None  # seconds the endpoint asked to wait, in its last answer
    hopeless: threading.Event = field(default_factory=threading.Event)
    _is_over_budget: bool = False
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Condition = field(default_factory=threading.Condition)

    @contextlib.contextmanager
    def going_on(self, line: socket.socket) -> Iterator[None]:
        """A call that `end` can break off."""
        with self._lock:
            self._open.add(line)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(line)
                self._lock.notify_all()

    def end(self) -> None:
        """Break off every call that is still going on; what came of it has been read then."""
        with self._lock:
            for line in self._open:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)
            self._lock.wait_for(lambda: not self._open, _LAST_WORDS)

    def note(self, status: int, wait: float | None = None) -> None:
        """Remember how a call ended."""
        with self._lock:
            self.statuses.append(status)
            self.wait = wait
            never = self.statuses[-_HOPELESS_AFTER:] == [0] * _HOPELESS_AFTER
            if never or self._last_fault in (Fault.UNAUTHORISED, Fault.UNKNOWN_MODEL):
                self.hopeless.set()

    def listen(self, reading: Reading) -> Reading:
        """Remember a good answer, while it comes."""
        with self._lock:
            self.answers.append(reading)
        return reading

    def may_go_on(self) -> bool:
        """Whether another call may be made; if not, the run has no hope left."""
        if not self.spent.uses_up(self.budget):
            return True
        self._is_over_budget = True
        self.hopeless.set()
        return False

    @property
    def spent(self) -> Spending:
        """What all of them cost."""
        with self._lock:
            return self.priced(total(answer.spending for answer in self.answers))

    @property
    def fault(self) -> Fault | None:
        """What is wrong: with the budget, or with the model and its endpoint, going by the last answer."""
        with self._lock:
            if self._is_over_budget:
                return Fault.OVER_BUDGET
            last = next((answer for answer in reversed(self.answers) if answer.is_work), None)
            is_refused = last is not None and last.refused
            return self._last_fault or (Fault.REFUSED if is_refused else None)

    @property
    def _last_fault(self) -> Fault | None:
        """Of the last call. An endpoint that has answered knows the model."""
        fault = fault_of(self.statuses[-1]) if self.statuses else None
        return Fault.REJECTED if fault is Fault.UNKNOWN_MODEL and self.answers else fault


def fault_of(status: int) -> Fault | None:
    """What a status means; None if it is a good one."""
    if status in (401, 403):
        return Fault.UNAUTHORISED
    if status == http.HTTPStatus.NOT_FOUND:
        return Fault.UNKNOWN_MODEL
    if status == http.HTTPStatus.TOO_MANY_REQUESTS:
        return Fault.RATE_LIMITED
    if status == 0 or status in _OVERLOADED:
        return Fault.UNAVAILABLE
    if status >= http.HTTPStatus.INTERNAL_SERVER_ERROR:
        return Fault.SERVER_ERROR
    return Fault.REJECTED if status >= http.HTTPStatus.BAD_REQUEST else None


def wait_of(said: str | None) -> float | None:
    """How many seconds a Retry-After asks for: a number, or a time."""
    if not said:
        return None
    try:
        seconds = float(said)
    except ValueError:
        seconds = _until(said)
    return min(seconds, _LONGEST_WAIT) if seconds >= 0 else None


def _until(said: str) -> float:
    """How many seconds are left until a time; -1 if it is none."""
    try:
        until = parsedate_to_datetime(said)
    except ValueError:
        return -1
    return max(0.0, (until - dt.datetime.now(until.tzinfo)).total_seconds())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint
    calls: Calls
    answered = False  # something was given back already; a stream that breaks off then stays broken off

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing; what counts is noted."""

    def do_GET(self) -> None:
        self._pass_on()

    def do_HEAD(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        self.close_connection = True
        base, body = self.endpoint.parts.path.rstrip("/"), self._body()
        if not (self.path == base or self.path.startswith((f"{base}/", f"{base}?"))):
            self._say(404, b"only the model's own address can be reached")
        elif body is None:
            self._say(413, b"too large")
        elif self._asks_the_model and not self.calls.may_go_on():
            self._say(402, b"the budget of this run is used up")
        else:
            with contextlib.closing(self.endpoint.connection()) as connection:
                self._ask(connection, body)

    def _ask(self, connection: http.client.HTTPConnection, body: bytes) -> None:
        try:
            connection.connect()
            with self.calls.going_on(connection.sock):
                connection.request(self.command, self.path, body, self._headers())
                answer = connection.getresponse()
                self._give_back(answer, self._noted(answer, body))
        except (OSError, http.client.HTTPException):
            if not self.answered:
                self._note(0)
                self._say(502, b"the model's endpoint cannot be reached")

    @property
    def _asks_the_model(self) -> bool:
        """Looks around beforehand, and what is counted or told beside, say nothing about the model."""
        return self.command == "POST" and asks_the_model(self.path)

    def _note(self, status: int, wait: float | None = None) -> None:
        if self._asks_the_model:
            self.calls.note(status, wait)

    def _noted(self, answer: http.client.HTTPResponse, body: bytes) -> Reading | None:
        """Remember an answer; one of the model's own that is good is listened to."""
        self._note(answer.status, wait_of(answer.getheader("retry-after")))
        if not self._asks_the_model or fault_of(answer.status) is not None:
            return None
        encoding = (answer.getheader("content-encoding") or "identity").lower()
        return self.calls.listen(Reading(len(body), encoding, is_work=b'"tools"' in body))

    def _body(self) -> bytes | None:
        if "chunked" in (self.headers.get("transfer-encoding") or "").lower():
            return self._chunks()
        length = int(self.headers.get("content-length") or 0)
        return self.rfile.read(length) if length <= _MOST_BODY else None

    def _chunks(self) -> bytes | None:
        body = b""
        while size := int(self.rfile.readline(100).split(b";")[0] or b"0", 16):
            if len(body) + size > _MOST_BODY:
                return None
            body += self.rfile.read(size)
            self.rfile.readline(100)
        self.rfile.readline(100)
        return body

    def _headers(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _BETWEEN_HOPS | _KEYS | {"content-length", "accept-encoding"}
        }
        return {**kept, **dict(self.endpoint.headers)}

    def _give_back(self, answer: http.client.HTTPResponse, reading: Reading | None) -> None:
        self.answered = True
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _BETWEEN_HOPS:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            while part := answer.read1(_CHUNK):
                if reading is not None:
                    reading.hear(part)
                self.wfile.write(part)
                self.wfile.flush()
        finally:
            if reading is not None:
                reading.end()

    def _say(self, status: int, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)


class _Quiet(socketserver.ThreadingMixIn):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that hangs up or speaks nonsense is no news."""


class _OnSocket(_Quiet, socketserver.UnixStreamServer):
    """In a sandbox's folder."""


class _OnLoopback(_Quiet, socketserver.TCPServer):
    """For agents that are kept apart by nothing but limits."""


@contextlib.contextmanager
def relaying(
    endpoint: Endpoint, folder: Path | None, calls: Calls | None = None
) -> Iterator[tuple[int, Calls]]:
    """Relay while the block runs: through a socket in `folder`, or on loopback. Gives the port, 0 for a socket."""
    calls = calls or Calls()
    handler = type("Handler", (_Handler,), {"endpoint": endpoint, "calls": calls})
    server: socketserver.BaseServer
    if folder is None:
        server = _OnLoopback(("127.0.0.1", 0), handler)
        port = int(server.server_address[1])
    else:
        with within(folder) as place:
            server, port = _OnSocket(f"{place}/{SOCKET}", handler), 0
        (folder / SOCKET).chmod(0o666)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield port, calls
    finally:
        server.shutdown()
        calls.end()
        server.server_close()
        thread.join()
