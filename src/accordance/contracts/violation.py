"""The values a check returns: violations, fixes, notices, repairs and the outcome.

An error is an object with fields; the sentence is made from it at the very end.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Generic, Literal, NamedTuple, TypeVar

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.limits import MAX_EXCERPT
from accordance.contracts.printable import printable

M = TypeVar("M")

_encode_text: Final = json.encoder.encode_basestring
_encode: Final = json.JSONEncoder(ensure_ascii=False, default=repr).encode
_BRIEF_ITEMS: Final = 3
_BRIEF_TEXT: Final = 20


class Fix(NamedTuple):
    """An edit that mends a violation: set `value` at `path`, or remove it."""

    path: str
    value: object = None
    op: Literal["set", "remove"] = "set"

    def __str__(self) -> str:
        if self.op == "remove":
            return printable(f"remove {self.path}")
        return printable(f"set {self.path} to {excerpt(self.value)}")

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        edit: JsonObject = {"op": self.op, "path": self.path}
        if self.op == "set":
            edit["value"] = self.value
        return edit


class Violation(NamedTuple):
    """A way in which a message breaks its contract."""

    code: str  # stable, has a page: accordance explain CODE
    path: str  # "$.breakdown[2].issues[0].evidence"
    expected: str
    actual: str
    fix: Fix | None = None
    offset: int | None = None  # in characters; only for text that could not be read

    def __str__(self) -> str:
        fault = f"expected {self.expected}, got {self.actual}"
        fix = f"; fix: {self.fix}" if self.fix else ""
        return printable(f"{self.path}: {fault} [{self.code}]{fix}")

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        fields: JsonObject = {
            "code": self.code,
            "path": self.path,
            "expected": self.expected,
            "actual": self.actual,
            "fix": self.fix.to_json() if self.fix else None,
        }
        if self.offset is not None:
            fields["offset"] = self.offset
        return fields


class Notice(NamedTuple):
    """Something worth knowing about a message that breaks no rule."""

    code: str
    path: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.path}: {self.message} [{self.code}]")

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        return {
            "code": self.code,
            "path": self.path,
            "message": self.message,
        }


class Repair(NamedTuple):
    """A lossless rewrite that was applied: its rule, where, before and after."""

    rule: str
    path: str
    before: object
    after: object
    offset: int | None = None  # only for repairs of the text itself
    takes_out: bool = False  # an item of a list is gone, and those after it move up

    def __str__(self) -> str:
        change = f"{excerpt(self.before)} -> {excerpt(self.after)}"
        return printable(f"{self.path}: {change} [{self.rule}]")

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        fields: JsonObject = {
            "rule": self.rule,
            "path": self.path,
            "before": self.before,
            "after": self.after,
        }
        if self.offset is not None:
            fields["offset"] = self.offset
        return fields


# The two outcomes are values too, but not frozen: every check makes an outcome, and
# freezing it would cost more than all rules of a contract together. What they hold is
# frozen.


@dataclass(slots=True)
class Accepted(Generic[M]):
    """The message honours its contract. `value` is the typed message.

    At most 50 warnings are listed; `total_warnings` counts all.
    """

    value: M
    repairs: tuple[Repair, ...] = ()
    warnings: tuple[Notice, ...] = ()
    contract: str = ""
    total_warnings: int = 0

    def __bool__(self) -> Literal[True]:
        return True


@dataclass(slots=True)
class Rejected:
    """The message does not honour its contract.

    At most 50 violations and 50 warnings are listed; `total` and `total_warnings` count
    all. `message` is what paths and fixes refer to: the message after normalising, with
    every item of its lists in its place, or None if it could not be read.
    """

    violations: tuple[Violation, ...]
    total: int
    contract: str = ""
    repairs: tuple[Repair, ...] = ()
    message: JsonObject | None = None
    warnings: tuple[Notice, ...] = ()
    total_warnings: int = 0

    def __bool__(self) -> Literal[False]:
        return False


def excerpt(value: object, limit: int = MAX_EXCERPT) -> str:
    """A value as JSON, bounded and printable: reports never repeat a message."""
    if isinstance(value, str):
        text = _encode_text(value[: limit + 1])
        return _shorten(printable(text), limit)
    if value is None:
        return "null"
    if isinstance(value, int):
        return _number_excerpt(value, limit)
    if isinstance(value, Mapping) and not _is_brief(value.values()):
        return f"an object with {_count(len(value), 'key')}"
    if isinstance(value, list | tuple) and not _is_brief(value):
        return f"a list of {_count(len(value), 'item')}"
    text = _encode(value)[: limit + 1]
    return _shorten(printable(text), limit)


def _number_excerpt(value: int, limit: int) -> str:
    """An excerpt of an integer, or of a boolean, which is an integer to Python."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value.bit_length() > 4 * limit:  # Python refuses to write very long ones
        return f"an integer of {value.bit_length()} bits"
    return _shorten(int.__repr__(value), limit)


def _is_brief(items: Collection[object]) -> bool:
    """Whether items are few enough and plain enough to be shown as they are."""
    if len(items) > _BRIEF_ITEMS:
        return False
    for item in items:
        if isinstance(item, Mapping | list | tuple):
            return False
        if isinstance(item, str) and len(item) > _BRIEF_TEXT:
            return False
    return True


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun}s"


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}…"
