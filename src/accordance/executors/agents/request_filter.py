"""Admission to the relay: authenticate a request and read its body.

A request that cannot be read unambiguously is refused.
"""

from __future__ import annotations

import re
import secrets
from email.message import Message
from io import BufferedIOBase
from typing import Final

from accordance.errors import AccordanceError

KEY_HEADERS: Final = (
    "authorization",
    "x-api-key",
    "proxy-authorization",
    "api-key",
)
"""Headers that may carry the key of the caller."""

_MAX_BODY_BYTES: Final = 64 << 20
_MAX_CHUNK_HEADER_BYTES: Final = 100
_CONTENT_LENGTH: Final = re.compile(r"[0-9]{1,20}")
_CHUNK_HEADER: Final = re.compile(rb"([0-9A-Fa-f]{1,16})[ \t]*(;[^\r\n]*)?\r?\n")


class RequestRefused(AccordanceError):
    """A request that the relay does not pass on, with the HTTP status to answer."""

    code = "request-refused"

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def require_key(key: str, headers: Message) -> None:
    """Raise RequestRefused unless the request carries the key of the run.

    A loopback port is open to every process on the machine.
    """
    expected = key.encode()

    for name in KEY_HEADERS:
        for value in headers.get_all(name, ()):
            presented = value.removeprefix("Bearer ").encode()
            if secrets.compare_digest(presented, expected):
                return

    raise RequestRefused(401, "this is not the key of the run")


def read_body(headers: Message, stream: BufferedIOBase) -> bytes:
    """Return the whole body of a request. Raises RequestRefused."""
    transfer_encoding = headers.get("transfer-encoding", "").lower()
    if "chunked" in transfer_encoding:
        return _read_chunks(stream)

    length = headers.get("content-length", "0")
    if not _CONTENT_LENGTH.fullmatch(length):
        raise RequestRefused(400, "Content-Length is not a number")
    return _read_exactly(stream, int(length))


def _read_chunks(stream: BufferedIOBase) -> bytes:
    body = bytearray()
    size = _read_chunk_size(stream)

    while size > 0:
        body += _read_exactly(stream, size, already_read=len(body))
        stream.readline(_MAX_CHUNK_HEADER_BYTES)
        size = _read_chunk_size(stream)

    stream.readline(_MAX_CHUNK_HEADER_BYTES)
    return bytes(body)


def _read_chunk_size(stream: BufferedIOBase) -> int:
    line = stream.readline(_MAX_CHUNK_HEADER_BYTES)
    header = _CHUNK_HEADER.fullmatch(line)
    if header is None:
        raise RequestRefused(400, "a chunk does not begin with its size")
    return int(header[1], 16)


def _read_exactly(stream: BufferedIOBase, size: int, already_read: int = 0) -> bytes:
    if already_read + size > _MAX_BODY_BYTES:
        raise RequestRefused(413, "the body is too large")

    part = stream.read(size)
    if len(part) < size:
        raise RequestRefused(400, "the body is incomplete")
    return part
