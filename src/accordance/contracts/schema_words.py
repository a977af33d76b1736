"""What a schema allows, in words: the "expected" of every report."""

from __future__ import annotations

import json
from typing import Final

from accordance.contracts.fields import NOT_BLANK, UUID_PATTERN
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.model_schemas import (
    branches_of,
    resolve,
    sequence,
    takes_null,
)

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


def describe(schema: JsonObject, root: JsonObject | None = None) -> str:
    """What a schema allows, in words. The root is needed to follow references."""
    whole = root or {}
    branches = [resolve(whole, branch) for branch in branches_of(schema)]
    if branches:
        text = _describe_union(branches, whole)
    else:
        text = _describe_plain(schema)
    if takes_null(schema):
        return f"{text}, or null"
    return text


def _describe_union(branches: list[JsonObject], root: JsonObject) -> str:
    types = [branch.get("type") for branch in branches]
    if types == _DECIMAL:
        return f'{_describe_plain(branches[0])}, or a text such as "12.50"'
    texts = [describe(branch, root) for branch in branches]
    return " or ".join(dict.fromkeys(texts))


def _describe_plain(schema: JsonObject) -> str:
    if _is_flag(schema):
        return str(schema["description"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        words = ", ".join(map(str, sequence(schema["enum"])))
        return f"one of {words}"

    return _describe_type(schema)


def _describe_type(schema: JsonObject) -> str:
    match schema.get("type"):
        case "string":
            return _describe_text(schema)
        case "integer" if schema.get("format") == "int64":
            return "an integer of at most 64 bits"
        case "integer":
            return f"an integer{_range(schema)}"
        case "number":
            return f"a number{_range(schema)}"
        case "boolean":
            return "true or false"
        case "array":
            return f"a list{_size(schema, 'minItems', 'maxItems', 'item')}"
        case "object":
            return "an object"
        case _:
            return "a value"


def _is_flag(schema: JsonObject) -> bool:
    """Whether a schema also takes 0 and 1, which its description does not mention."""
    words = sequence(schema.get("enum"))
    has_true = any(word is True for word in words)
    return has_true and "description" in schema


def _describe_text(schema: JsonObject) -> str:
    known_format = _FORMATS.get(str(schema.get("format")))
    if known_format:
        return known_format

    pattern = schema.get("pattern")
    if pattern == UUID_PATTERN:
        return _FORMATS["uuid"]
    if pattern == NOT_BLANK and "maxLength" not in schema:
        return "a text that is not empty"

    size = _size(schema, "minLength", "maxLength", "character")
    if pattern in (None, NOT_BLANK):
        return f"a text{size}"
    return f"a text{size} that matches {pattern}"


def _range(schema: JsonObject) -> str:
    low = schema.get("minimum")
    high = schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f" of at least {low}"
    if high is not None:
        return f" of at most {high}"

    above = schema.get("exclusiveMinimum")
    below = schema.get("exclusiveMaximum")
    if above is not None and below is not None:
        return f" above {above} and below {below}"
    if above is not None:
        return f" above {above}"
    if below is not None:
        return f" below {below}"
    return ""


def _size(schema: JsonObject, least: str, most: str, noun: str) -> str:
    low = schema.get(least)
    high = schema.get(most)
    if low and high:
        return f" of {low} to {high} {noun}s"
    if low:
        return f" of at least {low} {_plural(noun, low)}"
    if high:
        return f" of at most {high} {_plural(noun, high)}"
    return ""


def _plural(noun: str, count: object) -> str:
    if count == 1:
        return noun
    return f"{noun}s"
