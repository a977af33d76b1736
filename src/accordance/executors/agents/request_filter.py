"""The relay's border: who is let in, and how a request is read. Whatever cannot be told for sure is refused."""

from __future__ import annotations

import re
import secrets
from email.message import Message
from io import BufferedIOBase
from typing import Final

from accordance.errors import AccordanceError

KEYS: Final = frozenset(
    ("authorization", "x-api-key", "proxy-authorization", "api-key")
)
"""Headers in which somebody says who asks."""
_MOST: Final = 64 << 20  # bytes of a body
_LINE: Final = 100  # bytes of a line between chunks
_LENGTH: Final = re.compile(r"[0-9]{1,20}")
_SIZE: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(;[^\r\n]*)?\r?\n")


class Refused(AccordanceError):
    """A request that is not passed on, with the status that says so."""

    code = "request-refused"

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def must_know(key: str, headers: Message) -> None:
    """Refuse whoever does not say the key of the run: on loopback, everybody on the machine can ask."""
    said = [
        value.removeprefix("Bearer ")
        for name in KEYS
        for value in headers.get_all(name, ())
    ]
    if not any(secrets.compare_digest(one.encode(), key.encode()) for one in said):
        raise Refused(401, "this is not the key of the run")


def read_body(headers: Message, stream: BufferedIOBase) -> bytes:
    """The body of a request, whole. Raises Refused."""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return _chunks(stream)
    said = headers.get("content-length", "0")
    if not _LENGTH.fullmatch(said):
        raise Refused(400, "a length is a number")
    return _exactly(stream, int(said))


def _chunks(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    while size := _size(stream.readline(_LINE)):
        body += _exactly(stream, size, len(body))
        stream.readline(_LINE)
    stream.readline(_LINE)
    return bytes(body)


def _size(line: bytes) -> int:
    said = _SIZE.fullmatch(line)
    if said is None:
        raise Refused(400, "a chunk begins with its size")
    return int(said[1], 16)


def _exactly(stream: BufferedIOBase, size: int, before: int = 0) -> bytes:
    if before + size > _MOST:
        raise Refused(413, "too large")
    part = stream.read(size)
    if len(part) < size:
        raise Refused(400, "the body broke off")
    return part
