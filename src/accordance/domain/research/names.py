"""When two names mean the same: options, constraints, triggers and queries are compared by their plain form."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_UNSEEN: Final = ("Cc", "Cs")


@lru_cache(maxsize=8192)
def plain(name: str) -> str:
    """A name without differences that mean nothing: compatibility forms, letter case, runs of white space."""
    return tidy(name).casefold()


def visible(text: str) -> str:
    """A text without what a terminal would obey or XML refuses: control characters and halves of characters."""
    return "".join(
        char
        for char in text
        if unicodedata.category(char) not in _UNSEEN and char not in "\ufffe\uffff"
    )


def tidy(text: str) -> str:
    """A text in one Unicode form, with single spaces and none around it. Letter case is kept."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
