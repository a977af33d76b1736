"""The same value in the right form: what a fix proposes for a wrong value.

A form is a type or a spelling. A word never becomes another word, and a number never
becomes another number: that would be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.model_schemas import mapping, sequence
from accordance.contracts.respelling import respelling

_NUMBER: Final = re.compile(r"\s*-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\s*", re.ASCII)
_LONGEST_NUMBER: Final = 40  # characters; a longer number was hardly quoted by mistake
_EXACT: Final = 2**53  # up to here a float holds every integer
_BOOLEANS: Final[dict[str, tuple[object]]] = {"true": (True,), "false": (False,)}


def mended(schema: JsonObject, value: object) -> tuple[object] | None:
    """The value in the form a schema wants, in a 1-tuple; None if there is none."""
    if "const" in schema:
        return _as_word([schema["const"]], value)
    if "enum" in schema:
        return _as_word(sequence(schema["enum"]), value)
    match schema.get("type"):
        case "integer" | "number":
            return _as_number(schema, value)
        case "boolean":
            return _as_boolean(value)
        case "array":
            return _as_list(schema, value)
        case _:
            return None


def _as_word(words: Sequence[object], value: object) -> tuple[object] | None:
    """A word in its own spelling, or out of a list that holds nothing else."""
    if isinstance(value, str):
        return respelling(words, value)
    if isinstance(value, list) and len(value) == 1:
        item = value[0]
        for word in words:
            if type(word) is type(item) and word == item:
                return (item,)
    return None


def _as_boolean(value: object) -> tuple[object] | None:
    if isinstance(value, str):
        return _BOOLEANS.get(value)
    return None


def _as_number(schema: JsonObject, value: object) -> tuple[object] | None:
    """A number that was quoted, or an integer written with a fraction of zero."""
    number = _number_in(value)
    if number is None or abs(number) > _EXACT:
        return None
    if not _lies_in_range(schema, number):
        return None
    if number.is_integer():
        return (int(number),)
    if schema.get("type") == "number":
        return (number,)
    return None


def _number_in(value: object) -> float | None:
    if isinstance(value, float):
        return value
    if not isinstance(value, str) or len(value) > _LONGEST_NUMBER:
        return None
    if _NUMBER.fullmatch(value):
        return float(value)
    return None


def _lies_in_range(schema: JsonObject, number: float) -> bool:
    low = schema.get("minimum")
    if isinstance(low, int | float) and number < low:
        return False

    above = schema.get("exclusiveMinimum")
    if isinstance(above, int | float) and number <= above:
        return False

    high = schema.get("maximum")
    return not isinstance(high, int | float) or number <= high


def _as_list(schema: JsonObject, value: object) -> tuple[object] | None:
    """A list of the item that was sent bare; an empty list for null."""
    if value is None:
        return None if schema.get("minItems") else ([],)

    items = mapping(schema.get("items"))
    if isinstance(value, str):
        is_item = value.strip() != "" and items.get("type") == "string"
    else:
        is_item = isinstance(value, dict) and "$ref" in items
    return ([value],) if is_item else None
