"""JSON paths: where in a message something is, as in `$.breakdown[2].issues[0]`.

A path is a tuple of keys and indexes; the text form is made at the end. Keys that are
not plain words are quoted (`$["we ird"]`), so that every path can be read back. Only a
key of unreasonable length is cut. Such a path still says where to look, but a fix
cannot be applied there (`is_exact`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Container, Iterable, Mapping
from functools import lru_cache
from typing import Final, TypeAlias, TypeVar

from accordance.contracts.limits import MAX_KEY
from accordance.contracts.printable import printable
from accordance.errors import InvalidPath

JsonObject: TypeAlias = dict[str, object]
Path: TypeAlias = tuple[str | int, ...]
V = TypeVar("V")
_NOTHING: Final = object()  # where a path leads nowhere

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP = re.compile(r'\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def render(path: Iterable[str | int]) -> str:
    """Write a path as text."""
    text = "$"
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += _render_key(step)
    return text


def is_exact(path: Path) -> bool:
    """Whether the text form of a path leads back to its place: no key was cut."""
    for step in path:  # noqa: SIM110 - hot, and a generator takes twice as long
        if isinstance(step, str) and len(step) > MAX_KEY:
            return False
    return True


def _render_key(key: str) -> str:
    if len(key) > MAX_KEY:
        key = f"{key[: MAX_KEY - 1]}…"
    return _render_short_key(key)


@lru_cache(maxsize=1024)
def _render_short_key(key: str) -> str:
    if _WORD.fullmatch(key):
        return f".{key}"
    quoted = json.dumps(key, ensure_ascii=False)
    return f"[{printable(quoted)}]"


def parse(text: str) -> Path:
    """Read a path back from its text. Raises InvalidPath."""
    if not text.startswith("$"):
        raise InvalidPath(f"a path begins with $, got {text!r}")
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise InvalidPath(f"cannot read {text!r} from {text[at:]!r} on")
        steps.append(_step_in(match))
        at = match.end()
    return tuple(steps)


def _step_in(match: re.Match[str]) -> str | int:
    word, index, quoted = match.groups()
    if index is not None:
        return int(index)
    if word is not None:
        return str(word)
    key: str = json.loads(quoted)
    return key


def lookup(value: object, path: Path) -> object:
    """What stands at a path of a value. Raises InvalidPath."""
    for step in path:
        value = part_at(value, step, _NOTHING)
        if value is _NOTHING:
            raise InvalidPath(f"{render(path)} leads nowhere")
    return value


def has_part(value: object, step: str | int) -> bool:
    """Whether an object has a key, or a list an item."""
    return part_at(value, step, _NOTHING) is not _NOTHING


def part_at(value: object, step: str | int, default: object = None) -> object:
    """The part of an object or a list a step below it, or else the default."""
    if isinstance(value, Mapping):
        return value.get(step, default)
    if not isinstance(value, list) or not isinstance(step, int):
        return default
    if step < len(value):
        return value[step]
    return default


def without(values: Mapping[str, V], keys: Container[str]) -> dict[str, V]:
    """A copy of an object without some of its keys."""
    return {key: value for key, value in values.items() if key not in keys}


def without_nulls(values: Mapping[str, V | None]) -> dict[str, V]:
    """A copy of an object without the keys that hold nothing."""
    return {key: value for key, value in values.items() if value is not None}


def lies_within(path: Path, places: Collection[Path]) -> bool:
    """Whether a path is among the places or lies below any of them.

    The cost depends on the depth of the path, not on the number of places.
    """
    return any(path[:end] in places for end in range(len(path) + 1))
