"""Describe what is wrong with a table of settings, in a line.

The line names the place, what was expected, what is there, and the nearest known name.
Its words come from the JSON Schema of the model, which docs/settings.md is made from
too: both describe a value in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError

from accordance.contracts.jsonpath import without
from accordance.errors import did_you_mean, nearest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Schema: TypeAlias = Mapping[str, Any]
PathStep: TypeAlias = str | int

_KEY_MARK: Final = "[key]"  # pydantic's mark for a fault of a key, not of its value
_LONGEST_VALUE: Final = 80
_TYPE_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("a text", "texts"),
    "boolean": ("true or false", "truth values"),
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
}
"""The types of JSON Schema for people, in the singular and the plural."""


def first_fault(
    error: ValidationError,
    model: type[BaseModel],
    tables: object,
    table: str = "",
) -> str:
    """Describe the first fault in a line.

    An unknown key comes before a missing key, for it may be that key, misspelt. `table`
    names the table that the model describes, where it is not the whole file.
    """
    faults = error.errors()
    fault = faults[0]
    for other in faults:
        if other["type"] == "extra_forbidden":
            fault = other
            break

    steps: tuple[PathStep, ...] = fault["loc"]
    if fault["type"] == "missing":
        steps = steps[:-1]
    spot = _locate(model.model_json_schema(), steps)
    return _describe(fault, spot, tables, (table,) if table else ())


def _describe(
    fault: ErrorDetails,
    spot: _Spot,
    tables: object,
    above: tuple[str, ...],
) -> str:
    kind = fault["type"]
    path = (*above, *spot.path)
    place = _place(path, spot.schema)
    steps_left = fault["loc"][spot.steps_taken :]

    is_about_a_key = kind == "extra_forbidden" or _KEY_MARK in steps_left
    if is_about_a_key:
        key = str(steps_left[0])
        return _unknown_key(path, key, spot.schema, tables)
    if kind == "missing":
        return f"{place} needs {steps_left[0]}"
    if kind == "union_tag_not_found":
        kinds = ", ".join(kinds_in(spot.schema))
        return f"{place} needs a {_tag_of(spot.schema)}: {kinds}"
    if kind == "union_tag_invalid":
        tag = str(fault["ctx"]["tag"])
        tag_key = _tag_of(spot.schema)
        near = did_you_mean(tag, kinds_in(spot.schema))
        return f"{place}: unknown {tag_key} {tag!r}; {near}"
    if kind == "value_error":
        error = fault["ctx"]["error"]
        return f"{place}: {error}"
    value = _value_at(tables, spot.path)
    return _wrong_value(place, spot.schema, value)


def _wrong_value(place: str, schema: Schema, value: object) -> str:
    description = f"{place} is {expectation(schema)}, got {_shown(value)}"
    choices = schema.get("enum", ())
    if isinstance(value, str) and nearest(value, choices):
        return f"{description}; {did_you_mean(value, choices)}"
    return description


def expectation(schema: Schema) -> str:
    """Describe for people what a value has to be.

    For example "a whole number from 1", "a list of texts", "one of auto, native,
    prompt".
    """
    if "enum" in schema:
        choices = ", ".join(map(str, schema["enum"]))
        return f"one of {choices}"
    if "anyOf" in schema:
        return " or ".join(map(expectation, _members(schema)))
    if "oneOf" in schema or "properties" in schema:
        return "a table"
    if schema.get("type") == "object":
        values = schema.get("additionalProperties", {})
        return f"a table of {_plural(values)}"
    if schema.get("type") == "array":
        return f"a list of {_plural(schema['items'])}"
    singular, _ = _TYPE_NAMES[schema["type"]]
    return singular + _bounds(schema)


def is_table(schema: Schema) -> bool:
    """Whether a value is a table, of known keys or of any."""
    return "oneOf" in schema or schema.get("type") == "object"


def kinds_in(schema: Schema) -> dict[str, Schema]:
    """Return the kinds that a table can be of, by the value of its tag."""
    tag = _tag_of(schema)
    kinds = {}
    for member in schema["oneOf"]:
        tag_schema = member["properties"][tag]
        names = tag_schema.get("enum") or [tag_schema["const"]]
        for name in names:
            kinds[name] = member
    return kinds


def resolved(schema: Schema) -> Schema:
    """Return the schema with every reference replaced by its definition."""
    whole: Schema = _resolved_part(schema, schema.get("$defs", {}))
    return whole


def _resolved_part(part: Any, definitions: Schema) -> Any:
    if isinstance(part, list):
        return [_resolved_part(member, definitions) for member in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        siblings = without(part, ("$ref",))
        return _resolved_part({**definitions[name], **siblings}, definitions)
    resolved_values = {}
    for key, value in without(part, ("$defs",)).items():
        resolved_values[key] = _resolved_part(value, definitions)
    return resolved_values


@dataclass(frozen=True, slots=True)
class _Spot:
    """The innermost value around a fault that a person would name."""

    path: tuple[PathStep, ...]  # as in the file
    schema: Schema  # of the value there
    steps_taken: int  # steps of the fault's location that lead there


def _locate(schema: Schema, steps: Sequence[PathStep]) -> _Spot:
    """Follow the location of a fault through the schema, as far as tables go.

    A list of texts is a single value, whose entries are not named.
    """
    here = resolved(schema)
    path: list[PathStep] = []
    for taken, step in enumerate(steps):
        inner = _inside(here, step)
        next_step = steps[taken + 1 : taken + 2]
        is_about_the_key = next_step == (_KEY_MARK,)
        if inner is None or is_about_the_key:
            return _Spot(tuple(path), here, taken)
        is_tag = "oneOf" in here  # the step names a kind, which is no part of the path
        if not is_tag:
            path.append(step)
        here = inner
    return _Spot(tuple(path), here, len(steps))


def _inside(schema: Schema, step: PathStep) -> Schema | None:
    """Return the schema a step further in; None at a value without named parts."""
    inner: Schema | None = None
    if "oneOf" in schema:
        inner = kinds_in(schema).get(str(step))
    elif "properties" in schema:
        inner = schema["properties"].get(step)
    elif schema.get("type") == "object":
        inner = schema.get("additionalProperties")
    elif _is_list_of_tables(schema):
        inner = schema["items"]

    if inner is not None and "anyOf" in inner:
        return _only_member(inner) or inner
    return inner


def _only_member(schema: Schema) -> Schema | None:
    """Return the only thing a value can be, if it has no choice."""
    members = _members(schema)
    if len(members) == 1:
        return members[0]
    return None


def _members(schema: Schema) -> list[Schema]:
    """Return what a value can be, apart from absent.

    Whole numbers go without saying beside other numbers.
    """
    members = schema["anyOf"]
    types = {member.get("type") for member in members}
    implied = {"null"}
    if "number" in types:
        implied.add("integer")
    return [member for member in members if member.get("type") not in implied]


def _unknown_key(
    path: tuple[PathStep, ...],
    key: str,
    schema: Schema,
    tables: object,
) -> str:
    known = schema.get("properties") or schema["propertyNames"]["enum"]
    near = did_you_mean(key, known)
    if path:
        place = _place(path, schema)
        return f"{place} has no key {key!r}; {near}"
    value = _value_at(tables, (key,))
    written = _as_written(key, value)
    return f"unknown {written}; {near}"


def _as_written(key: str, value: object) -> str:
    """Return a key at the top of the file as the file has it."""
    if isinstance(value, Mapping):
        return f"[{key}]"
    if isinstance(value, list):
        return f"[[{key}]]"
    return key


def _place(path: tuple[PathStep, ...], schema: Schema) -> str:
    """Return a path as the file has it.

    For example `ledger`, `[judge]`, `[judge] tests`, `[[routes]] 2 executor`.
    """
    if not path:
        return "the file"
    if is_table(schema):
        return _header(path)
    if _is_list_of_tables(schema):
        return f"[{_header(path)}]"
    *above, key = path
    if above:
        return f"{_header(tuple(above))} {key}"
    return str(key)


def _header(path: tuple[PathStep, ...]) -> str:
    """Return the header of a table. Tables of a list are counted from 1."""
    *above, last = path
    if isinstance(last, int):
        header = _header(tuple(above))
        return f"[{header}] {last + 1}"
    dotted = ".".join(map(str, path))
    return f"[{dotted}]"


def _is_list_of_tables(schema: Schema) -> bool:
    is_list = schema.get("type") == "array"
    return is_list and is_table(schema["items"])


def _value_at(tables: object, path: Sequence[PathStep]) -> Any:
    value: Any = tables
    for step in path:
        value = value[step]
    return value


def _shown(value: object) -> str:
    text = repr(value)
    if len(text) <= _LONGEST_VALUE:
        return text
    return f"{text[:_LONGEST_VALUE]}…"


def _tag_of(schema: Schema) -> str:
    return str(schema["discriminator"]["propertyName"])


def _plural(schema: Schema) -> str:
    if is_table(schema):
        return "tables"
    _, plural = _TYPE_NAMES[schema["type"]]
    return plural + _bounds(schema)


def _bounds(schema: Schema) -> str:
    """Describe the bounds of a number: " above 0", " from 1", " from 1 to 10"."""
    above = schema.get("exclusiveMinimum")
    if above is not None:
        return f" above {above}"
    least = schema.get("minimum")
    if least is None:
        return ""
    most = schema.get("maximum")
    if most is None:
        return f" from {least}"
    return f" from {least} to {most}"
