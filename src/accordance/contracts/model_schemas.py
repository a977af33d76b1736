"""The JSON Schema of a model, and how to walk it.

Reports, exports and comparisons all read this schema, so that they agree with the
validator and with each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from accordance.contracts.fields import NOT_BLANK
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.printable import VISIBLE

_NULL: Final = {"type": "null"}
_SCHEMAS: Final[dict[type[BaseModel], JsonObject]] = {}


class _QuietGenerator(GenerateJsonSchema):
    """Leave a default that JSON cannot express out of the schema, without a warning."""

    ignored_warning_kinds = frozenset(("skipped-choice", "non-serializable-default"))  # type: ignore[assignment]


def model_schema(model: type[BaseModel]) -> JsonObject:
    """The JSON Schema of a model; empty if it has none. Cached: do not modify it."""
    schema = _SCHEMAS.get(model)
    if schema is None:
        schema = _generated_schema(model)
        _SCHEMAS[model] = schema
    return schema


def _generated_schema(model: type[BaseModel]) -> JsonObject:
    try:
        schema = model.model_json_schema(
            mode="validation", schema_generator=_QuietGenerator
        )
    except PydanticUserError:
        return {}  # a type of the user's own, for which there is no JSON Schema
    return _with_short_patterns(schema)


def _with_short_patterns(node: JsonObject) -> JsonObject:
    """Publish the long pattern for visible text in its short form.

    Language models read schemas too.
    """
    return {key: _with_short_pattern(key, part) for key, part in node.items()}


def _with_short_pattern(key: str, part: object) -> object:
    if key == "pattern" and part == VISIBLE:
        return NOT_BLANK
    if isinstance(part, dict):
        return _with_short_patterns(part)
    if isinstance(part, list):
        return [_with_short_pattern("", item) for item in part]
    return part


def resolve(root: JsonObject, node: JsonObject) -> JsonObject:
    """Follow `$ref`, and see through "this or null" to this."""
    reference = node.get("$ref")
    if isinstance(reference, str):
        name = reference.rpartition("/")[2]
        definitions = mapping(root.get("$defs"))
        return resolve(root, mapping(definitions.get(name)))

    branches = node.get("anyOf")
    if isinstance(branches, list):
        others = [branch for branch in branches if branch != _NULL]
        if len(others) == 1 < len(branches):
            return {**resolve(root, others[0]), "nullable": True}
    return node


def branches_of(schema: JsonObject) -> list[JsonObject]:
    """The types of a union, apart from null; empty if the schema is no union."""
    branches = sequence(schema.get("anyOf")) or sequence(schema.get("oneOf"))
    return [mapping(branch) for branch in branches if branch != _NULL]


def takes_null(schema: JsonObject) -> bool:
    """Whether null may stand here, besides what the schema describes."""
    return bool(schema.get("nullable")) or _NULL in sequence(schema.get("anyOf"))


def mapping(value: object) -> JsonObject:
    """A part of a schema that should be an object; empty if it is none."""
    if isinstance(value, Mapping):
        return dict(value)
    return {}


def sequence(value: object) -> list[object]:
    """A part of a schema that should be a list; empty if it is none."""
    if isinstance(value, list):
        return list(value)
    return []
