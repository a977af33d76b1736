"""Counting sentences and words, the same way for Korean, Chinese and English."""

from __future__ import annotations

import re
from typing import Final

_ABBREVIATION: Final = re.compile(
    r"\b(?:e\.g|i\.e|et al|vs|cf|approx|resp|Dr|Prof|Mr|Mrs|Ms|Figs?|Eq|Vol|pp|ca|incl)\.(?=\s)",
)
_TERMINATOR: Final = re.compile(r"[.!?…]+[\"'”’)\]]*(?=\s+[^\sa-z]|\s*$)|[。！？｡]+[\"'”’」』)\]]*")


def count_sentences(text: str) -> int:
    """Sentences end at . ! ? before white space or the end, and at full-width marks anywhere.

    Decimals, abbreviations, and marks after which a small letter goes on, end nothing.
    """
    joined = _ABBREVIATION.sub(lambda match: match[0][:-1], text.strip())
    return sum(1 for piece in _TERMINATOR.split(joined) if piece.strip())


def count_words(text: str) -> int:
    """Words are what white space separates, in every language."""
    return len(text.split())
