"""When two names mean the same.

Options, constraints, triggers and queries are compared by their plain form.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_INVISIBLE: Final = ("Cc", "Cs")
"""Unicode categories: control characters, and surrogates that stand alone."""

_NONCHARACTERS: Final = "\ufffe\uffff"


@lru_cache(maxsize=8192)
def plain(name: str) -> str:
    """Return a name without differences that mean nothing.

    Those are compatibility forms, letter case and runs of white space.
    """
    return tidy(name).casefold()


def tidy(text: str) -> str:
    """Return a text in a single Unicode form, with single spaces and none around it.

    Letter case is kept.
    """
    return " ".join(unicodedata.normalize("NFKC", text).split())


def visible(text: str) -> str:
    """Return a text without what a terminal would obey or XML would refuse."""
    return "".join(char for char in text if _is_visible(char))


def _is_visible(char: str) -> bool:
    if char in _NONCHARACTERS:
        return False
    return unicodedata.category(char) not in _INVISIBLE
