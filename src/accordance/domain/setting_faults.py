"""What is wrong with a table of settings, in one line: where, what was expected, what stands there, the nearest name.

The texts are written from the JSON Schema of the model, which also makes docs/settings.md: both describe a value in the
same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from pydantic import BaseModel, ValidationError

from accordance.errors import did_you_mean, nearest

Schema: TypeAlias = Mapping[str, Any]
Step: TypeAlias = str | int

_KEY_OF_A_MAPPING: Final = (
    "[key]"  # pydantic's mark for a fault of the key, not of its value
)
_LONGEST: Final = 80
_PLAIN: Final[Mapping[str, tuple[str, str]]] = {
    "string": ("a text", "texts"),
    "boolean": ("true or false", "truth values"),
    "integer": ("a whole number", "whole numbers"),
    "number": ("a number", "numbers"),
}
"""Types of JSON Schema as people call them: one of them, and many."""


def first_fault(
    error: ValidationError, model: type[BaseModel], tables: object, table: str = ""
) -> str:
    """The first thing that is wrong, in one line.

    An unknown key comes before one that is missing, for it may be that key, misspelt. `table` names the table that the
    model describes, where it is not the whole file.
    """
    fault = min(
        error.errors(include_url=False),
        key=lambda fault: fault["type"] != "extra_forbidden",
    )
    is_missing = fault["type"] == "missing"
    steps: tuple[Step, ...] = fault["loc"]
    spot = _locate(model.model_json_schema(), steps[:-1] if is_missing else steps)
    above = (table,) if table else ()
    place = _place((*above, *spot.path), spot.schema)
    rest = steps[spot.taken :]

    if fault["type"] == "extra_forbidden" or _KEY_OF_A_MAPPING in rest:
        return _unknown_key((*above, *spot.path), str(rest[0]), spot.schema, tables)
    if is_missing:
        return f"{place} needs {rest[0]}"
    if fault["type"] == "union_tag_not_found":
        return f"{place} needs a {_tag_of(spot.schema)}: {', '.join(kinds_in(spot.schema))}"
    if fault["type"] == "union_tag_invalid":
        tag = str(fault["ctx"]["tag"])
        return f"{place}: unknown {_tag_of(spot.schema)} {tag!r}; {did_you_mean(tag, kinds_in(spot.schema))}"
    if fault["type"] == "value_error":
        return f"{place}: {fault['ctx']['error']}"

    value = _value_at(tables, spot.path)
    wrong = f"{place} is {expectation(spot.schema)}, got {_shown(value)}"
    choices = spot.schema.get("enum", ())
    is_near = isinstance(value, str) and nearest(value, choices)
    return f"{wrong}; {did_you_mean(value, choices)}" if is_near else wrong


def expectation(schema: Schema) -> str:
    """What a value has to be, for people: "a whole number from 1", "a list of texts", "one of auto, native, prompt"."""
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    if "anyOf" in schema:
        return " or ".join(expectation(member) for member in _members(schema))
    if "oneOf" in schema or "properties" in schema:
        return "a table"
    if schema.get("type") == "object":
        return f"a table of {_many(schema.get('additionalProperties', {}))}"
    if schema.get("type") == "array":
        return f"a list of {_many(schema['items'])}"
    singular, _ = _PLAIN[schema["type"]]
    return singular + _bounds(schema)


def is_table(schema: Schema) -> bool:
    """Whether a value is a table, of known keys or of any."""
    return "oneOf" in schema or schema.get("type") == "object"


def kinds_in(schema: Schema) -> dict[str, Schema]:
    """What a table can be, by the word that says which: the value of its tag."""
    tag = _tag_of(schema)
    return {
        kind: member
        for member in schema["oneOf"]
        for kind in (
            member["properties"][tag].get("enum")
            or [member["properties"][tag]["const"]]
        )
    }


def resolved(schema: Schema) -> Schema:
    """The same schema with every reference replaced by what it refers to."""
    whole: Schema = _followed(schema, schema.get("$defs", {}))
    return whole


def _followed(part: Any, definitions: Schema) -> Any:
    if isinstance(part, list):
        return [_followed(member, definitions) for member in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        beside = {key: value for key, value in part.items() if key != "$ref"}
        return _followed({**definitions[name], **beside}, definitions)
    return {
        key: _followed(value, definitions)
        for key, value in part.items()
        if key != "$defs"
    }


@dataclass(frozen=True, slots=True)
class _Spot:
    """The deepest value on the way of a fault that a person would name."""

    path: tuple[Step, ...]  # as it is written in the file
    schema: Schema  # of what stands there
    taken: int  # steps of the fault's way that lead there


def _locate(schema: Schema, steps: Sequence[Step]) -> _Spot:
    """Follow a fault's way through the schema, as far as tables go: inside a list of texts nobody counts."""
    here = resolved(schema)
    path: list[Step] = []
    for taken, step in enumerate(steps):
        inner = _inside(here, step)
        if inner is None or steps[taken + 1 : taken + 2] == (_KEY_OF_A_MAPPING,):
            return _Spot(tuple(path), here, taken)
        if (
            "oneOf" not in here
        ):  # there the step is the tag of a kind, which stands nowhere in the path
            path.append(step)
        here = inner
    return _Spot(tuple(path), here, len(steps))


