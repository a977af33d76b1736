"""What a contract expects at a path, said in a few words, and the same value in the right form, where there is one.

Both are read from the published JSON Schema, so that a report, the schema and the validator can never disagree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema

from accordance.contracts.fields import NOT_BLANK, UUID_PATTERN
from accordance.contracts.jsonpath import JsonObject, Path, is_exact
from accordance.contracts.printable import VISIBLE
from accordance.contracts.respelling import respelling

_NUMBER: Final = re.compile(r"\s*-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\s*", re.ASCII)
_LONGEST_NUMBER: Final = 40  # signs; what is longer was hardly quoted by mistake
_EXACT: Final = 2**53  # up to here a float holds every integer

_FORMATS: Final = {
    "date-time": "a time such as 2026-01-31T12:00:00Z",
    "date": "a date such as 2026-01-31",
    "time": "a time of day such as 14:30:00",
    "duration": "a duration such as PT1H30M",
    "uuid": "a UUID such as 123e4567-e89b-42d3-a456-426614174000",
    "path": "a path",
    "file-path": "the path of a file that exists",
    "directory-path": "the path of a folder that exists",
    "uri": "a URL such as https://example.org/",
    "email": "an e-mail address such as ada@example.org",
    "ipv4": "an IPv4 address such as 192.0.2.1",
    "ipv6": "an IPv6 address such as 2001:db8::1",
    "ipvanyaddress": "an IP address such as 192.0.2.1",
    "ipv4network": "an IPv4 network such as 192.0.2.0/24",
    "ipv6network": "an IPv6 network such as 2001:db8::/32",
    "ipvanynetwork": "an IP network such as 192.0.2.0/24",
    "ipv4interface": "an IPv4 interface such as 192.0.2.1/24",
    "ipv6interface": "an IPv6 interface such as 2001:db8::1/32",
    "ipvanyinterface": "an IP interface such as 192.0.2.1/24",
}
_DECIMAL: Final = ["number", "string"]  # the two ways to write a Decimal
_SCHEMAS: Final[dict[type[BaseModel], JsonObject]] = {}
_EXPECTATIONS_KEPT: Final = 1024


class _Quietly(GenerateJsonSchema):
    """A default that JSON cannot say is left out of the schema, which is no news to anybody who sends a message."""

    ignored_warning_kinds = frozenset(("skipped-choice", "non-serializable-default"))  # type: ignore[assignment]


def model_schema(model: type[BaseModel]) -> JsonObject:
    """The JSON Schema pydantic writes for a model; empty for a model that has none. Kept: do not edit."""
    found = _SCHEMAS.get(model)
    if found is None:
        try:
            found = _with_short_patterns(
                model.model_json_schema(mode="validation", schema_generator=_Quietly)
            )
        except (
            PydanticUserError
        ):  # some part is a type of the user's own, of which JSON Schema knows nothing
            found = {}
        _SCHEMAS[model] = found
    return found


def _with_short_patterns(node: JsonObject) -> JsonObject:
    """Publish the long pattern of a text that is not blank as its short form: models read schemas too."""
    return {key: _with_short_pattern(key, part) for key, part in node.items()}


def _with_short_pattern(key: str, part: object) -> object:
    if key == "pattern" and part == VISIBLE:
        return NOT_BLANK
    if isinstance(part, dict):
        return _with_short_patterns(part)
    return (
        [_with_short_pattern("", item) for item in part]
        if isinstance(part, list)
        else part
    )


class Expectation(NamedTuple):
    """What may stand at a place."""

    text: str
    schema: JsonObject
    optional: bool

    @property
    def words(self) -> list[object]:
        """The values an enumeration leaves, if it is one."""
        return (
            [self.schema["const"]]
            if "const" in self.schema
            else _list(self.schema.get("enum"))
        )


_EXPECTATIONS: Final[dict[tuple[type[BaseModel], tuple[str, ...]], Expectation]] = {}


def expectation_at(model: type[BaseModel], path: Path) -> Expectation:
    """What a model expects at a path. Kept, because the faults of a message are often of one kind."""
    general = tuple(["*" if isinstance(step, int) else step for step in path])
    place = (model, general)
    known = _EXPECTATIONS.get(place)
    if known is not None:
        return known
    expected = _expectation_at(model, general)
    if is_exact(path):  # endless keys are not kept
        if len(_EXPECTATIONS) >= _EXPECTATIONS_KEPT:  # somebody sends ever new keys
            _EXPECTATIONS.clear()
        _EXPECTATIONS[place] = expected
    return expected


def _expectation_at(model: type[BaseModel], path: tuple[str, ...]) -> Expectation:
    root = model_schema(model)
    node, optional = resolve(root, root), False
    for step in path:
        required = _list(node.get("required"))
        optional = step != "*" and step not in required
        following = (
            node.get("items")
            if step == "*"
            else mapping(node.get("properties")).get(step)
        )
        node = resolve(root, mapping(following))
    return Expectation(describe(node, root), node, optional)


def free_parts(model: type[BaseModel]) -> tuple[Path, ...]:
    """The places that take any JSON at all, so that a valid message could nest, or hold what is infinite, there."""
    root, models = model_schema(model), _models_in(model, set())
    finite = {
        part.__name__
        for part in models
        if part.model_config.get("allow_inf_nan") is False
    }
    objects = {
        name
        for name, part in mapping(root.get("$defs")).items()
        if "properties" in mapping(part)
    }
    if not {model.__name__, *objects} <= finite:
        return (
            (),
        )  # some part may take infinite numbers, so that the whole message has to be looked at
    return tuple(_free_below(root, resolve(root, root), (), ()))


def _models_in(annotation: object, seen: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """Every model a model is made of."""
    if (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and annotation not in seen
    ):
        seen.add(annotation)
        for info in annotation.model_fields.values():
            _models_in(info.annotation, seen)
    for argument in get_args(annotation):
        _models_in(argument, seen)
    return seen


def _free_below(
    root: JsonObject, node: JsonObject, path: Path, above: tuple[str, ...]
) -> Iterator[Path]:
    properties, items = mapping(node.get("properties")), node.get("items")
    name = str(node.get("title", ""))
    contains_itself = (
        bool(properties) and name in above
    )  # then it nests without bound too
    if _is_free(node) or contains_itself:
        yield path
    elif isinstance(items, dict) and any(
        True for _ in _free_below(root, resolve(root, items), path, above)
    ):
        yield path  # somewhere in the list: the whole list has to be looked at
    for key, part in properties.items() if name not in above else ():
        yield from _free_below(
            root, resolve(root, mapping(part)), (*path, key), (*above, name)
        )


def _is_free(node: JsonObject) -> bool:
    says_something = {"type", "enum", "const"} & node.keys()
    return not says_something or (
        node.get("type") == "object" and "properties" not in node
    )


def resolve(root: JsonObject, node: JsonObject) -> JsonObject:
    """Follow `$ref`, and look through "this or null" at this."""
    reference = node.get("$ref")
    if isinstance(reference, str):
        return resolve(
            root, mapping(mapping(root.get("$defs")).get(reference.rpartition("/")[2]))
        )
    branches = node.get("anyOf")
    if isinstance(branches, list):
        real = [branch for branch in branches if branch != {"type": "null"}]
        if len(real) == 1 < len(branches):
            return {**resolve(root, real[0]), "nullable": True}
    return node


def branches_of(schema: JsonObject) -> list[JsonObject]:
    """The types of a union, null aside; none if it is no union."""
    branches = _list(schema.get("anyOf")) or _list(schema.get("oneOf"))
    return [mapping(branch) for branch in branches if branch != {"type": "null"}]


def describe(schema: JsonObject, root: JsonObject | None = None) -> str:
    """What a schema allows, in words. The root is needed only to look through references."""
    branches = [resolve(root or {}, branch) for branch in branches_of(schema)]
    text = _describe_union(branches, root or {}) if branches else _describe(schema)
    takes_null = schema.get("nullable") or {"type": "null"} in _list(
        schema.get("anyOf")
    )
    return f"{text}, or null" if takes_null else text


def _describe_union(branches: list[JsonObject], root: JsonObject) -> str:
    if [branch.get("type") for branch in branches] == _DECIMAL:
        return f'{_describe(branches[0])}, or a text such as "12.50"'
    return " or ".join(dict.fromkeys(describe(branch, root) for branch in branches))


def _describe(schema: JsonObject) -> str:
    if "description" in schema and any(
        word is True for word in _list(schema.get("enum"))
    ):
        return str(
            schema["description"]
        )  # of a flag: 0 and 1 are taken for false and true, but not offered
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return f"one of {', '.join(map(str, _list(schema['enum'])))}"
    match schema.get("type"):
        case "string":
            return _describe_text(schema)
        case "integer" if schema.get("format") == "int64":
            return "an integer of at most 64 bits"
        case "integer" | "number" as kind:
            return (
                f"{'an integer' if kind == 'integer' else 'a number'}{_range(schema)}"
            )
        case "boolean":
            return "true or false"
        case "array":
            return f"a list{_size(schema, 'minItems', 'maxItems', 'item')}"
        case "object":
            return "an object"
        case _:
            return "a value"


def _describe_text(schema: JsonObject) -> str:
    known_format = _FORMATS.get(str(schema.get("format")))
    if known_format:
        return known_format
    if schema.get("pattern") == UUID_PATTERN:
        return "a UUID such as 123e4567-e89b-42d3-a456-426614174000"
    if schema.get("pattern") == NOT_BLANK and "maxLength" not in schema:
        return "a text that is not empty"
    pattern = schema.get("pattern")
    shape = f" that matches {pattern}" if pattern not in (None, NOT_BLANK) else ""
    return f"a text{_size(schema, 'minLength', 'maxLength', 'character')}{shape}"


def _range(schema: JsonObject) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    if high is not None:
        return f" of at most {high}"
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is not None:
        return f" above {above}" + (f" and below {below}" if below is not None else "")
    return f" below {below}" if below is not None else ""


def _size(schema: JsonObject, least: str, most: str, noun: str) -> str:
    low, high = schema.get(least), schema.get(most)
    if low and high:
        return f" of {low} to {high} {noun}s"
    if low:
        return f" of at least {low} {noun}" + ("" if low == 1 else "s")
    if high:
        return f" of at most {high} {noun}" + ("" if high == 1 else "s")
    return ""


def mended(schema: JsonObject, found: object) -> tuple[object] | None:
    """The same value in the right form, in a 1-tuple, or None where there is no such form or it would be a guess.

    A form is a type or a spelling. A word never becomes another word, a number never another number.
    """
    if "const" in schema:
        return _as_word([schema["const"]], found)
    if "enum" in schema:
        return _as_word(_list(schema["enum"]), found)
    match schema.get("type"):
        case "integer" | "number":
            return _as_number(schema, found)
        case "boolean":
            return (
                {"true": (True,), "false": (False,)}.get(found)
                if isinstance(found, str)
                else None
            )
        case "array":
            return _as_list(schema, found)
        case _:
            return None


def _as_word(words: Sequence[object], found: object) -> tuple[object] | None:
    if isinstance(found, list) and len(found) == 1:
        item = found[0]
        return (
            (item,)
            if any(type(word) is type(item) and word == item for word in words)
            else None
        )
    return respelling(words, found) if isinstance(found, str) else None


def _as_number(schema: JsonObject, found: object) -> tuple[object] | None:
    """A number that was quoted, or an integer that was written with a fraction of zero."""
    number = _number_in(found)
    if number is None or abs(number) > _EXACT or not _lies_in_range(schema, number):
        return None
    if number.is_integer():
        return (int(number),)
    return (number,) if schema.get("type") == "number" else None


def _number_in(found: object) -> float | None:
    if isinstance(found, str):
        return (
            float(found)
            if len(found) <= _LONGEST_NUMBER and _NUMBER.fullmatch(found)
            else None
        )
    return found if isinstance(found, float) else None


def _lies_in_range(schema: JsonObject, number: float) -> bool:
    low, high, above = (
        schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum")
    )
    return (
        not (isinstance(low, int | float) and number < low)
        and not (isinstance(high, int | float) and number > high)
        and not (isinstance(above, int | float) and number <= above)
    )


def _as_list(schema: JsonObject, found: object) -> tuple[object] | None:
    if found is None:
        return None if schema.get("minItems") else ([],)
    items = mapping(schema.get("items"))
    takes_text = (
        isinstance(found, str) and found.strip() != "" and items.get("type") == "string"
    )
    takes_object = isinstance(found, dict) and "$ref" in items
    return ([found],) if takes_text or takes_object else None


def mapping(value: object) -> JsonObject:
    """A part of a schema that should be an object."""
    return dict(value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else []
