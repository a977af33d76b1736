"""TOML is read within bounds: whatever the text, tables or one kind of error."""

from __future__ import annotations

import pytest

from accordance.contracts.limits import LIMITS
from accordance.contracts.toml import InvalidToml, read_toml


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        pytest.param("", {}, id="nothing"),
        pytest.param("[a]\nb = [1, {c = 2}]", {"a": {"b": [1, {"c": 2}]}}, id="tables and lists in each other"),
        pytest.param("a = 'é'", {"a": "é"}, id="any letters"),
    ],
)  # fmt: skip
def test_what_people_write(text: str, tables: object) -> None:
    """The tables of a text."""
    assert read_toml(text) == tables


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param("a =", "Invalid value", id="half a line"),
        pytest.param(
            "a = " + "9" * 5000,
            "digits",
            id="a number with more digits than Python reads",
        ),
        pytest.param("a = " + "[" * 100_000, "nested too deeply", id="far too deep"),
        pytest.param(
            "a = " + "[" * 64 + "]" * 64, "nested too deeply", id="one level too deep"
        ),
        pytest.param(
            "[" + ".".join("a" * 64) + "]",
            "nested too deeply",
            id="too deep by the name of a table",
        ),
    ],
)
def test_what_cannot_be_read(text: str, why: str) -> None:
    """One kind of error, whatever the fault."""
    with pytest.raises(InvalidToml, match=why):
        read_toml(text)


def test_as_deep_as_is_allowed() -> None:
    """The outermost table counts as one, as in JSON."""
    lists = LIMITS.max_depth - 1
    assert "a" in read_toml("a = " + "[" * lists + "]" * lists)
