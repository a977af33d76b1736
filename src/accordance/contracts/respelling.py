"""When two texts are the same word in another spelling: for normalising and for fixes.

Only the case of ASCII letters and the blanks around a word are ignored, and for fixes
also the difference between `-`, `_` and a space. There is no edit distance, no partial
match and no look-alike character: those would be guesses, and a guessed decision is a
false decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Final

BLANKS: Final = " \t\r\n"
LONGEST_WORD: Final = 100  # no contract has a longer word

_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_SEPARATORS: Final = str.maketrans("- ", "__")


def folded(text: str, blanks: str = BLANKS) -> str:
    """A text without the blanks around it, its ASCII letters in lower case."""
    return text.strip(blanks).translate(_LOWER)


def respelling(words: Iterable[object], written: str) -> tuple[object] | None:
    """The word that differs from what was written in spelling only, in a 1-tuple.

    None if there is no such word, or several.
    """
    if len(written) > LONGEST_WORD:
        return None
    wanted = _loose(written)
    meant = [word for word in words if _loose_word(_as_text(word)) == wanted]
    if len(meant) == 1:
        return (meant[0],)
    return None


def _loose(text: str) -> str:
    return folded(text).translate(_SEPARATORS)


_loose_word: Final = lru_cache(maxsize=1024)(_loose)  # contracts repeat their words


def _as_text(word: object) -> str:
    """A word as it may have been quoted, if it is no text: true, 1."""
    if isinstance(word, str):
        return word
    return json.dumps(word, default=str)
