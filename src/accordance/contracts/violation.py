"""The words of a check: what was broken, what was repaired, what came out of it.

An error is an object with fields; the sentence is made from it, last.
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
    """One edit that mends a violation: put `value` at `path`, or take away what is there."""

    path: str
    value: object = None
    op: Literal["set", "remove"] = "set"

    def __str__(self) -> str:
        text = (
            f"remove {self.path}"
            if self.op == "remove"
            else f"set {self.path} to {excerpt(self.value)}"
        )
        return printable(text)

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        edit: JsonObject = {"op": self.op, "path": self.path}
        return edit if self.op == "remove" else {**edit, "value": self.value}


class Violation(NamedTuple):
    """One way in which a message does not honour its contract."""

    code: str  # stable, has a page: accordance explain CODE
    path: str  # "$.breakdown[2].issues[0].evidence"
    expected: str
    actual: str
    fix: Fix | None = None
    offset: int | None = (
        None  # only for text that could not be read: where reading stopped, in characters
    )

    def __str__(self) -> str:
        way_out = f"; fix: {self.fix}" if self.fix else ""
        return printable(
            f"{self.path}: expected {self.expected}, got {self.actual} [{self.code}]{way_out}"
        )

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        fields: JsonObject = {
            "code": self.code,
            "path": self.path,
            "expected": self.expected,
            "actual": self.actual,
        }
        fields["fix"] = self.fix.to_json() if self.fix else None
        return fields if self.offset is None else {**fields, "offset": self.offset}


class Notice(NamedTuple):
    """Something worth knowing about an accepted message: it breaks no rule that must hold."""

    code: str
    path: str
    message: str

    def __str__(self) -> str:
        return printable(f"{self.path}: {self.message} [{self.code}]")

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        return {"code": self.code, "path": self.path, "message": self.message}


class Repair(NamedTuple):
    """One declared, lossless rewrite that was applied: by which rule, where, from what to what."""

    rule: str
    path: str
    before: object
    after: object
    offset: int | None = None  # only for repairs of the text itself

    def __str__(self) -> str:
        return printable(
            f"{self.path}: {excerpt(self.before)} -> {excerpt(self.after)} [{self.rule}]"
        )

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        fields: JsonObject = {
            "rule": self.rule,
            "path": self.path,
            "before": self.before,
            "after": self.after,
        }
        return fields if self.offset is None else {**fields, "offset": self.offset}


# The two outcomes are values too, but not frozen: one is made for every message, and freezing it would cost more than
# all rules of a contract together. What they hold is frozen.


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
    """The message does not honour its contract. At most 50 violations and 50 warnings are listed.

    `total` and `total_warnings` count all of them.
    `message` is what the paths and fixes speak of: the message after normalising, or None if it could not be read.
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
    """Show a value as JSON, bounded and printable: a report never repeats the whole message."""
    if isinstance(value, str):
        return _shorten(printable(_encode_text(value[: limit + 1])), limit)
    if value is None:
        return "null"
    if isinstance(value, int):
        return _number_excerpt(value, limit)
    if isinstance(value, Mapping) and not _is_brief(value.values()):
        return f"an object with {_count(len(value), 'key')}"
    if isinstance(value, list | tuple) and not _is_brief(value):
        return f"a list of {_count(len(value), 'item')}"
    return _shorten(printable(_encode(value)[: limit + 1]), limit)


def _number_excerpt(value: int, limit: int) -> str:
    """An integer, or true or false, which Python takes for integers too."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value.bit_length() > 4 * limit:  # Python refuses to write very long ones
        return f"an integer of {value.bit_length()} bits"
    return _shorten(int.__repr__(value), limit)


def _is_brief(items: Collection[object]) -> bool:
    """Few enough and plain enough to be shown as they are."""
    return len(items) <= _BRIEF_ITEMS and not any(
        isinstance(item, Mapping | list | tuple)
        or (isinstance(item, str) and len(item) > _BRIEF_TEXT)
        for item in items
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
