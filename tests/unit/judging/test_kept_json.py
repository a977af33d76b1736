"""JSON as it is kept in a bundle: people read it."""

from __future__ import annotations

import pytest

from accordance.judging.kept_json import as_bytes


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(
            {"goal": "g", "tests": ["t"]},
            b'{\n "goal": "g",\n "tests": [\n  "t"\n ]\n}',
            id="a key to a line",
        ),
        pytest.param("é", b'"\xc3\xa9"', id="any script as it is"),
        pytest.param("\ud800", b'"\xed\xa0\x80"', id="half a character is kept"),
    ],
)
def test_json_is_kept_for_people(value: object, expected: bytes) -> None:
    assert as_bytes(value) == expected
