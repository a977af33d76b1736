"""Step 1: bytes to exactly one JSON object, or a typed error with its place.

The fast parser decides; the guards add what it does not check (overflow, depth). Only
if something is wrong does the scanner read the text again, to find out why. The same
scanner watches streams, so both give the same answer.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final, Literal, TypeAlias

import jiter

from accordance.contracts.jsonpath import JsonObject, Path, render
from accordance.contracts.limits import LIMITS, Limits
from accordance.contracts.scanner import Scanner
from accordance.errors import Unparseable

Container: TypeAlias = "JsonObject | list[object] | tuple[object, ...]"

_INFINITE: Final = (inf, -inf)
_LARGE: Final = 1 << 20  # bytes


def read(raw: bytes | str, limits: Limits = LIMITS) -> JsonObject:
    """Read one JSON object, strictly. Raises only Unparseable, whatever the bytes."""
    value = parse_object(raw, limits)
    if not is_sound(value, limits.max_depth):
        raise unsound(raw, limits)
    return value


def parse_object(raw: bytes | str, limits: Limits = LIMITS) -> JsonObject:
    """Read an object without the guards of `is_sound`: they are up to the caller."""
    try:
        data = raw.encode() if isinstance(raw, str) else bytes(raw)
    except UnicodeEncodeError:
        raise _explain(str(raw), limits, "half a character") from None
    if len(data) > limits.max_bytes:
        raise too_large(len(data), limits)
    # A large message is a plan, which repeats each id many times.
    repeats: Literal["all", "keys"] = "all" if len(data) > _LARGE else "keys"
    try:
        value = jiter.from_json(
            data,
            catch_duplicate_keys=True,
            allow_inf_nan=False,
            cache_mode=repeats,
        )
    except ValueError as error:
        raise _explain(decode(data), limits, str(error)) from None
    if type(value) is not dict:
        raise Unparseable("not_object", expected="one JSON object", actual=_kind(value))
    return value


def unsound(raw: bytes | str, limits: Limits) -> Unparseable:
    """The error for a message that parses but is not sound."""
    text = raw if isinstance(raw, str) else decode(raw)
    return _explain(text, limits, "a number that overflows")


def too_large(size: int, limits: Limits) -> Unparseable:
    """The error for a message over the size limit.

    A reader that stops early may give the size it has seen so far.
    """
    return Unparseable(
        "too_large",
        expected=f"at most {limits.max_bytes:,} bytes",
        actual=f"{size:,} bytes",
    )


def decode(data: bytes) -> str:
    """Decode UTF-8, strictly. Raises Unparseable."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        actual = f"byte 0x{data[error.start]:02x}"
        raise Unparseable(
            "not_utf8",
            expected="UTF-8",
            actual=actual,
            offset=error.start,
        ) from None


def is_sound(value: Container, max_depth: int) -> bool:
    """Whether no number overflowed to infinity and nothing is nested too deep.

    The value is searched level by level, without recursion.
    """
    level: list[Any] = [value]
    for _ in range(max_depth):
        below: list[Any] = []
        for container in level:
            for item in container.values() if type(container) is dict else container:
                kind = type(item)
                if kind is str:
                    continue
                if kind is dict or kind is list:
                    below.append(item)
                elif kind is float and item in _INFINITE:
                    return False
        if not below:
            return True
        level = below
    return False


def free_parts_are_sound(
    message: JsonObject,
    places: tuple[Path, ...],
    max_depth: int,
) -> bool:
    """Whether a message is sound at the places where it may nest without bound."""
    for place in places:
        part: object = message
        for step in place:
            part = part.get(step) if isinstance(part, dict) else None
        if not part or not isinstance(part, dict | list):
            continue
        if not is_sound(part, max_depth - len(place)):
            return False
    return True


def _explain(text: str, limits: Limits, otherwise: str) -> Unparseable:
    """The error for the first flaw of a text that the parser refused."""
    scanner = Scanner(limits)
    scanner.feed(text)
    flaw = scanner.end()
    if flaw is None:
        return Unparseable("not_json", expected="one JSON object", actual=otherwise)
    return Unparseable(
        flaw.code,
        expected=flaw.expected,
        actual=flaw.actual,
        path=render(flaw.path),
        offset=flaw.offset,
    )


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "a list"