def _inside(schema: Schema, step: Step) -> Schema | None:
    """The schema one step further in; None at a value that has no parts with names."""
    inner: Schema | None = None
    if "oneOf" in schema:
        inner = kinds_in(schema).get(str(step))
    elif "anyOf" in schema:
        members = _members(schema)
        inner = _inside(members[0], step) if len(members) == 1 else None
    elif "properties" in schema:
        inner = schema["properties"].get(step)
    elif schema.get("type") == "object":
        inner = schema.get("additionalProperties")
    elif _is_list_of_tables(schema):
        inner = schema["items"]
    if inner is not None and "anyOf" in inner and len(_members(inner)) == 1:
        return _members(inner)[0]
    return inner


def _members(schema: Schema) -> list[Schema]:
    """What a value can be, apart from not being there; whole numbers go without saying beside other numbers."""
    types = {member.get("type") for member in schema["anyOf"]}
    unsaid = {"null", "integer"} if "number" in types else {"null"}
    return [member for member in schema["anyOf"] if member.get("type") not in unsaid]


def _unknown_key(
    path: tuple[Step, ...], key: str, schema: Schema, tables: object
) -> str:
    known = schema.get("properties") or schema["propertyNames"]["enum"]
    near = did_you_mean(key, known)
    if path:
        return f"{_place(path, schema)} has no key {key!r}; {near}"
    value = _value_at(tables, (key,))
    written = (
        f"[{key}]"
        if isinstance(value, Mapping)
        else f"[[{key}]]"
        if isinstance(value, list)
        else key
    )
    return f"unknown {written}; {near}"


def _place(path: tuple[Step, ...], schema: Schema) -> str:
    """A path as the file has it: `ledger`, `[judge]`, `[judge] tests`, `[[routes]] 2 executor`."""
    if not path:
        return "the file"
    if is_table(schema):
        return _header(path)
    if _is_list_of_tables(schema):
        return f"[{_header(path)}]"
    *above, key = path
    return f"{_header(tuple(above))} {key}" if above else str(key)


def _header(path: tuple[Step, ...]) -> str:
    """The line that begins a table; a table of a list is counted from 1."""
    number = path[-1]
    if isinstance(number, int):
        return f"[{_header(path[:-1])}] {number + 1}"
    return f"[{'.'.join(map(str, path))}]"


def _is_list_of_tables(schema: Schema) -> bool:
    return schema.get("type") == "array" and is_table(schema["items"])


def _value_at(tables: object, path: Sequence[Step]) -> Any:
    value: Any = tables
    for step in path:
        value = value[step]
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _tag_of(schema: Schema) -> str:
    return str(schema["discriminator"]["propertyName"])


def _many(schema: Schema) -> str:
    if is_table(schema):
        return "tables"
    _, plural = _PLAIN[schema["type"]]
    return plural + _bounds(schema)


def _bounds(schema: Schema) -> str:
    least, above, most = (
        schema.get(key) for key in ("minimum", "exclusiveMinimum", "maximum")
    )
    if above is not None:
        return f" above {above}"
    if least is None:
        return ""
    return f" from {least}" if most is None else f" from {least} to {most}"
