"""Expectations about values, as data: `">= 3"`, `"0.3..0.8"`, `{count = ">= 3"}`, `{one_of = ["a", "b"]}`.

One small language for golden cases and for the conditions of handoffs. It compares and counts; it runs nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from accordance.contracts.jsonpath import JsonObject, lookup, parse
from accordance.contracts.violation import excerpt
from accordance.errors import InvalidComparator, InvalidPath

Test: TypeAlias = Callable[[object], bool]

ABSENT: Final = object()
"""What stands where nothing stands."""

_SIGNS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_NUMBER: Final = r"-?\d+(?:\.\d+)?"
_BOUND: Final = re.compile(rf"\s*(>=|<=|==|!=|>|<)\s*({_NUMBER})\s*")
_RANGE: Final = re.compile(rf"\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*")


@dataclass(frozen=True, slots=True)
class Comparator:
    """A test of one value, with the words it was written in."""

    text: str
    holds: Test


def comparator(written: object) -> Comparator:
    """Read an expectation. Raises InvalidComparator with what can be written."""
    if isinstance(written, str):
        return Comparator(written.strip(), _of_numbers(written))
    if isinstance(written, Mapping) and written:
        tests = [_of_key(str(key), value) for key, value in written.items()]
        text = ", ".join(f"{key} {_told(value)}" for key, value in written.items())
        return Comparator(text, lambda value: all(test(value) for test in tests))
    raise InvalidComparator(
        f'{excerpt(written)} is no expectation; write ">= 3", "0.3..0.8" or one of {", ".join(_KINDS)}'
    )


def _told(value: object) -> str:
    return value if isinstance(value, str) else excerpt(value)


def _of_numbers(text: str) -> Test:
    if match := _BOUND.fullmatch(text):
        sign, limit = _SIGNS[match[1]], float(match[2])
        return lambda value: _is_number(value) and sign(_number(value), limit)
    if match := _RANGE.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        if low > high:
            raise InvalidComparator(
                f"{text!r}: nothing lies between {match[1]} and {match[2]}"
            )
        return lambda value: _is_number(value) and low <= _number(value) <= high
    raise InvalidComparator(
        f'{text!r} compares nothing; write e.g. ">= 3", "< 0.8" or "0.3..0.8"'
    )


def _of_key(key: str, value: object) -> Test:
    try:
        return _KINDS[key](value)
    except KeyError:
        raise InvalidComparator(
            f"{key!r} is no comparison; known: {', '.join(_KINDS)}"
        ) from None


def _equals(wanted: object) -> Test:
    return lambda value: _same(value, wanted)


def _one_of(wanted: object) -> Test:
    words = _list("one_of", wanted)
    return lambda value: any(_same(value, word) for word in words)


def _contains(wanted: object) -> Test:
    words = _list("contains", wanted)

    def contains_all(value: object) -> bool:
        if isinstance(value, str):
            return all(isinstance(word, str) and word in value for word in words)
        return isinstance(value, list) and all(
            any(_same(item, word) for item in value) for word in words
        )

    return contains_all


def _within(wanted: object) -> Test:
    words = _list("within", wanted)
    return lambda value: (
        isinstance(value, list)
        and all(any(_same(item, word) for word in words) for item in value)
    )


def _count(wanted: object) -> Test:
    inner = comparator(wanted).holds
    return lambda value: isinstance(value, list | dict) and inner(len(value))


def _least(wanted: object) -> Test:
    inner = comparator(wanted).holds
    return lambda value: bool(numbers := _numbers(value)) and inner(min(numbers))


def _most(wanted: object) -> Test:
    inner = comparator(wanted).holds
    return lambda value: bool(numbers := _numbers(value)) and inner(max(numbers))


def _exists(wanted: object) -> Test:
    if not isinstance(wanted, bool):
        raise InvalidComparator(f"exists takes true or false, got {excerpt(wanted)}")
    return lambda value: (value is not ABSENT) is wanted


_KINDS: Final[Mapping[str, Callable[[object], Test]]] = {
    "equals": _equals,
    "one_of": _one_of,
    "contains": _contains,
    "within": _within,
    "count": _count,
    "least": _least,
    "most": _most,
    "exists": _exists,
}


def _list(key: str, value: object) -> Sequence[object]:
    if not isinstance(value, list):
        raise InvalidComparator(f"{key} takes a list, got {excerpt(value)}")
    return value


def _same(one: object, other: object) -> bool:
    """Equal, and of one kind: true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else float("nan")


def _numbers(value: object) -> list[float]:
    return (
        [_number(item) for item in value if _is_number(item)]
        if isinstance(value, list)
        else []
    )


def found_at(message: JsonObject, path: str) -> object:
    """What stands at a path, or ABSENT. `[*]` gathers from every item of a list: `$.t_scores[*].score`."""
    head, star, rest = path.partition("[*]")
    try:
        steps = parse(head)
    except InvalidPath as error:
        raise InvalidComparator(str(error)) from None
    try:
        value = lookup(message, steps)
    except InvalidPath:
        return ABSENT
    if not star:
        return value
    if not isinstance(value, list):
        return ABSENT
    gathered = [found_at({"": item}, f'$[""]{rest}') for item in value]
    return [item for item in gathered if item is not ABSENT]
