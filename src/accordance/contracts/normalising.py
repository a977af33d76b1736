"""Step 3: a closed table of lossless rewrites, applied before validation, each one recorded.

A `Shape` is the table of one kind of object: which keys have other names, which words have other spellings, which
wrappers may lie around it. Nothing here supplies a value, changes a decision or drops content; what a rewrite cannot
keep whole is left alone, and validation reports it. The input is never touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from accordance.contracts.jsonpath import JsonObject, Path, render
from accordance.contracts.respelling import BLANKS, folded
from accordance.contracts.violation import Repair


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the words of an enumeration may be written: any case of ASCII letters, white space around, known aliases."""

    words: tuple[str, ...]
    aliases: Mapping[str, str] = field(default_factory=dict)
    strip: str = BLANKS
    known: frozenset[str] = field(init=False)
    _meant: Mapping[str, str] = field(init=False)  # folded word or alias -> the word

    def __post_init__(self) -> None:
        meant: dict[str, str] = {}
        for word in self.words:
            meant.setdefault(folded(word), word)
        for alias, word in self.aliases.items():
            meant.setdefault(folded(alias), word)
        object.__setattr__(self, "known", frozenset(self.words))
        object.__setattr__(self, "_meant", meant)

    def canonical(self, written: str) -> str | None:
        """The word that was meant, or None."""
        return self._meant.get(folded(written, self.strip))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The rewrites of one kind of object, as data."""

    renames: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # canonical key -> its other names
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    objects: Mapping[str, Shape] = field(default_factory=dict)
    lists: Mapping[str, Shape] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()  # keys of an object around the message,
    marker: str = ""  # unwrapped only when this key is not at the top already
    aliases: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names = frozenset(
            alias for aliases in self.renames.values() for alias in aliases
        )
        object.__setattr__(self, "aliases", names)


def normalise(message: JsonObject, shape: Shape) -> tuple[JsonObject, list[Repair]]:
    """Apply a table. Returns the message itself when nothing had to be done."""
    repairs: list[Repair] = []
    unwrapped = _unwrap(message, shape, repairs)
    return _object(unwrapped, shape, (), repairs), repairs


class Rivals(NamedTuple):
    """Two answers in one message that differ in a key. A place is a wrapper's name, or "" for the top."""

    place: str
    other: str
    key: str


def rival_answers(message: JsonObject, shape: Shape) -> Rivals | None:
    """Two places of one message that hold different answers. Neither may be taken then."""
    answers = _wrapped_answers(message, shape)
    if not answers:
        return None
    outer = {
        name: value for name, value in message.items() if name not in shape.wrappers
    }
    respelled = _object(outer, shape, (), [])
    at_the_top = {name: value for name, value in respelled.items() if name in outer}
    for (place, one), (other, two) in combinations(
        [("", at_the_top), *answers.items()], 2
    ):
        for key in one:
            if key in two and one[key] != two[key]:
                return Rivals(place, other, key)
    return None


def _wrapped_answers(message: JsonObject, shape: Shape) -> dict[str, JsonObject]:
    """The wrappers that hold an answer, normalised: an object with the marker, and a known word where it is a word."""
    inners = {
        key: inner
        for key in shape.wrappers
        if isinstance(inner := message.get(key), dict)
    }
    normal = {
        key: _object(inner, shape, (), [])
        for key, inner in inners.items()
        if shape.marker in inner
    }
    words = shape.spellings.get(shape.marker)
    return {
        key: inner
        for key, inner in normal.items()
        if words is None or inner[shape.marker] in words.words
    }


def _unwrap(message: JsonObject, shape: Shape, repairs: list[Repair]) -> JsonObject:
    """Lift the content of one known wrapper, if nothing is lost by it: the one with the answer in it comes first."""
    if not shape.wrappers or shape.marker in message:
        return message
    for key in (*_wrapped_answers(message, shape), *shape.wrappers):
        inner = message.get(key)
        if not isinstance(inner, dict):
            continue
        outer = {name: value for name, value in message.items() if name != key}
        if all(
            name not in outer or outer[name] == value for name, value in inner.items()
        ):
            repairs.append(Repair("unwrap", render((key,)), key, None))
            return {**outer, **inner}
    return message


def _object(
    value: JsonObject, shape: Shape, path: Path, repairs: list[Repair]
) -> JsonObject:
    renamed = _rename(value, shape, path, repairs)
    changed: JsonObject = {}
    for key, spelling in shape.spellings.items():
        written = renamed.get(key)
        if isinstance(written, str) and written not in spelling.known:
            word = spelling.canonical(written)
            if word is not None:
                repairs.append(Repair("spelling", render((*path, key)), written, word))
                changed[key] = word
    for key, child in shape.objects.items():
        inner = renamed.get(key)
        if isinstance(inner, dict):
            rewritten = _object(inner, child, (*path, key), repairs)
            if rewritten is not inner:
                changed[key] = rewritten
    for key, child in shape.lists.items():
        items = renamed.get(key)
        if isinstance(items, list):
            rewritten_items = _items(items, child, (*path, key), repairs)
            if rewritten_items is not items:
                changed[key] = rewritten_items
    return {**renamed, **changed} if changed else renamed


def _items(
    items: list[object], shape: Shape, path: Path, repairs: list[Repair]
) -> list[object]:
    before = len(repairs)
    rewritten = [
        item
        if not isinstance(item, dict) or _is_canonical(item, shape)
        else _object(item, shape, (*path, at), repairs)
        for at, item in enumerate(items)
    ]
    return rewritten if len(repairs) > before else items


def _is_canonical(value: JsonObject, shape: Shape) -> bool:
    """A quick look that spares most items the whole walk."""
    if shape.lists or not shape.aliases.isdisjoint(value):
        return False
    for key, spelling in shape.spellings.items():
        if value.get(key) not in spelling.words:
            return False
    for key, child in shape.objects.items():
        inner = value.get(key)
        if inner and (not isinstance(inner, dict) or not _is_canonical(inner, child)):
            return False
    return True


def _rename(
    value: JsonObject, shape: Shape, path: Path, repairs: list[Repair]
) -> JsonObject:
    """Give keys their canonical names, in place of the alias, so that the order of the message is kept."""
    if shape.aliases.isdisjoint(value):
        return value
    names: dict[str, str] = {}
    for key, aliases in shape.renames.items():
        if value.get(key) is not None:
            continue
        present = [alias for alias in aliases if alias in value]
        if present and all(value[alias] == value[present[0]] for alias in present):
            names[present[0]] = key
            repairs.append(
                Repair("rename", render((*path, present[0])), present[0], key)
            )
    if not names:
        return value
    replaced = set(names.values())
    return {
        names.get(key, key): item for key, item in value.items() if key not in replaced
    }
