"""Titles in the lines of a box: wrapped, and cut where they are too long."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from html import escape
from typing import Final

from accordance.rendering.plots import columns

_CUT: Final = "…"


def xml_text(words: str) -> str:
    """Return a text escaped, without the characters that XML cannot write."""
    return escape(_visible(words))


def _visible(words: str) -> str:
    return "".join(char for char in words if char.isprintable())


def fitted(title: str, width: int, most: int) -> tuple[str, ...]:
    """Return a title in at most so many lines of so many columns.

    Wide characters take two columns. A word is broken only if it fits on no line.
    """
    lines: list[str] = []
    line = ""
    for word in _words(_visible(title), width):
        needs_space = line and word.is_spaced
        longer = f"{line} {word.text}" if needs_space else line + word.text
        if not line or columns(longer) <= width:
            line = longer
            continue
        if len(lines) == most - 1:
            return (*lines, _cut(f"{longer} ", width))
        lines.append(line)
        line = word.text
    return (*lines, line)


class _Word:
    """A word, or a piece of a word that is too long for a line."""

    __slots__ = ("is_spaced", "text")

    def __init__(self, text: str, *, is_spaced: bool) -> None:
        self.text = text
        self.is_spaced = is_spaced  # from what is before it


def _words(title: str, width: int) -> Iterator[_Word]:
    for word in title.split():
        is_spaced = True
        for piece in _pieces(word, width):
            yield _Word(piece, is_spaced=is_spaced)
            is_spaced = False


def _pieces(word: str, width: int) -> Iterator[str]:
    """Yield a word as it is, or the pieces it can be broken into.

    Chinese, Japanese and Korean can be broken after every character.
    """
    piece = ""
    for char in word:
        is_wide = columns(char) > 1
        is_full = columns(piece) + columns(char) > width
        may_break = is_wide or is_full
        if piece and may_break and not unicodedata.combining(char):
            yield piece
            piece = ""
        piece += char
    yield piece


def _cut(line: str, width: int) -> str:
    """Return a line that shows that there is more."""
    kept = line.rstrip()
    while columns(kept) > width - 1:
        kept = kept[:-1]
    return kept.rstrip() + _CUT
