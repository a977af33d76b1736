"""JSON paths: where in a message something is. `$.breakdown[2].issues[0].evidence`.

A path is a tuple of keys and indexes; the text form is made last. Keys that are not plain words are quoted
(`$["we ird"]`), so that every path can be read back. Only a key that is longer than any sensible one is cut; such a
path still says where to look, but it is no place to put a fix (`is_exact`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from accordance.contracts.limits import MAX_KEY
from accordance.contracts.printable import printable
from accordance.errors import InvalidPath

JsonObject: TypeAlias = dict[str, object]
Path: TypeAlias = tuple[str | int, ...]

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STEP = re.compile(r'\.([A-Za-z_][A-Za-z0-9_]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def render(path: Iterable[str | int]) -> str:
    """Write a path as text."""
    text = "$"
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else _render_key(step)
    return text


def is_exact(path: Path) -> bool:
    """Whether the text form of a path leads back to the same place: no key was cut."""
    for step in path:  # noqa: SIM110 - asked for every fault of a message, and a generator would take twice as long
        if isinstance(step, str) and len(step) > MAX_KEY:
            return False
    return True


def _render_key(key: str) -> str:
    return _render_short_key(key if len(key) <= MAX_KEY else f"{key[: MAX_KEY - 1]}…")


@lru_cache(maxsize=1024)
def _render_short_key(key: str) -> str:
    return (
        f".{key}"
        if _WORD.fullmatch(key)
        else f"[{printable(json.dumps(key, ensure_ascii=False))}]"
    )


def parse(text: str) -> Path:
    """Read a path back from its text."""
    if not text.startswith("$"):
        raise InvalidPath(f"a path begins with $, got {text!r}")
    steps: list[str | int] = []
    at = 1
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            raise InvalidPath(f"cannot read {text!r} from {text[at:]!r} on")
        word, index, quoted = match.groups()
        steps.append(
            word
            if word is not None
            else int(index)
            if index is not None
            else json.loads(quoted)
        )
        at = match.end()
    return tuple(steps)


def lookup(value: object, path: Path) -> object:
    """Follow a path into a value."""
    for step in path:
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            raise InvalidPath(f"{render(path)} leads nowhere")
    return value


def lies_within(path: Path, places: Collection[Path]) -> bool:
    """Whether a path is one of the places or lies below one. Costs the path's depth, however many places there are."""
    return any(path[:end] in places for end in range(len(path) + 1))
