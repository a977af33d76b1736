"""The relay: the only way from an agent to its model. It holds the key, so that the agent never does, and sees every call.

The agent speaks HTTP to it, through a socket in its folder or on loopback; the relay puts the key in and speaks to the
endpoint. Only whoever knows the run's own pretended key is served; only the requests its agent is lent are passed on, for the
model of the run, and no call of the model for which nothing is left. What is refused is recorded. No answer carries the key.
"""

from __future__ import annotations

import contextlib
import http.client
import secrets
import socketserver
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from accordance.executors.agents.calls import Calls, fault_of, wait_of
from accordance.executors.agents.counting import GZIP_OR_ZLIB, Reading
from accordance.executors.agents.lending import Lent, is_for_agents, is_lent_header
from accordance.executors.agents.request_filter import Refused, must_know, read_body
from accordance.executors.agents.sockets import within
from accordance.executors.redaction import KeyMask, without_key

SOCKET: Final = "model.sock"
AT_ONCE: Final = 8  # connections; who opens more is hung up on
UNREADABLE: Final = b"the endpoint's answer cannot be read"
_CHUNK: Final = 1 << 16
_MOST_ERROR: Final = 1 << 20  # bytes of an answer that is an error
_BETWEEN_HOPS: Final = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "host",
    )
)
_READABLE: Final = ("identity", "gzip", "x-gzip", "deflate")
_PRETENDED: Final = "the-relay-holds-the-key-"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the model is, and how it is told who asks."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()  # with the key
    key: str = ""

    @property
    def parts(self) -> SplitResult:
        """The address in its parts."""
        return urlsplit(self.url)

    def connection(self) -> http.client.HTTPConnection:
        """A new connection, not yet open."""
        parts = self.parts
        kind = (
            http.client.HTTPSConnection
            if parts.scheme == "https"
            else http.client.HTTPConnection
        )
        return kind(parts.hostname or "", parts.port, timeout=600)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    endpoint: Endpoint
    lent: Lent
    calls: Calls
    key: str
    asks_model = False  # the request costs money, and its answer says how the model is
    answered = False  # something was given back already; a stream that breaks off then stays broken off

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Say nothing; what counts is noted."""

    def do_GET(self) -> None:
        self._pass_on()

    def do_HEAD(self) -> None:
        self._pass_on()

    def do_POST(self) -> None:
        self._pass_on()

    def do_PUT(self) -> None:
        self._pass_on()

    def do_PATCH(self) -> None:
        self._pass_on()

    def do_DELETE(self) -> None:
        self._pass_on()

    def do_OPTIONS(self) -> None:
        self._pass_on()

    def do_CONNECT(self) -> None:
        self._pass_on()

    def do_TRACE(self) -> None:
        self._pass_on()

    def _pass_on(self) -> None:
        self.close_connection = True
        try:
            must_know(self.key, self.headers)
            body = self._lent_body()
        except Refused as refused:
            self._say(refused.status, str(refused).encode())
            return
        if self.asks_model and not self.calls.may_go_on():
            self._say(402, b"the budget of this run is used up")
            return
        with contextlib.closing(self.endpoint.connection()) as connection:
            self._ask(connection, body)

    def _lent_body(self) -> bytes:
        """The body of a request that the agent may make. Raises Refused, and records it."""
        try:
            base = self.endpoint.parts.path.rstrip("/")
            request = self.lent.find(base, self.command, self.path)
            body = read_body(self.headers, self.rfile)
            if request.method == "POST":
                self.lent.must_ask_its_model(body)
        except Refused as refused:
            self.calls.refuse(
                f"{self.command} {self.path.partition('?')[0]}",
                refused.status,
                str(refused),
            )
            raise
        self.asks_model = request.asks_model
        return body

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

    def _note(self, status: int, wait: float | None = None) -> None:
        if self.asks_model:
            self.calls.note(status, wait)

    def _noted(self, answer: http.client.HTTPResponse, body: bytes) -> Reading | None:
        """Remember an answer; one of the model's own that is good is listened to."""
        self._note(answer.status, wait_of(answer.getheader("retry-after")))
        if not self.asks_model or fault_of(answer.status) is not None:
            return None
        return self.calls.listen(
            Reading(len(body), _encoding(answer), is_work=b'"tools"' in body)
        )

    def _headers(self) -> dict[str, str]:
        kept = {
            name: value for name, value in self.headers.items() if is_lent_header(name)
        }
        return {**kept, **dict(self.endpoint.headers)}

    def _give_back(
        self, answer: http.client.HTTPResponse, reading: Reading | None
    ) -> None:
        self.answered = True
        if answer.status >= http.HTTPStatus.BAD_REQUEST:
            self._give_back_error(answer)
            return
        encoding = _encoding(answer)
        if encoding not in _READABLE:
            self._say(502, UNREADABLE)
            return
        is_packed = encoding != "identity"
        self._begin(
            answer,
            {"content-encoding": "identity", "content-length": None}
            if is_packed
            else {},
        )
        mask = KeyMask(self.endpoint.key)
        try:
            for part in _plain(_heard(answer, reading), is_packed=is_packed):
                self.wfile.write(mask.feed(part))
                self.wfile.flush()
            self.wfile.write(mask.end())
        finally:
            if reading is not None:
                reading.end()

    def _give_back_error(self, answer: http.client.HTTPResponse) -> None:
        """An error, unpacked and without the key, which some endpoints repeat."""
        said = _unpacked(answer.read(_MOST_ERROR), _encoding(answer)).decode(
            "utf-8", "surrogateescape"
        )
        text = without_key(said, self.endpoint.key).encode("utf-8", "surrogateescape")
        self._begin(
            answer, {"content-length": str(len(text)), "content-encoding": "identity"}
        )
        self.wfile.write(text)

    def _begin(
        self,
        answer: http.client.HTTPResponse,
        instead: Mapping[str, str | None] = MappingProxyType({}),
    ) -> None:
        """The head of an answer, some of it changed, or left out where there is None instead."""
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _BETWEEN_HOPS | instead.keys() and is_for_agents(
                name
            ):
                self.send_header(name, without_key(value, self.endpoint.key))
        for name, changed in {**instead, "Connection": "close"}.items():
            if changed is not None:
                self.send_header(name, changed)
        self.end_headers()

    def _say(self, status: int, text: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)


