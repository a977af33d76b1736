"""What a plan file says, as plain values that know their line.

The three formats differ in what they take a bare word for: YAML reads `no`, `on`,
`0755` and `2026-01-02` as anything but text. Here a bare word stays as it was written
until it is known what is meant: a key that wants a text gets the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from accordance.domain.json_numbers import as_whole_number
from accordance.errors import InvalidPlanFile

_WHOLE: Final = re.compile(r"-?(0|[1-9][0-9]{0,999})")
_NUMBER: Final = re.compile(
    r"-?(0|[1-9][0-9]{0,308})(\.[0-9]{1,999})?([eE][-+]?[0-9]{1,3})?"
)
_WORDS: Final[Mapping[str, bool | None]] = {
    "true": True,
    "false": False,
    "null": None,
}
_LONGEST_SHOWN: Final = 60


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value. A bare value is a word that its format leaves open."""

    value: str | int | float | bool | None
    line: int
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Items:
    """A list."""

    items: tuple[Entry, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Fields:
    """Keys with their values; `lines` are those of the keys."""

    entries: Mapping[str, Entry]
    line: int
    lines: Mapping[str, int]


Entry: TypeAlias = Leaf | Items | Fields


def shown(text: str) -> str:
    """Return a text as an error quotes it."""
    if len(text) > _LONGEST_SHOWN:
        text = f"{text[: _LONGEST_SHOWN - 1]}…"
    return repr(text)


def kind_of(entry: Entry) -> str:
    """Return what an entry is, for an error."""
    if isinstance(entry, Fields):
        return "a table of keys"
    if isinstance(entry, Items):
        return "a list"
    is_empty = entry.is_bare and not entry.value
    if entry.value is None or is_empty:
        return "nothing"
    if isinstance(entry.value, str):
        return shown(entry.value)
    return str(entry.value).lower()


def expected(what: str, key: str, entry: Entry) -> InvalidPlanFile:
    """Return the error for an entry that is something else than a key wants."""
    return InvalidPlanFile(f"{key} must be {what}, got {kind_of(entry)}", entry.line)


def text_in(entry: Entry, key: str) -> str:
    """Return a text with something in it, as it was written."""
    value = entry.value if isinstance(entry, Leaf) else None
    if isinstance(value, str) and value.strip():
        return value
    raise expected("a text", key, entry)


def texts_in(entry: Entry, key: str) -> tuple[str, ...]:
    """Return a list of texts; a single text counts as a list."""
    return tuple(name for name, _ in names_in(entry, key))


def names_in(entry: Entry, key: str) -> tuple[tuple[str, int], ...]:
    """Return a list of texts, each with its line."""
    if isinstance(entry, Fields):
        raise expected("a text or a list of texts", key, entry)
    entries = entry.items if isinstance(entry, Items) else (entry,)
    names = []
    for item in entries:
        name = text_in(item, key)
        names.append((name, item.line))
    return tuple(names)


def whole_number_in(entry: Entry, key: str) -> int:
    """Return a whole number. `0123` is refused: its meaning is unclear."""
    number = as_whole_number(json_in(entry))
    if number is None:
        raise expected("a whole number", key, entry)
    return number


def flag_in(entry: Entry, key: str) -> bool:
    """Return true or false; `yes` and `on` are words like any other."""
    value = json_in(entry)
    if isinstance(value, bool):
        return value
    raise expected("true or false", key, entry)


def json_in(entry: Entry, _key: str = "") -> Any:
    """Return any value. A bare word that JSON knows is what JSON takes it for."""
    if isinstance(entry, Fields):
        return {key: json_in(value) for key, value in entry.entries.items()}
    if isinstance(entry, Items):
        return [json_in(item) for item in entry.items]
    value = entry.value
    if not entry.is_bare or not isinstance(value, str):
        return value
    return bare_value(value)


def bare_value(word: str) -> str | int | float | bool | None:
    """Return what JSON takes a bare word for; any other word is a text."""
    if word in _WORDS:
        return _WORDS[word]
    if not word:
        return None
    if _WHOLE.fullmatch(word):
        return int(word)
    if _NUMBER.fullmatch(word):
        number = float(word)
        return word if math.isinf(number) else number
    return word


def object_in(entry: Entry, key: str) -> dict[str, Any]:
    """Return a table of any keys."""
    if not isinstance(entry, Fields):
        raise expected("a table of keys", key, entry)
    value: dict[str, Any] = json_in(entry)
    return value


def word_in(*words: str) -> Callable[[Entry, str], str]:
    """Return a reader of a word out of some, in any letter case."""

    def read(entry: Entry, key: str) -> str:
        word = text_in(entry, key).strip().upper()
        if word not in words:
            raise expected(" or ".join(words), key, entry)
        return word

    return read
