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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.agents.sockets import within
from accordance.executors.opinion import Opinion
from accordance.executors.tool_server import Offer, serve, server_of

SOCKET: Final = "submit.sock"
MESSAGE: Final[JsonObject] = {
    "type": "object",
    "properties": {"message": {"type": "object", "description": "The whole message, as its contract wants it."}},
    "required": ["message"],
}  # fmt: skip
_ABOUT: Final = (
    "Hand in your message and get a provisional verdict at once: DONE, or RETRY with everything that is wrong. "
    "Mend it and hand it in again until it says DONE."
)


@dataclass(slots=True)
class SubmitTool:
    """What an agent has handed in so far."""

    opinion: Callable[[bytes], Opinion]
    submitted: list[tuple[bytes, Opinion]] = field(default_factory=list)

    def submit(self, arguments: JsonObject) -> JsonObject:
        """Take a message. The same one again is judged again: what it speaks of may have been mended since."""
        said = arguments.get("message")
        raw = said.encode() if isinstance(said, str) else json.dumps(said, ensure_ascii=False).encode()
        opinion = self.opinion(raw)
        self.submitted.append((raw, opinion))
        return opinion.to_json()

    @contextlib.contextmanager
    def offered(self, folder: Path, most: int) -> Iterator[None]:
        """Offer the tool on a socket in `folder` while the block runs. `most` bounds what is read from the agent."""
        offer = Offer("submit", _ABOUT, MESSAGE, self.submit)
        with socket.socket(socket.AF_UNIX) as listener:
            with within(folder) as place:
                listener.bind(f"{place}/{SOCKET}")
            (folder / SOCKET).chmod(0o666)
            listener.listen()
            open_ends: list[socket.socket] = []
            thread = threading.Thread(target=_accept, args=(listener, offer, most, open_ends), daemon=True)
            thread.start()
            try:
                yield
            finally:
                for end in (listener, *open_ends):
                    with contextlib.suppress(OSError):
                        end.shutdown(socket.SHUT_RDWR)
                thread.join()


def _accept(listener: socket.socket, offer: Offer, most: int, open_ends: list[socket.socket]) -> None:
    with contextlib.suppress(OSError):
        while True:
            end = listener.accept()[0]
            open_ends.append(end)
            threading.Thread(target=_talk, args=(end, offer, most), daemon=True).start()


def _talk(end: socket.socket, offer: Offer, most: int) -> None:
    """Serve one connection."""
    reader = io.TextIOWrapper(io.BufferedReader(_Bounded(end, most)), encoding="utf-8", errors="replace")
    writer = io.TextIOWrapper(end.makefile("wb"), encoding="utf-8")
    server = server_of([offer], "Hand in your message with submit before you end.")
    with contextlib.suppress(OSError, ExceptionGroup), end:
        anyio.run(partial(serve, server, anyio.wrap_file(reader), anyio.wrap_file(writer)))
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
