"""The protocol's own messages, made from plain JSON."""

from __future__ import annotations

from typing import Any, TypeVar

from google.protobuf.json_format import ParseDict
from google.protobuf.message import Message

M = TypeVar("M", bound=Message)


def filled(empty: M, content: dict[str, Any]) -> M:
    """Fill an empty message of the protocol, and return it."""
    ParseDict(content, empty)
    return empty
