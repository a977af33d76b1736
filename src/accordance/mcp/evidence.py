"""A file of evidence, in parts that fit into an answer."""

from __future__ import annotations

import base64
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.mcp.arguments import BadArguments

LARGEST_PART: Final = 64 << 10
_LONGEST_CHARACTER: Final = 4  # in UTF-8


def read_part(name: str, content: bytes, offset: int) -> JsonObject:
    """Return a part of a file, and where the next begins.

    It comes as text, or as base64 where it is no UTF-8. Raises BadArguments.
    """
    if not 0 <= offset <= len(content):
        raise BadArguments(
            f"{name} has {len(content)} bytes: there is nothing at offset {offset}"
        )
    part = content[offset : offset + LARGEST_PART]
    text = _text_in(part)
    if text is not None:
        part = text.encode()
    end = offset + len(part)

    answer: JsonObject = {
        "file": name,
        "bytes": len(content),
        "offset": offset,
    }
    if text is None:
        answer["base64"] = base64.b64encode(part).decode()
    else:
        answer["text"] = text
    answer["next"] = end if end < len(content) else None
    return answer


def _text_in(part: bytes) -> str | None:
    """Return the text of a part, without a character that is cut off at its end."""
    for cut in range(_LONGEST_CHARACTER):
        try:
            return part[: len(part) - cut].decode()
        except UnicodeDecodeError:
            continue
    return None
