"""When two texts are the same word in another spelling. The one rule for normalising and for fixes.

Only the letter case of ASCII letters and the blanks around a word are folded; for fixes also `-`, `_` and spaces between
its parts. No edit distance, no part of a word, no sign that merely looks alike: those would be guesses, and a guess at a
decision is a false decision.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from string import ascii_lowercase, ascii_uppercase
from typing import Final

BLANKS: Final = " \t\r\n"
LONGEST_WORD: Final = 100  # what is longer is no word of any contract

_LOWER: Final = str.maketrans(ascii_uppercase, ascii_lowercase)
_SEPARATORS: Final = str.maketrans("- ", "__")


def folded(text: str, blanks: str = BLANKS) -> str:
    """A text without the blanks around it and with its ASCII letters in lower case."""
    return text.strip(blanks).translate(_LOWER)


def respelling(words: Iterable[object], written: str) -> tuple[object] | None:
    """The one word that differs from what was written in spelling only, in a 1-tuple; None if there is none or several."""
    if len(written) > LONGEST_WORD:
        return None
    wanted = _loose(written)
    meant = [word for word in words if _loose_word(_as_text(word)) == wanted]
    return (meant[0],) if len(meant) == 1 else None


def _loose(text: str) -> str:
    return folded(text).translate(_SEPARATORS)


_loose_word: Final = lru_cache(maxsize=1024)(
    _loose
)  # of contracts, whose words are always the same


def _as_text(word: object) -> str:
    """Words that are no texts (true, 1) may have been quoted."""
    return word if isinstance(word, str) else json.dumps(word, default=str)
