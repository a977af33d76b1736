"""Texts from outside, made safe to show: on a terminal, in a log, in a report."""

from __future__ import annotations

import json
import re
from typing import Final

EMOJI_STYLE: Final = "\ufe0f"  # follows a symbol that is to be shown in colour

# Signs that show nothing although Python calls them printable: fillers, joiners, variation selectors, the empty Braille cell.
_UNSEEN: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    + "".join(map(chr, range(0xFE00, 0xFE10)))
    + "".join(map(chr, range(0xE0100, 0xE01F0)))
)
_WIDE_SPACE: Final = (
    "\u3000"  # the space of Chinese and Japanese texts, which shows as one
)

VISIBLE: Final = (
    r"[^\s\u0000-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8]"
)
"""One sign that can be seen, as a pattern that pydantic and Python read alike. A text without one is blank."""

_SHOWS: Final = re.compile(VISIBLE)


def printable(text: str) -> str:
    r"""Write what steers a terminal, or cannot be seen, as a JSON escape: `\u001b`, `\u202e`, `\u200b`, `\n`.

    A backslash is left alone, so that a text that went through here stays as it is when it does so again.
    """
    if text.isprintable() and (text.isascii() or _UNSEEN.isdisjoint(text)):
        return text
    return "".join(
        [
            sign if _is_visible(sign, before) else json.dumps(sign)[1:-1]
            for before, sign in zip(" " + text, text, strict=False)
        ]
    )


def printable_lines(text: str) -> str:
    """The same for a text of several lines: line breaks stay."""
    return "\n".join(map(printable, text.split("\n")))


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: no sign at all, or only spaces and signs without a shape."""
    return _SHOWS.search(text) is None


def _is_visible(sign: str, before: str) -> bool:
    if sign == EMOJI_STYLE:
        return not before.isascii() and before not in _UNSEEN
    return sign == _WIDE_SPACE or (sign.isprintable() and sign not in _UNSEEN)
