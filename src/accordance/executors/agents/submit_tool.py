"""The `submit` tool of a running agent: an opinion while it can still fix its work.

The server stays outside the sandbox; the agent's side is a pipe to a socket in its
folder. The opinion is provisional: once the agent has ended, everything is judged again
from facts.
"""

from __future__ import annotations

import contextlib
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import anyio

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.agents.sockets import within
from accordance.executors.opinion import Opinion
from accordance.executors.tool_server import ToolOffer, make_server, serve

SOCKET: Final = "submit.sock"
MOST: Final = 50  # messages an agent may submit
_KEPT: Final = 10  # of them, the last ones
_CONNECTIONS: Final = 4  # at once: each of the agent and its subprocesses
_MESSAGE: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "message": {
            "type": "object",
            "description": "The whole message, as its contract requires.",
        }
    },
    "required": ["message"],
}
_DESCRIPTION: Final = (
    "Submit your message and get a provisional verdict at once: DONE, or RETRY with"
    " everything that is wrong. Fix it and submit it again until the verdict is DONE."
)
_INSTRUCTIONS: Final = "Submit your message with the submit tool before you end."
_NO_MORE: Final = Opinion(
    done=False,
    text=f"At most {MOST} messages are accepted. End now; the work is judged as it is.",
)


class SubmittedMessage(NamedTuple):
    """A message that an agent submitted, and the opinion it got."""

    raw: bytes
    opinion: Opinion
    at: float  # on the monotonic clock


@dataclass(slots=True)
class SubmitTool:
    """The tool, and what an agent has submitted so far."""

    opinion: Callable[[bytes], Opinion]
    submitted: list[SubmittedMessage] = field(default_factory=list)  # the last ones
    _count: int = 0
    _is_over: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def done(self) -> SubmittedMessage | None:
        """The last message that was good."""
        for message in reversed(self.submitted):
            if message.opinion.done:
                return message
        return None

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Take a message, and return the opinion on it.

        The same message is judged again when it comes again: the work it describes may
        have been fixed since.
        """
        message = arguments.get("message")
        if not isinstance(message, str):
            message = json.dumps(message, ensure_ascii=False)

        with self._turn:  # a submission at a time
            opinion = self._take(message.encode())
        return opinion.to_json()

    def _take(self, raw: bytes) -> Opinion:
        if self._is_over or self._count >= MOST:
            return _NO_MORE

        self._count += 1
        opinion = self.opinion(raw)
        if not self._is_over:
            message = SubmittedMessage(raw, opinion, time.monotonic())
            self.submitted.append(message)
            del self.submitted[:-_KEPT]
        return opinion

    @contextlib.contextmanager
    def offered(self, folder: Path, max_bytes: int) -> Iterator[None]:
        """Offer the tool on a socket in `folder` while the block runs.

        `max_bytes` bounds what is read from a connection.
        """
        offer = ToolOffer("submit", _DESCRIPTION, _MESSAGE, self.submit)

        with socket.socket(socket.AF_UNIX) as listener:
            with within(folder) as place:
                listener.bind(f"{place}/{SOCKET}")
            (folder / SOCKET).chmod(0o666)
            listener.listen()

            connections: set[socket.socket] = set()
            thread = threading.Thread(
                target=_accept,
                args=(listener, offer, max_bytes, connections),
                daemon=True,
            )
            thread.start()
            try:
                yield
            finally:
                self._is_over = True
                _hang_up(listener)
                thread.join()
                for connection in list(connections):
                    _hang_up(connection)


def _hang_up(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def _accept(
    listener: socket.socket,
    offer: ToolOffer,
    max_bytes: int,
    connections: set[socket.socket],
) -> None:
    """Serve each connection in a thread of its own, until the listener is shut."""
    with contextlib.suppress(OSError):
        while True:
            connection = listener.accept()[0]
            if len(connections) >= _CONNECTIONS:
                connection.close()
                continue

            connections.add(connection)
            thread = threading.Thread(
                target=_serve,
                args=(connection, offer, max_bytes, connections),
                daemon=True,
            )
            thread.start()


def _serve(
    connection: socket.socket,
    offer: ToolOffer,
    max_bytes: int,
    connections: set[socket.socket],
) -> None:
    try:
        _serve_tool(connection, offer, max_bytes)
    finally:
        connections.discard(connection)


def _serve_tool(connection: socket.socket, offer: ToolOffer, max_bytes: int) -> None:
    bounded = io.BufferedReader(_BoundedSocketReader(connection, max_bytes))
    reader = io.TextIOWrapper(bounded, encoding="utf-8", errors="replace")
    writer = io.TextIOWrapper(connection.makefile("wb"), encoding="utf-8")
    server = make_server([offer], _INSTRUCTIONS)

    session = partial(serve, server, anyio.wrap_file(reader), anyio.wrap_file(writer))
    with contextlib.suppress(OSError, ExceptionGroup), connection:
        anyio.run(session)
    with contextlib.suppress(OSError):
        writer.close()


class _BoundedSocketReader(io.RawIOBase):
    """Reads at most so many bytes from a socket."""

    def __init__(self, connection: socket.socket, max_bytes: int) -> None:
        self._connection = connection
        self._left = max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        allowed = view[: max(0, self._left)]
        if not allowed:
            return 0

        count = self._connection.recv_into(allowed)
        self._left -= count
        return count
