"""The scanner gives one answer, however the text is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.contracts.scanner import Scanner
from tests.unit.contracts.test_reading import ACCEPTED, REFUSED

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(
    st.dictionaries(st.text(), json_values, max_size=5),
    st.booleans(),
    st.integers(1, 7),
)
def test_any_json_object_passes_in_pieces(
    message: dict[str, object], ascii_only: bool, size: int
) -> None:
    """Whatever json writes is read, in pieces of any size."""
    text = json.dumps(message, ensure_ascii=ascii_only)
    scanner = Scanner()
    for at in range(0, len(text), size):
        assert scanner.feed(text[at : at + size]) is None
    assert scanner.end() is None
    assert scanner.complete


@pytest.mark.parametrize(
    "text",
    [text for text, *_ in REFUSED if len(text) < 200] + [text for text, _ in ACCEPTED],
)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_pieces_change_nothing(text: str, size: int) -> None:
    """The flaw, its place and its path are the same for the whole text and for pieces of it."""
    whole, pieces = Scanner(), Scanner()
    whole.feed(text)
    for at in range(0, len(text), size):
        pieces.feed(text[at : at + size])
    one, other = whole.end(), pieces.end()
    assert (one and (one.code, one.path)) == (other and (other.code, other.path))


def test_places() -> None:
    """The scanner notes where wanted paths begin."""
    text = '{"a": [1, {"b": "x"}], "c": null}'
    wanted = frozenset([(), ("a", 1), ("a", 1, "b"), ("c",), ("nowhere",)])
    scanner = Scanner(wanted=wanted)
    scanner.feed(text)
    found = {path: text[at] for path, at in scanner.places.items()}
    assert found == {(): "{", ("a", 1): "{", ("a", 1, "b"): '"', ("c",): "n"}


def test_after_a_flaw_nothing_is_read() -> None:
    """The first flaw stands."""
    scanner = Scanner()
    first = scanner.feed("no")
    assert first is scanner.feed("{}") is scanner.end()
