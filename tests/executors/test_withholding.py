"""Keys stay out of what a run leaves."""

from __future__ import annotations

import pytest

from accordance.domain.faults import Fault
from accordance.executors.protocol import Produced, Seen
from accordance.executors.withholding import withhold, without_key

KEY = "sk-very-secret"


@pytest.mark.parametrize(
    ("text", "key", "left"),
    [
        (f"a {KEY}, {KEY}", KEY, "a [key], [key]"),
        ("nothing", KEY, "nothing"),
        ("none of it", "none", "none of it"),
        ("nothing", "", "nothing"),
    ],
    ids=["twice", "not there", "too short to be a secret", "no key"],
)
def test_a_key_is_replaced(text: str, key: str, left: str) -> None:
    """Words that pass for keys where none is needed stay what they are."""
    assert without_key(text, key) == left


def test_a_key_is_replaced_in_all_that_is_kept() -> None:
    """However deep; what is no text stays as it is, and so does the message."""
    seen = Seen("x", {"why": KEY, "list": [KEY, 1, {KEY: KEY}], "none": None})
    produced = withhold(Produced(fault=Fault.CRASHED, text=f"it said {KEY}", seen=(seen,)), KEY)
    assert produced.text == "it said [key]"
    assert produced.seen == (
        Seen("x", {"why": "[key]", "list": ["[key]", 1, {"[key]": "[key]"}], "none": None}),
    )
    message = Produced(raw=KEY.encode())
    assert withhold(message, KEY) == message
