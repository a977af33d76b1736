"""Cursors: opaque, stable, bound to one list, and harmless whatever is in them."""

from __future__ import annotations

import base64
import json

import pytest

from accordance.domain.paging import (
    MOST_ITEMS,
    InvalidCursor,
    InvalidLimit,
    PageRequest,
    read_cursor,
    write_cursor,
)

KEYS = [
    pytest.param(("2026-01-01T00:00:00Z", "P-1"), (str, str), id="plans"),
    pytest.param(("P-1", 17), (str, int), id="tasks"),
    pytest.param((2**40, 3), (int, int), id="events"),
    pytest.param(("'; DROP TABLE plans; --", 0), (str, int), id="SQL in an id"),
    pytest.param(("目录\0\ud800", 0), (str, int), id="any characters"),
]


@pytest.mark.parametrize(("key", "types"), KEYS)
def test_a_cursor_comes_back(
    key: tuple[str | int, ...], types: tuple[type, ...]
) -> None:
    """As the key it was made of, through plain ASCII that fits into a URL."""
    token = write_cursor("tasks ", key)
    assert set(token) <= set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    )
    assert read_cursor("tasks ", token, types) == key
    assert write_cursor("tasks ", key) == token


def token_of(content: object) -> str:
    """A token with any content."""
    return base64.urlsafe_b64encode(json.dumps(content).encode()).decode()


MARK = json.loads(base64.urlsafe_b64decode(write_cursor("tasks ", ()) + "=="))[0]


@pytest.mark.parametrize(
    "token",
    [
        pytest.param("", id="empty"),
        pytest.param("!!!!", id="not base64"),
        pytest.param("A", id="a part of base64"),
        pytest.param("äöü", id="no ASCII"),
        pytest.param("/+==", id="another base64"),
        pytest.param(token_of({"a": 1}), id="no list"),
        pytest.param(token_of([]), id="an empty list"),
        pytest.param(token_of([MARK, 1, "x"]), id="the wrong types"),
        pytest.param(token_of([MARK, "x", True]), id="a truth value"),
        pytest.param(token_of([MARK, "x"]), id="too short"),
        pytest.param(token_of([MARK, "x", 2**63]), id="too large for a database"),
        pytest.param(token_of([MARK, "x", -(2**70)]), id="too small for a database"),
        pytest.param("W1tb" * 1500, id="deeper than Python reads"),
        pytest.param("A" * 8001, id="too long"),
    ],
)
def test_a_cursor_that_cannot_be_read(token: str) -> None:
    """Is an error of its own, never one of Python's."""
    with pytest.raises(InvalidCursor, match="cannot be read"):
        read_cursor("tasks ", token, (str, int))


def test_a_cursor_of_another_list() -> None:
    """Or of another filter of the same list."""
    token = write_cursor("tasks state:READY", ("P-1", 3))
    with pytest.raises(InvalidCursor, match="another list or filter"):
        read_cursor("tasks ", token, (str, int))


@pytest.mark.parametrize("limit", [0, -1, MOST_ITEMS + 1])
def test_a_page_has_a_maximum(limit: int) -> None:
    """And at least one item."""
    with pytest.raises(InvalidLimit, match=f"1 to {MOST_ITEMS} items, not {limit}"):
        PageRequest(limit=limit)
    assert PageRequest(limit=MOST_ITEMS).limit == MOST_ITEMS
