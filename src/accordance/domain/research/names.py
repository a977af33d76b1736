"""When two names mean the same: options, constraints, triggers and queries are compared by their plain form."""

from __future__ import annotations

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=8192)
def plain(name: str) -> str:
    """A name without differences that mean nothing: compatibility forms, letter case, runs of white space."""
    return tidy(name).casefold()


def tidy(text: str) -> str:
    """A text in one Unicode form, with single spaces and none around it. Letter case is kept."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
