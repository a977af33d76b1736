"""Lists in pages.

A page ends with a cursor that names its last item, so that the next page begins behind
that item whatever is added or removed meanwhile.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeAlias, TypeVar

from accordance.errors import AccordanceError

MOST_ITEMS: Final = 1000
USUAL_ITEMS: Final = 100

_LONGEST_TOKEN: Final = 8000  # characters
_LARGEST_NUMBER: Final = 2**63 - 1  # what both databases can compare with

Item = TypeVar("Item")
Other = TypeVar("Other")
Key: TypeAlias = tuple[str | int, ...]


class InvalidCursor(AccordanceError):
    """A cursor that accordance did not give, or that belongs to another list."""

    code = "invalid-cursor"


class InvalidLimit(AccordanceError):
    """A page of no items, or of more than a page may have."""

    code = "invalid-limit"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """How many items are wanted, and behind which item they begin."""

    limit: int = USUAL_ITEMS
    cursor: str | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.limit <= MOST_ITEMS:
            raise InvalidLimit(
                f"a page has 1 to {MOST_ITEMS} items, not {self.limit}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page(Generic[Item]):
    """Some items of a list in its order, and the cursor of the next page."""

    items: tuple[Item, ...]
    next: str | None = None


def write_cursor(listing: str, key: Key) -> str:
    """Return the token for an item of a list.

    `listing` says which list it is, filter included: the token works for no other.
    """
    content = json.dumps([_mark(listing), *key], separators=(",", ":"))
    token = base64.urlsafe_b64encode(content.encode())
    return token.decode().rstrip("=")


def read_cursor(listing: str, token: str, types: Sequence[type]) -> Key:
    """Return the key in a token; each part has the type that is expected there."""
    parts = _parts(token)
    mark, *key = parts
    if mark != _mark(listing):
        raise InvalidCursor(
            "the cursor belongs to another list or filter",
            way_out="ask for the first page again",
        )
    if [type(part) for part in key] != list(types):
        raise _unreadable()
    for part in key:
        if isinstance(part, int) and abs(part) > _LARGEST_NUMBER:
            raise _unreadable()
    return tuple(key)


def _parts(token: str) -> list[str | int]:
    is_token = 0 < len(token) <= _LONGEST_TOKEN and token.isascii()
    if not is_token:
        raise _unreadable()
    padding = "=" * (-len(token) % 4)
    try:
        content = base64.b64decode(token + padding, altchars=b"-_", validate=True)
        parts = json.loads(content)
    except (ValueError, RecursionError):
        raise _unreadable() from None
    if not isinstance(parts, list) or not parts:
        raise _unreadable()
    return parts


def _unreadable() -> InvalidCursor:
    return InvalidCursor(
        "the cursor cannot be read",
        way_out="use the cursor that the page before ends with",
    )


def _mark(listing: str) -> str:
    """A short name for a list and its filter."""
    digest = hashlib.sha256(listing.encode(errors="surrogatepass"))
    return digest.hexdigest()[:16]
