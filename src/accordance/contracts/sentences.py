"""Counting sentences and words, the same way for Korean, Chinese and English.

No rule knows every abbreviation. A full stop that may or may not end a sentence does
not: a fourth sentence that passes costs a reader a moment, but refusing an honest
author costs a whole answer.
"""

from __future__ import annotations

import re
from typing import Final

_MARK: Final = re.compile(
    r"(?P<wide>[。！？｡．]+)(?P<wide_closing>[\"'”’」』》】）)\]]*)|(?P<stop>[.!?…]+)(?P<closing>[\"'”’»)\]]*)"
)
_NEXT: Final = re.compile(r"(?P<space>\s*)(?P<letter>\S?)")
_LAST_WORD: Final = re.compile(r"[^\W\d_](?:[\w.’'-]*\w)?\Z|\d[\w.,%]*\Z")
_ENOUGH: Final = 20  # characters before a full stop, to see which word it belongs to

_TITLES: Final = (
    "Capt|Col|Dr|Ft|Gen|Gov|Hon|Lt|Maj|Mr|Mrs|Ms|Mt|Mx|Pres|Prof|Rep|Rev|Sen|Sgt|St"
)
_SHORTENED: Final = (
    "abbrev|al|approx|assoc|bros|ca|cf|co|corp|dept|ed|eds|eg|eqs?|esp|figs?|ie|inc|incl|intro|jr|ltd|pp|prelim"
    "|resp|sr|suppl|univ|viz|vols?|vs"
)
_INITIALS: Final = r"[A-Za-z](?:\.[A-Za-z]{1,3})*|Ph\.D"  # J, p, U.S, e.g, a.m
_NOTHING_BUT_INITIALS: Final = re.compile(r"[A-Za-z가-힣]\.(?:\s+[A-Za-z가-힣]\.)+")
_ABBREVIATION: Final = re.compile(rf"{_TITLES}|(?i:{_SHORTENED})|{_INITIALS}")
_LIST_MARK: Final = re.compile(
    r"\s*[(\[]?(?:[0-9]{1,3}|[가나다라마바사아자차카타파하])"
)
_MAY_BE_SHORTENED: Final = re.compile(r"[A-Za-z]{1,4}")  # Jan, No, Sept
_KOREAN_ENDINGS: Final = "다요까죠"


def count_sentences(text: str) -> int:
    """The number of sentences in a text; the last need not end in a mark."""
    text = text.strip()
    if _NOTHING_BUT_INITIALS.fullmatch(text):
        return text.count(".")

    without_capitals = text[:1].islower()
    sentences: list[str] = []
    begin = 0
    for mark in _MARK.finditer(text):
        if _ends_a_sentence(text, begin, mark, without_capitals=without_capitals):
            sentences.append(text[begin : mark.start()])
            begin = mark.end()
    sentences.append(text[begin:])
    return sum(1 for sentence in sentences if sentence.strip())


def _ends_a_sentence(
    text: str,
    begin: int,
    mark: re.Match[str],
    *,
    without_capitals: bool,
) -> bool:
    """Whether a sentence that began at `begin` ends at this mark."""
    following = _NEXT.match(text, mark.end())
    if following is None or not following["letter"]:
        return True
    space, letter = following.group("space", "letter")
    if mark["wide"]:
        goes_on = mark["wide_closing"] and not space and letter.isalnum()  # “好。”他说
        return not goes_on
    if not space:  # as in 3.14 and app.py
        is_cited = mark["closing"] != ""  # “좋다.”라고 했다
        follows_ending = text[mark.start() - 1] in _KOREAN_ENDINGS
        return follows_ending and not is_cited and "가" <= letter <= "힣"

    if mark["stop"] != ".":
        is_quoted = mark["closing"] != ""  # “Why?” he asked
        is_question = mark["stop"][0] in "!?" and not is_quoted
        return not letter.islower() or (without_capitals and is_question)
    last_words = text[max(begin, mark.start() - _ENOUGH) : mark.start()]
    return _full_stop_ends(last_words, letter, without_capitals=without_capitals)


def _full_stop_ends(last_words: str, letter: str, *, without_capitals: bool) -> bool:
    """Whether a full stop ends a sentence, between these words and the next letter."""
    match = _LAST_WORD.search(last_words)
    word = match[0] if match else ""
    if _ABBREVIATION.fullmatch(word) or _LIST_MARK.fullmatch(last_words):
        return False

    may_be_shortened = _MAY_BE_SHORTENED.fullmatch(word) is not None
    if letter.isdigit():
        return not may_be_shortened  # No. 5, Jan. 5
    if letter.islower():
        return without_capitals or not may_be_shortened
    return True


def count_words(text: str) -> int:
    """The number of words, which are separated by white space in every language."""
    return len(text.split())
