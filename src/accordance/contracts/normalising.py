"""Step 3: a closed table of lossless rewrites, applied before validation and recorded.

A `Shape` is the table for a kind of object: other names of its keys, other spellings
of its words, wrappers that may lie around it. Nothing here supplies a value, changes a
decision or drops content. Where a rewrite would lose something it is not applied, and
validation reports the fault. The input is never modified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from accordance.contracts.jsonpath import JsonObject, Path, render, without
from accordance.contracts.respelling import BLANKS, folded
from accordance.contracts.violation import Repair


@dataclass(frozen=True, slots=True)
class Spelling:
    """How the words of an enumeration may be written.

    ASCII letters may have any case, white space may stand around the word, and known
    aliases stand for their word.
    """

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
    """The rewrites of a kind of object, as data.

    `renames` maps a canonical key to its other names. `wrappers` are the keys of an
    object around the message, which is unwrapped only if `marker` is not at the top.
    """

    renames: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    objects: Mapping[str, Shape] = field(default_factory=dict)
    lists: Mapping[str, Shape] = field(default_factory=dict)
    wrappers: tuple[str, ...] = ()
    marker: str = ""
    aliases: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        names: set[str] = set()
        names.update(*self.renames.values())
        object.__setattr__(self, "aliases", frozenset(names))


def normalise(message: JsonObject, shape: Shape) -> tuple[JsonObject, list[Repair]]:
    """Apply a table. Returns the message itself when there is nothing to rewrite."""
    repairs: list[Repair] = []
    unwrapped = _unwrap(message, shape, repairs)
    normal = _normal_object(unwrapped, shape, (), repairs)
    return normal, repairs


class Rivals(NamedTuple):
    """Two answers in a message that differ in a key.

    A place is the name of a wrapper, or "" for the top of the message.
    """

    place: str
    other: str
    key: str


def rival_answers(message: JsonObject, shape: Shape) -> Rivals | None:
    """Two places of a message that hold different answers, so that neither counts."""
    answers = _wrapped_answers(message, shape)
    if not answers:
        return None

    candidates = [("", _answer_at_the_top(message, shape)), *answers.items()]
    for (place, answer), (other_place, other_answer) in combinations(candidates, 2):
        for key, value in answer.items():
            if key in other_answer and other_answer[key] != value:
                return Rivals(place, other_place, key)
    return None


def _answer_at_the_top(message: JsonObject, shape: Shape) -> JsonObject:
    """What stands beside the wrappers, with its words in canonical spelling."""
    outer = without(message, shape.wrappers)
    normal = _normal_object(outer, shape, (), [])
    return {key: value for key, value in normal.items() if key in outer}


def _wrapped_answers(message: JsonObject, shape: Shape) -> dict[str, JsonObject]:
    """The wrappers that hold an answer, with that answer normalised.

    An answer is an object with the marker. Where the marker has a list of words, it
    must be among them.
    """
    spelling = shape.spellings.get(shape.marker)
    answers: dict[str, JsonObject] = {}
    for wrapper in shape.wrappers:
        inner = message.get(wrapper)
        if not isinstance(inner, dict) or shape.marker not in inner:
            continue
        answer = _normal_object(inner, shape, (), [])
        if spelling is None or answer[shape.marker] in spelling.words:
            answers[wrapper] = answer
    return answers


def _unwrap(message: JsonObject, shape: Shape, repairs: list[Repair]) -> JsonObject:
    """Lift the content of a wrapper to the top, if nothing is lost by it.

    Wrappers that hold an answer are tried first.
    """
    if not shape.wrappers or shape.marker in message:
        return message

    for wrapper in (*_wrapped_answers(message, shape), *shape.wrappers):
        inner = message.get(wrapper)
        if not isinstance(inner, dict):
            continue
        outer = without(message, (wrapper,))
        if _agree(outer, inner):
            repairs.append(
                Repair(
                    rule="unwrap",
                    path=render((wrapper,)),
                    before=wrapper,
                    after=None,
                )
            )
            return {**outer, **inner}
    return message


def _agree(outer: JsonObject, inner: JsonObject) -> bool:
    """Whether two objects hold the same values under the keys they share."""
    shared = outer.keys() & inner.keys()
    return all(outer[key] == inner[key] for key in shared)


def _normal_object(
    value: JsonObject,
    shape: Shape,
    path: Path,
    repairs: list[Repair],
) -> JsonObject:
    """An object after all rewrites of its table; itself if there are none."""
    renamed = _rename(value, shape, path, repairs)
    changed = _respelt(renamed, shape, path, repairs)

    for key, child in shape.objects.items():
        inner = renamed.get(key)
        if isinstance(inner, dict):
            normal = _normal_object(inner, child, (*path, key), repairs)
            if normal is not inner:
                changed[key] = normal

    for key, child in shape.lists.items():
        items = renamed.get(key)
        if isinstance(items, list):
            normal_items = _normal_items(items, child, (*path, key), repairs)
            if normal_items is not items:
                changed[key] = normal_items

    if not changed:
        return renamed
    return {**renamed, **changed}


def _respelt(
    value: JsonObject,
    shape: Shape,
    path: Path,
    repairs: list[Repair],
) -> JsonObject:
    """The words of an object that are respelt, by their keys."""
    changed: JsonObject = {}
    for key, spelling in shape.spellings.items():
        written = value.get(key)
        if not isinstance(written, str) or written in spelling.known:
            continue
        word = spelling.canonical(written)
        if word is not None:
            repairs.append(
                Repair(
                    rule="spelling",
                    path=render((*path, key)),
                    before=written,
                    after=word,
                )
            )
            changed[key] = word
    return changed


def _normal_items(
    items: list[object],
    shape: Shape,
    path: Path,
    repairs: list[Repair],
) -> list[object]:
    """A list after all rewrites of its items; itself if there are none."""
    repairs_before = len(repairs)
    normal: list[object] = []
    for index, item in enumerate(items):
        if isinstance(item, dict) and not _is_canonical(item, shape):
            normal.append(_normal_object(item, shape, (*path, index), repairs))
        else:
            normal.append(item)
    return normal if len(repairs) > repairs_before else items


def _is_canonical(value: JsonObject, shape: Shape) -> bool:
    """A quick test that spares most items of a long list the full walk."""
    if shape.lists or not shape.aliases.isdisjoint(value):
        return False
    for key, spelling in shape.spellings.items():
        if value.get(key) not in spelling.words:
            return False
    for key, child in shape.objects.items():
        inner = value.get(key)
        if not inner:
            continue
        if not isinstance(inner, dict) or not _is_canonical(inner, child):
            return False
    return True


def _rename(
    value: JsonObject,
    shape: Shape,
    path: Path,
    repairs: list[Repair],
) -> JsonObject:
    """Give keys their canonical names, keeping the order of the message."""
    if shape.aliases.isdisjoint(value):
        return value

    new_names: dict[str, str] = {}
    for key, aliases in shape.renames.items():
        if value.get(key) is not None:
            continue
        present = [alias for alias in aliases if alias in value]
        if not present:
            continue
        first = present[0]
        if all(value[alias] == value[first] for alias in present):
            new_names[first] = key
            repairs.append(
                Repair(
                    rule="rename",
                    path=render((*path, first)),
                    before=first,
                    after=key,
                )
            )
    if not new_names:
        return value

    replaced = set(new_names.values())
    return {
        new_names.get(key, key): item
        for key, item in value.items()
        if key not in replaced
    }
