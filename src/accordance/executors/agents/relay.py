"""The relay: an agent's only way to its model.

It holds the key, so that the agent never does, and sees every call. The agent speaks
HTTP to it, through a socket in its folder or on loopback; the relay adds the key and
speaks to the endpoint.

A request is served only if it carries the run's own stand-in key. Only granted requests
are passed on, for the model of the run, while budget is left. Refused requests are
recorded. No answer contains the real key.
"""

from __future__ import annotations

import contextlib
import http.client
import secrets
import socketserver
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from accordance.executors.agents.answer_reader import AnswerReader
from accordance.executors.agents.calls import (
    Calls,
    fault_of_status,
    seconds_to_wait,
)
from accordance.executors.agents.decompression import (
    decompressed,
    decompressed_parts,
    encoding_of,
    is_readable,
)
from accordance.executors.agents.grants import (
    Grant,
    may_forward_header,
    may_return_header,
)
from accordance.executors.agents.request_filter import (
    RequestRefused,
    read_body,
    require_key,
)
from accordance.executors.agents.sockets import within
from accordance.executors.redaction import KeyMask, without_key

SOCKET: Final = "model.sock"
AT_ONCE: Final = 8  # connections; further ones are closed at once
UNREADABLE: Final = b"the endpoint's answer cannot be read"
_UNREACHABLE: Final = b"the model's endpoint cannot be reached"
_BUDGET_USED_UP: Final = b"the budget of this run is used up"
_CHUNK_BYTES: Final = 1 << 16
_MAX_ERROR_BYTES: Final = 1 << 20
_ENDPOINT_SECONDS: Final = 600
_POLL_SECONDS: Final = 0.05
_HOP_HEADERS: Final = frozenset(
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
"""Headers that concern a single connection, and are never passed on."""
_STAND_IN_KEY: Final = "the-relay-holds-the-key-"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of a model, and the headers that carry the key."""

    url: str
    headers: tuple[tuple[str, str], ...] = ()
    key: str = ""

    @property
    def parts(self) -> SplitResult:
        """The parts of the address."""
        return urlsplit(self.url)

    @property
    def path(self) -> str:
        """The path that all requests begin with."""
        return self.parts.path.rstrip("/")

    def connection(self) -> http.client.HTTPConnection:
        """Return a new connection, not yet open."""
        parts = self.parts
        is_secure = parts.scheme == "https"
        connect = (
            http.client.HTTPSConnection if is_secure else http.client.HTTPConnection
        )
        return connect(parts.hostname or "", parts.port, timeout=_ENDPOINT_SECONDS)


class _Handler(BaseHTTPRequestHandler):
    """Serves a single request of an agent."""

    protocol_version = "HTTP/1.1"
    endpoint: Endpoint
    grant: Grant
    calls: Calls
    key: str
    asks_model = False  # the request costs money, and its status is the model's
    is_answering = False  # an answer that breaks off now stays incomplete

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
        """Log nothing: the relay keeps its own records."""

    def do_GET(self) -> None:
        self._serve()

    def do_HEAD(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_PATCH(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def do_OPTIONS(self) -> None:
        self._serve()

    def do_CONNECT(self) -> None:
        self._serve()

    def do_TRACE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        self.close_connection = True

        try:
            require_key(self.key, self.headers)
            body = self._granted_body()
        except RequestRefused as refused:
            self._answer(refused.status, str(refused).encode())
            return

        if self.asks_model and not self.calls.may_continue():
            self._answer(HTTPStatus.PAYMENT_REQUIRED, _BUDGET_USED_UP)
            return

        with contextlib.closing(self.endpoint.connection()) as connection:
            self._pass_on(connection, body)

    def _granted_body(self) -> bytes:
        """Return the body of a granted request.

        Records any other request, and raises RequestRefused.
        """
        try:
            request = self.grant.find(self.endpoint.path, self.command, self.path)
            body = read_body(self.headers, self.rfile)
            if request.method == "POST":
                self.grant.require_own_model(body)
        except RequestRefused as refused:
            path = self.path.partition("?")[0]
            self.calls.record_refusal(
                f"{self.command} {path}", refused.status, str(refused)
            )
            raise

        self.asks_model = request.asks_model
        return body

    # -- to the endpoint

    def _pass_on(self, connection: http.client.HTTPConnection, body: bytes) -> None:
        try:
            connection.connect()
            with self.calls.tracking(connection.sock):
                headers = self._forwarded_headers()
                connection.request(self.command, self.path, body, headers)
                response = connection.getresponse()
                reader = self._record(response, body)
                self._give_back(response, reader)
        except (OSError, http.client.HTTPException):
            if not self.is_answering:
                if self.asks_model:
                    self.calls.record_status(0)
                self._answer(HTTPStatus.BAD_GATEWAY, _UNREACHABLE)

    def _forwarded_headers(self) -> dict[str, str]:
        forwarded = {
            name: value
            for name, value in self.headers.items()
            if may_forward_header(name)
        }
        return {**forwarded, **dict(self.endpoint.headers)}

    def _record(
        self, response: http.client.HTTPResponse, body: bytes
    ) -> AnswerReader | None:
        """Record a response; return the reader for a good answer of the model."""
        if not self.asks_model:
            return None

        wait = seconds_to_wait(response.getheader("retry-after"))
        self.calls.record_status(response.status, wait)
        if fault_of_status(response.status) is not None:
            return None

        reader = AnswerReader(
            len(body), encoding_of(response), is_work=b'"tools"' in body
        )
        return self.calls.record_answer(reader)

    # -- back to the agent

    def _give_back(
        self, response: http.client.HTTPResponse, reader: AnswerReader | None
    ) -> None:
        self.is_answering = True
        if response.status >= HTTPStatus.BAD_REQUEST:
            self._give_back_error(response)
            return

        encoding = encoding_of(response)
        if not is_readable(encoding):
            self._answer(HTTPStatus.BAD_GATEWAY, UNREADABLE)
            return

        parts = _received_parts(response, reader)
        if encoding == "identity":
            self._send_head(response)
        else:
            parts = decompressed_parts(parts, _CHUNK_BYTES)
            self._send_head(
                response, {"content-encoding": "identity", "content-length": None}
            )
        self._send_parts(parts, reader)

    def _send_parts(self, parts: Iterator[bytes], reader: AnswerReader | None) -> None:
        mask = KeyMask(self.endpoint.key)
        try:
            for part in parts:
                self.wfile.write(mask.feed(part))
                self.wfile.flush()
            self.wfile.write(mask.end())
        finally:
            if reader is not None:
                reader.close()

    def _give_back_error(self, response: http.client.HTTPResponse) -> None:
        """Pass an error on, without the key, which some endpoints repeat."""
        body = decompressed(
            response.read(_MAX_ERROR_BYTES), encoding_of(response), _MAX_ERROR_BYTES
        )
        if body is None:
            body = UNREADABLE

        text = body.decode("utf-8", "surrogateescape")
        cleaned = without_key(text, self.endpoint.key)
        masked = cleaned.encode("utf-8", "surrogateescape")
        self._send_head(
            response,
            {"content-length": str(len(masked)), "content-encoding": "identity"},
        )
        self.wfile.write(masked)

    def _send_head(
        self,
        response: http.client.HTTPResponse,
        replaced: Mapping[str, str | None] = MappingProxyType({}),
    ) -> None:
        """Send the head of a response. A header replaced by None is left out."""
        dropped = _HOP_HEADERS | replaced.keys()
        self.send_response(response.status)

        for name, value in response.getheaders():
            if name.lower() not in dropped and may_return_header(name):
                self.send_header(name, without_key(value, self.endpoint.key))
        for name, replacement in replaced.items():
            if replacement is not None:
                self.send_header(name, replacement)

        self.send_header("Connection", "close")
        self.end_headers()

    def _answer(self, status: int, text: bytes) -> None:
        """Answer the agent without the endpoint."""
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(text)


def _received_parts(
    response: http.client.HTTPResponse, reader: AnswerReader | None
) -> Iterator[bytes]:
    """Yield the parts of a response as they arrive, each read by the reader first."""
    while part := response.read1(_CHUNK_BYTES):
        if reader is not None:
            reader.feed(part)
        yield part


class _BoundedServer(socketserver.ThreadingMixIn, socketserver.BaseServer):
    """Serves a bounded number of connections at once, and logs nothing."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
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
        """Ignore agents that hang up or send nonsense."""


class _OnSocket(_BoundedServer, socketserver.UnixStreamServer):
    """Listens on a socket in the folder of a sandbox."""


class _OnLoopback(_BoundedServer, socketserver.TCPServer):
    """Listens on loopback, for agents that run without a sandbox."""


class RelayAccess(NamedTuple):
    """How an agent reaches its model, and the key that admits it."""

    port: int  # 0 for a socket
    key: str  # a stand-in, valid for this relay while the run lasts
    calls: Calls


@contextlib.contextmanager
def relaying(
    endpoint: Endpoint, grant: Grant, folder: Path | None, calls: Calls | None = None
) -> Iterator[RelayAccess]:
    """Relay granted requests while the block runs.

    Listens on a socket in `folder`, or on loopback without a folder.
    """
    calls = calls or Calls()
    key = _STAND_IN_KEY + secrets.token_urlsafe()
    attributes = {"endpoint": endpoint, "grant": grant, "calls": calls, "key": key}
    handler = type("Handler", (_Handler,), attributes)

    server: socketserver.BaseServer
    if folder is None:
        server = _OnLoopback(("127.0.0.1", 0), handler)
        port = int(server.server_address[1])
    else:
        with within(folder) as place:
            server = _OnSocket(f"{place}/{SOCKET}", handler)
        (folder / SOCKET).chmod(0o666)
        port = 0

    thread = threading.Thread(
        target=server.serve_forever, args=(_POLL_SECONDS,), daemon=True
    )
    thread.start()
    try:
        yield RelayAccess(port, key, calls)
    finally:
        server.shutdown()
        calls.end()
        server.server_close()
        thread.join()
