"""Texts from outside, made safe to show on a terminal, in a log or in a report."""

from __future__ import annotations

import json
import re
from typing import Final

EMOJI_STYLE: Final = "\ufe0f"  # follows a symbol that is to be shown in colour

# Characters that show nothing although Python calls them printable: fillers, joiners,
# variation selectors, the empty Braille cell.
_UNSEEN: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_WIDE_SPACE: Final = "\u3000"  # the visible space of Chinese and Japanese texts

VISIBLE: Final = (
    r"[^\s\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    r"\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""A visible character, as a pattern that pydantic and Python read alike.

A text without any is blank.
"""

_SHOWS: Final = re.compile(VISIBLE)


def printable(text: str) -> str:
    r"""Escape what controls a terminal or cannot be seen: `\u001b`, `\u200b`, `\n`.

    A backslash is left alone, so that escaping a text twice changes nothing.
    """
    if text.isprintable():
        can_be_seen = text.isascii() or _UNSEEN.isdisjoint(text)
        if can_be_seen:
            return text
    pieces: list[str] = []
    before = " "
    for char in text:
        if _is_visible(char, before):
            pieces.append(char)
        else:
            quoted = json.dumps(char)
            pieces.append(quoted[1:-1])
        before = char
    return "".join(pieces)


def printable_lines(text: str) -> str:
    """Escape a text of several lines, keeping its line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: it is empty or has only invisible characters."""
    return _SHOWS.search(text) is None


def _is_visible(char: str, before: str) -> bool:
    """Whether a character shows, after the character before it."""
    if char == EMOJI_STYLE:
        return not before.isascii() and before not in _UNSEEN
    if char == _WIDE_SPACE:
        return True
    return char.isprintable() and char not in _UNSEEN
