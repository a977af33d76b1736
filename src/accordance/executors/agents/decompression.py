"""Decompressing answers of endpoints, in pieces of bounded size."""

from __future__ import annotations

import http.client
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

from accordance.executors.agents.answer_reader import GZIP_OR_ZLIB

_READABLE: Final = ("identity", "gzip", "x-gzip", "deflate")


def encoding_of(response: http.client.HTTPResponse) -> str:
    """Return the content encoding of a response."""
    header = response.getheader("content-encoding") or "identity"
    return header.strip().lower()


def is_readable(encoding: str) -> bool:
    """Whether a body in this encoding can be read."""
    return encoding in _READABLE


def decompressed(body: bytes, encoding: str, max_bytes: int) -> bytes | None:
    """Return a body decompressed to at most `max_bytes`; None if that fails."""
    if encoding == "identity":
        return body
    try:
        return zlib.decompressobj(GZIP_OR_ZLIB).decompress(body, max_bytes)
    except zlib.error:
        return None


def decompressed_parts(parts: Iterable[bytes], piece_bytes: int) -> Iterator[bytes]:
    """Yield the decompressed parts in pieces of bounded size.

    A broken stream ends where it breaks.
    """
    decompressor = zlib.decompressobj(GZIP_OR_ZLIB)

    for part in parts:
        rest = part
        while rest:
            try:
                piece = decompressor.decompress(rest, piece_bytes)
            except zlib.error:
                return
            yield piece
            rest = decompressor.unconsumed_tail
