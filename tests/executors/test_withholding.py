"""Keys stay out of what a run leaves."""

from __future__ import annotations

import pytest

from accordance.domain.faults import Fault
from accordance.executors.protocol import Observation, RunOutcome
from accordance.executors.redaction import KeyMask, withhold, without_key

KEY = "sk-very-secret"


@pytest.mark.parametrize(
    ("text", "key", "left"),
    [
        (f"a {KEY}, {KEY}", KEY, "a [key], [key]"),
        ("nothing", KEY, "nothing"),
        ('in JSON: "a\\/b+c===d"', "a/b+c===d", 'in JSON: "[key]"'),
        ("?key=a%2Fb%2Bc%3D%3D%3Dd", "a/b+c===d", "?key=[key]"),
        ("none of it", "none", "none of it"),
        ("nothing", "", "nothing"),
    ],
    ids=[
        "twice",
        "not there",
        "escaped in JSON",
        "quoted in an address",
        "too short to be a secret",
        "no key",
    ],
)
def test_a_key_is_replaced(text: str, key: str, left: str) -> None:
    """Words that pass for keys where none is needed stay what they are."""
    assert without_key(text, key) == left


def test_a_key_is_replaced_in_all_that_is_kept() -> None:
    """However deep; what is no text stays as it is, and so does the message."""
    seen = Observation("x", {"why": KEY, "list": [KEY, 1, {KEY: KEY}], "none": None})
    produced = withhold(
        RunOutcome(fault=Fault.CRASHED, text=f"it said {KEY}", seen=(seen,)), KEY
    )
    assert produced.text == "it said [key]"
    assert produced.seen == (
        Observation(
            "x",
            {"why": "[key]", "list": ["[key]", 1, {"[key]": "[key]"}], "none": None},
        ),
    )
    message = RunOutcome(raw=KEY.encode())
    assert withhold(message, KEY) == message


@pytest.mark.parametrize("size", range(1, 20))
def test_a_key_is_replaced_however_a_stream_is_cut(size: int) -> None:
    """In pieces of any size; the length stays, and so does what only begins like the key."""
    text = f"sk-{KEY} sk-very-{KEY}{KEY} sk-very-secre".encode()
    mask = KeyMask(KEY)
    passed = [mask.feed(text[at : at + size]) for at in range(0, len(text), size)]
    hidden = "[key]".ljust(len(KEY), "*")
    assert b"".join([*passed, mask.end()]) == text.replace(
        KEY.encode(), hidden.encode()
    )


def test_what_cannot_be_the_key_passes_at_once() -> None:
    """And where there is no key worth the name, everything does."""
    assert KeyMask(KEY).feed(b"data: x\n\n") == b"data: x\n\n"
    assert KeyMask("none").feed(b"non") == b"non"