def _encoding(answer: http.client.HTTPResponse) -> str:
    return (answer.getheader("content-encoding") or "identity").strip().lower()


def _heard(
    answer: http.client.HTTPResponse, reading: Reading | None
) -> Iterator[bytes]:
    """The parts of an answer as they come, listened to."""
    while part := answer.read1(_CHUNK):
        if reading is not None:
            reading.hear(part)
        yield part


def _plain(parts: Iterable[bytes], *, is_packed: bool) -> Iterator[bytes]:
    """The parts as they were before they were packed, a bounded piece at a time; what is broken ends there."""
    if not is_packed:
        yield from parts
        return
    unpacking = zlib.decompressobj(GZIP_OR_ZLIB)
    for part in parts:
        rest = part
        while rest:
            try:
                piece = unpacking.decompress(rest, _CHUNK)
            except zlib.error:
                return
            yield piece
            rest = unpacking.unconsumed_tail


def _unpacked(body: bytes, encoding: str) -> bytes:
    """A body as it was before it was packed; a word about it, if nobody here can tell."""
    if encoding == "identity":
        return body
    try:
        return zlib.decompressobj(GZIP_OR_ZLIB).decompress(body, _MOST_ERROR)
    except zlib.error:
        return UNREADABLE


class _Quiet(socketserver.ThreadingMixIn, socketserver.BaseServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection, if there is room for another."""
        if self._places.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().finish_request(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """An agent that hangs up or speaks nonsense is no news."""


class _OnSocket(_Quiet, socketserver.UnixStreamServer):
    """In a sandbox's folder."""


class _OnLoopback(_Quiet, socketserver.TCPServer):
    """For agents that are kept apart by nothing but limits."""


class Door(NamedTuple):
    """Where an agent reaches its model, and what it says there to be let in."""

    port: int  # 0 for a socket
    key: str  # pretended: it opens this door, while the run lasts, and no other
    calls: Calls


@contextlib.contextmanager
def relaying(
    endpoint: Endpoint, lent: Lent, folder: Path | None, calls: Calls | None = None
) -> Iterator[Door]:
    """Relay while the block runs what is lent: through a socket in `folder`, or on loopback."""
    calls, key = calls or Calls(), _PRETENDED + secrets.token_urlsafe()
    handler = type(
        "Handler",
        (_Handler,),
        {"endpoint": endpoint, "lent": lent, "calls": calls, "key": key},
    )
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
        yield Door(port, key, calls)
    finally:
        server.shutdown()
        calls.end()
        server.server_close()
        thread.join()
