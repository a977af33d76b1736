"""Texts from outside on somebody's terminal: nothing steers it, nothing hides, and what is honest stays readable."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from accordance.contracts.fields import Text
from accordance.contracts.printable import is_blank, printable, printable_lines

SHOWN = [
    pytest.param(
        "plain words, 100 %", "plain words, 100 %", id="plain words stay as they are"
    ),
    pytest.param(
        "交付物\u3000é ✓",
        "交付物\u3000é ✓",
        id="other scripts and their wide space stay",
    ),
    pytest.param("done ⚠\ufe0f", "done ⚠\ufe0f", id="an emoji keeps its style"),
    pytest.param(
        "DONE\ufe0f", r"DONE\ufe0f", id="a style mark after a plain letter is shown"
    ),
    pytest.param("a\\b", "a\\b", id="a backslash stays alone"),
    pytest.param("\x1b[2J", r"\u001b[2J", id="an escape sequence"),
    pytest.param("\x9b2J", r"\u009b2J", id="its one-byte form"),
    pytest.param("a\x7f", r"a\u007f", id="DEL"),
    pytest.param("a\nb\tc\r", r"a\nb\tc\r", id="line breaks and tabs"),
    pytest.param("\u202egpj.exe", r"\u202egpj.exe", id="writing from right to left"),
    pytest.param("NO\u200bOP", r"NO\u200bOP", id="a zero-width space"),
    pytest.param("NOOP\u3164", r"NOOP\u3164", id="a filler that counts as a letter"),
    pytest.param("NOOP\u00a0", r"NOOP\u00a0", id="a space that is none"),
    pytest.param("\U000e0041", r"\udb40\udc41", id="a tag beyond the first plane"),
]


@pytest.mark.parametrize(("text", "shown"), SHOWN)
def test_what_is_shown(text: str, shown: str) -> None:
    """What steers or hides is written as an escape, once."""
    assert printable(text) == shown
    assert printable(shown) == shown


@given(st.text())
def test_nothing_steers(text: str) -> None:
    """Whatever the text: no control sign, no line break, no mark of direction comes through."""
    shown = printable(text).replace("\u3000", " ")
    assert shown.isprintable()
    assert printable(shown) == shown


def test_lines_stay_lines() -> None:
    """A report keeps its own line breaks."""
    assert printable_lines("a\n\x9bb\n") == "a\n\\u009bb\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \t\n",
        "\u200b",
        "\u3164\ufeff \u2060",
        "\x00\x7f\x9b",
        "\u2800\u00ad",
        pytest.param("\U000e0068\U000e0069", id="tags, which spell words unseen"),
        pytest.param("\U000e0101\ufffa\U0001d173", id="variants, notes, beams"),
    ],
)
def test_what_is_blank(text: str) -> None:
    """A text nobody can see says nothing, by our own rule and by pydantic's."""
    assert is_blank(text)
    with pytest.raises(ValidationError):
        TypeAdapter(Text).validate_python(text)


@pytest.mark.parametrize(
    "text", [".", "\u200bx", "文", "👍", "\u202ex", "🏴\U000e0067\U000e007f", "𝄞"]
)
def test_what_is_not_blank(text: str) -> None:
    """One visible sign is enough."""
    assert not is_blank(text)
    assert TypeAdapter(Text).validate_python(text) == text
