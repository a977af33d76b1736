"""The relay: the only way from an agent to its model. It holds the key, so that the agent never does, and sees every call.

The agent speaks HTTP to it, through a socket in its folder or on loopback; the relay puts the key in and speaks to the
endpoint. Only paths below the endpoint's own are passed on.
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import socketserver
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from accordance.domain.faults import Fault
from accordance.executors.agents.sockets import within

SOCKET: Final = "model.sock"
_CHUNK: Final = 1 << 16
_MOST_BODY: Final = 64 << 20
_HOPELESS_AFTER: Final = 3  # calls in a row that never reached the endpoint
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
    """What was seen of the calls, as facts."""

    statuses: list[int] = field(default_factory=list)  # 0: the endpoint was not reached
    hopeless: threading.Event = field(default_factory=threading.Event)
    _open: set[socket.socket] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

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

    def end(self) -> None:
        """Break off every call that is still going on."""
        with self._lock:
            for line in self._open:
                with contextlib.suppress(OSError):
                    line.shutdown(socket.SHUT_RDWR)

    def note(self, status: int) -> None:
        """Remember how a call ended."""
        with self._lock:
            self.statuses.append(status)
            never = self.statuses[-_HOPELESS_AFTER:] == [0] * _HOPELESS_AFTER
            if never or fault_of(status) in (Fault.UNAUTHORISED, Fault.UNKNOWN_MODEL):
                self.hopeless.set()

    @property
    def fault(self) -> Fault | None:
        """What is wrong with the endpoint, going by its last answer."""
        with self._lock:
            return fault_of(self.statuses[-1]) if self.statuses else None


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
        else:
            with contextlib.closing(self.endpoint.connection()) as connection:
                self._ask(connection, body)

    def _ask(self, connection: http.client.HTTPConnection, body: bytes) -> None:
        try:
            connection.connect()
            with self.calls.going_on(connection.sock):
                connection.request(self.command, self.path, body, self._headers())
                answer = connection.getresponse()
                self._note(answer.status)
                self._give_back(answer)
        except (OSError, http.client.HTTPException):
            if not self.answered:
                self._note(0)
                self._say(502, b"the model's endpoint cannot be reached")

    def _note(self, status: int) -> None:
        if self.command == "POST":  # looks around beforehand say nothing about the model
            self.calls.note(status)

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

    def _give_back(self, answer: http.client.HTTPResponse) -> None:
        self.answered = True
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _BETWEEN_HOPS:
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while part := answer.read1(_CHUNK):
            self.wfile.write(part)
            self.wfile.flush()

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
def relaying(endpoint: Endpoint, folder: Path | None) -> Iterator[tuple[int, Calls]]:
    """Relay while the block runs: through a socket in `folder`, or on loopback. Gives the port, 0 for a socket."""
    calls = Calls()
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
