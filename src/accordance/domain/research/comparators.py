"""Expectations about values, written as data.

`">= 3"`, `"0.3..0.8"`, `{count = ">= 3"}`, `{one_of = ["a", "b"]}`: a small language
for golden cases and for the conditions of handoffs. It compares and counts; it runs
nothing.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from accordance.contracts.jsonpath import JsonObject, lookup, parse
from accordance.contracts.violation import excerpt
from accordance.domain.json_numbers import as_number
from accordance.errors import InvalidComparator, InvalidPath

Test: TypeAlias = Callable[[object], bool]

ABSENT: Final = object()
"""The value at a path that leads nowhere."""

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
    """A test of a value, with the text it was written as."""

    text: str
    holds: Test


def comparator(written: object) -> Comparator:
    """Read an expectation. Raises InvalidComparator, which says what can be written."""
    if isinstance(written, str):
        return Comparator(written.strip(), _numeric_test(written))
    if isinstance(written, Mapping) and written:
        return _combined(written)

    kinds = ", ".join(_KINDS)
    raise InvalidComparator(
        f"{excerpt(written)} is not an expectation; "
        f'write ">= 3", "0.3..0.8" or one of {kinds}'
    )


def _combined(written: Mapping[object, object]) -> Comparator:
    """Return the comparator of a table: all of its tests must hold."""
    tests = []
    texts = []
    for key, value in written.items():
        tests.append(_test_named(str(key), value))
        shown = value if isinstance(value, str) else excerpt(value)
        texts.append(f"{key} {shown}")

    def all_hold(value: object) -> bool:
        return all(test(value) for test in tests)

    return Comparator(", ".join(texts), all_hold)


def _numeric_test(text: str) -> Test:
    bound = _BOUND.fullmatch(text)
    if bound:
        return _bound_test(bound[1], float(bound[2]))

    between = _RANGE.fullmatch(text)
    if between is None:
        raise InvalidComparator(
            f"{text!r} is not a comparison; "
            'write for example ">= 3", "< 0.8" or "0.3..0.8"'
        )

    low, high = float(between[1]), float(between[2])
    if low > high:
        raise InvalidComparator(
            f"{text!r} is empty: {between[1]} is greater than {between[2]}"
        )
    return _range_test(low, high)


def _bound_test(sign: str, limit: float) -> Test:
    compare = _SIGNS[sign]

    def holds(value: object) -> bool:
        number = as_number(value)
        return number is not None and compare(number, limit)

    return holds


def _range_test(low: float, high: float) -> Test:
    def holds(value: object) -> bool:
        number = as_number(value)
        return number is not None and low <= number <= high

    return holds


def _test_named(key: str, value: object) -> Test:
    if key not in _KINDS:
        kinds = ", ".join(_KINDS)
        raise InvalidComparator(f"{key!r} is not a comparison; known: {kinds}")
    return _KINDS[key](value)


# -- the kinds of tests a table can name


def _equals(expected: object) -> Test:
    return lambda value: _is_same(value, expected)


def _one_of(expected: object) -> Test:
    words = _list("one_of", expected)
    return lambda value: _is_among(value, words)


def _contains(expected: object) -> Test:
    words = _list("contains", expected)

    def holds(value: object) -> bool:
        if isinstance(value, str):
            return all(isinstance(word, str) and word in value for word in words)
        if isinstance(value, list):
            return all(_is_among(word, value) for word in words)
        return False

    return holds


def _within(expected: object) -> Test:
    words = _list("within", expected)

    def holds(value: object) -> bool:
        if not isinstance(value, list):
            return False
        return all(_is_among(item, words) for item in value)

    return holds


def _count(expected: object) -> Test:
    test = comparator(expected).holds

    def holds(value: object) -> bool:
        return isinstance(value, list | dict) and test(len(value))

    return holds


def _least(expected: object) -> Test:
    test = comparator(expected).holds

    def holds(value: object) -> bool:
        numbers = _numbers(value)
        return bool(numbers) and test(min(numbers))

    return holds


def _most(expected: object) -> Test:
    test = comparator(expected).holds

    def holds(value: object) -> bool:
        numbers = _numbers(value)
        return bool(numbers) and test(max(numbers))

    return holds


def _exists(expected: object) -> Test:
    if not isinstance(expected, bool):
        raise InvalidComparator(f"exists takes true or false, got {excerpt(expected)}")
    return lambda value: (value is not ABSENT) is expected


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


def _is_among(value: object, values: Sequence[object]) -> bool:
    return any(_is_same(value, other) for other in values)


def _is_same(value: object, other: object) -> bool:
    """Whether two values are equal and of the same kind: true is not 1."""
    same_kind = isinstance(value, bool) == isinstance(other, bool)
    return same_kind and value == other


# -- values


def _numbers(value: object) -> list[float]:
    if not isinstance(value, list):
        return []
    numbers = map(as_number, value)
    return [number for number in numbers if number is not None]


def value_at(message: JsonObject, path: str) -> object:
    """Return the value at a path, or ABSENT.

    `[*]` gathers from every item of a list: `$.t_scores[*].score`. Raises
    InvalidComparator for a path that cannot be read.
    """
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

    gathered = [value_at({"": item}, f'$[""]{rest}') for item in value]
    return [item for item in gathered if item is not ABSENT]
