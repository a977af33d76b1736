"""The `submit` tool of a running agent: it gets accordance's opinion while it can still mend its work.

The server stays outside the sandbox; the agent's side is a pipe to a socket in its folder. The opinion is provisional: when
the agent has ended, everything is judged again from facts.
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
from accordance.executors.tool_server import Offer, serve, server_of

SOCKET: Final = "submit.sock"
MOST: Final = 50  # messages an agent may hand in
_KEPT: Final = 10  # of them, the last ones
_CONNECTIONS: Final = 4  # at once: an agent and what it starts need one each
MESSAGE: Final[JsonObject] = {
    "type": "object",
    "properties": {"message": {"type": "object", "description": "The whole message, as its contract wants it."}},
    "required": ["message"],
}  # fmt: skip
_ABOUT: Final = (
    "Hand in your message and get a provisional verdict at once: DONE, or RETRY with everything that is wrong. "
    "Mend it and hand it in again until it says DONE."
)
_NO_MORE: Final = Opinion(
    done=False,
    text=f"No more than {MOST} messages are taken. End; what is there is judged.",
)


class Submitted(NamedTuple):
    """A message that was handed in, what was said of it, and when."""

    raw: bytes
    opinion: Opinion
    at: float  # on the clock that only goes forward


@dataclass(slots=True)
class SubmitTool:
    """What an agent has handed in so far."""

    opinion: Callable[[bytes], Opinion]
    submitted: list[Submitted] = field(default_factory=list)  # the last ones
    _taken: int = 0
    _is_over: bool = False
    _turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def done(self) -> Submitted | None:
        """The last message that was good."""
        return next((one for one in reversed(self.submitted) if one.opinion.done), None)

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Take a message. The same one again is judged again: what it speaks of may have been mended since."""
        said = arguments.get("message")
        raw = (
            said.encode()
            if isinstance(said, str)
            else json.dumps(said, ensure_ascii=False).encode()
        )
        with self._turn:  # one at a time
            return self._take(raw).to_json()

    def _take(self, raw: bytes) -> Opinion:
        if self._is_over or self._taken >= MOST:
            return _NO_MORE
        self._taken += 1
        opinion = self.opinion(raw)
        if not self._is_over:
            self.submitted.append(Submitted(raw, opinion, time.monotonic()))
            del self.submitted[:-_KEPT]
        return opinion

    @contextlib.contextmanager
    def offered(self, folder: Path, most: int) -> Iterator[None]:
        """Offer the tool on a socket in `folder` while the block runs. `most` bounds what is read from the agent."""
        offer = Offer("submit", _ABOUT, MESSAGE, self.submit)
        with socket.socket(socket.AF_UNIX) as listener:
            with within(folder) as place:
                listener.bind(f"{place}/{SOCKET}")
            (folder / SOCKET).chmod(0o666)
            listener.listen()
            open_ends: set[socket.socket] = set()
            thread = threading.Thread(
                target=_accept, args=(listener, offer, most, open_ends), daemon=True
            )
            thread.start()
            try:
                yield
            finally:
                self._is_over = True
                _hang_up(listener)
                thread.join()
                for end in list(open_ends):
                    _hang_up(end)


def _hang_up(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)


def _accept(
    listener: socket.socket, offer: Offer, most: int, open_ends: set[socket.socket]
) -> None:
    with contextlib.suppress(OSError):
        while True:
            end = listener.accept()[0]
            if len(open_ends) >= _CONNECTIONS:
                end.close()
                continue
            open_ends.add(end)
            threading.Thread(
                target=_serve, args=(end, offer, most, open_ends), daemon=True
            ).start()


def _serve(
    end: socket.socket, offer: Offer, most: int, open_ends: set[socket.socket]
) -> None:
    try:
        _talk(end, offer, most)
    finally:
        open_ends.discard(end)


def _talk(end: socket.socket, offer: Offer, most: int) -> None:
    """Serve one connection."""
    reader = io.TextIOWrapper(
        io.BufferedReader(_Bounded(end, most)), encoding="utf-8", errors="replace"
    )
    writer = io.TextIOWrapper(end.makefile("wb"), encoding="utf-8")
    server = server_of([offer], "Hand in your message with submit before you end.")
    with contextlib.suppress(OSError, ExceptionGroup), end:
        anyio.run(
            partial(serve, server, anyio.wrap_file(reader), anyio.wrap_file(writer))
        )
    with contextlib.suppress(OSError):
        writer.close()


class _Bounded(io.RawIOBase):
    """Reads from a socket, and no more than may be."""

    def __init__(self, end: socket.socket, most: int) -> None:
        self._end = end
        self._left = most

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        room = memoryview(buffer).cast("B")[: max(0, self._left)]  # type: ignore[arg-type]
        if not room:
            return 0
        got = self._end.recv_into(room)
        self._left -= got
        return got
