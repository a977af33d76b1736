"""From pydantic's error at a place to the violation that is reported.

The code, the words and the fix come from the published schema wherever it covers the
error, and from pydantic's own message where it does not.
"""

from __future__ import annotations

import re
from typing import Any, Final, get_args

from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from accordance.contracts.contract import VERSION_KEY, Contract
from accordance.contracts.expectations import Expectation
from accordance.contracts.jsonpath import is_exact, render
from accordance.contracts.mending import mended
from accordance.contracts.model_schemas import branches_of, mapping
from accordance.contracts.places import Place
from accordance.contracts.printable import is_blank
from accordance.contracts.respelling import respelling
from accordance.contracts.violation import Fix, Violation, excerpt

_CODES: Final = {
    "missing": "missing",
    "union_tag_not_found": "missing",
    "literal_error": "not_in_enum",
    "enum": "not_in_enum",
    "union_tag_invalid": "not_in_enum",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "multiple_of": "out_of_range",
    "decimal_max_digits": "out_of_range",
    "decimal_max_places": "out_of_range",
    "decimal_whole_digits": "out_of_range",
    "date_past": "out_of_range",
    "date_future": "out_of_range",
    "datetime_past": "out_of_range",
    "datetime_future": "out_of_range",
    "string_too_short": "too_short",
    "bytes_too_short": "too_short",
    "too_short": "too_few",
    "string_too_long": "too_long",
    "bytes_too_long": "too_long",
    "url_too_long": "too_long",
    "too_long": "too_many",
    "string_pattern_mismatch": "bad_format",
    "bad_format": "bad_format",
    "bytes_invalid_encoding": "bad_format",
    "date_from_datetime_inexact": "bad_format",
    "json_invalid": "bad_format",
    "timezone_aware": "bad_format",
    "timezone_naive": "bad_format",
    "timezone_offset": "bad_format",
    "url_scheme": "bad_format",
    "url_syntax_violation": "bad_format",
    "uuid_version": "bad_format",
    "extra_forbidden": "unknown_key",
    "unexpected_keyword_argument": "unknown_key",
    "finite_number": "not_finite",
}
UNKNOWN_KEY: Final = frozenset(("extra_forbidden", "unexpected_keyword_argument"))
"""pydantic's errors for an unknown key, of a model and of a dataclass."""

_TAG_ERRORS: Final = ("union_tag_invalid", "union_tag_not_found")
_VALIDATOR_ERRORS: Final = ("value_error", "assertion_error")
_EMPTY_IF_BLANK: Final = ("too_short", "too_few", "bad_format")
_OF_PYDANTIC: Final = frozenset((*get_args(ErrorType), *_CODES))
_OF_A_TYPE_OR_BOUND: Final = tuple(
    kind
    for kind in _OF_PYDANTIC
    if kind.endswith(("_type", "_parsing", "_than", "_equal"))
)
_COVERED_BY_SCHEMA: Final = frozenset(
    (
        "missing",
        "literal_error",
        "enum",
        "string_pattern_mismatch",
        "bad_format",
        "finite_number",
        *_OF_A_TYPE_OR_BOUND,
    )
)
_SHOULD: Final = re.compile(
    r"(?:Input|Date|Datetime|Decimal input|Data|Value) should (be|have) (.+)"
)


def field_violation(
    contract: Contract[Any],
    details: ErrorDetails,
    place: Place,
) -> Violation:
    """The violation that an error of pydantic stands for."""
    kind = details["type"]
    value = details["input"]
    where = render(place.path)
    expected = place.expected

    if kind in UNKNOWN_KEY:
        fix = Fix(where, op="remove") if is_exact(place.path) else None
        return Violation(
            code="unknown_key",
            path=where,
            expected="no such key",
            actual=excerpt(value),
            fix=fix,
        )
    if place.path == (VERSION_KEY,) and contract.version in expected.words:
        return _version_violation(contract.version, kind, value, where)
    if kind in _TAG_ERRORS:
        return _tag_violation(details, place)
    if kind in _VALIDATOR_ERRORS:
        code = "bad_format" if _is_address(expected) else "rule_broken"
        demand = _demand_of_validator(details, expected)
        return Violation(
            code=code,
            path=where,
            expected=demand,
            actual=excerpt(value),
        )
    if kind == "missing":
        return Violation(
            code="missing",
            path=where,
            expected=expected.text,
            actual="nothing",
        )
    if place.is_key:
        form = _pydantic_words(details).partition(", ")[0]
        return Violation(
            code="bad_format",
            path=where,
            expected=f"a key that is {form}",
            actual=excerpt(value),
        )

    code = _code(kind, value, expected)
    fix = _fix(place, where, value) if place.is_certain else None
    return Violation(
        code=code,
        path=where,
        expected=expected_text(details, expected),
        actual=excerpt(value),
        fix=fix,
    )


def _version_violation(version: str, kind: str, value: object, where: str) -> Violation:
    """The schema_version is missing or names another version."""
    expected = f'"{version}"'
    if kind == "missing":
        return Violation(
            code="version_missing",
            path=where,
            expected=expected,
            actual="nothing",
        )
    is_misspelt = isinstance(value, str) and respelling([version], value) is not None
    fix = Fix(where, version) if is_misspelt else None
    return Violation(
        code="version_mismatch",
        path=where,
        expected=expected,
        actual=excerpt(value),
        fix=fix,
    )


def _tag_violation(details: ErrorDetails, place: Place) -> Violation:
    """The tag that tells the types of a union apart is missing or unknown."""
    value = details["input"]
    discriminator = mapping(place.expected.schema.get("discriminator"))
    key = discriminator.get("propertyName")
    if not isinstance(key, str) or not isinstance(value, dict):
        where = render(place.path)
        return Violation(
            code="wrong_type",
            path=where,
            expected=_pydantic_words(details),
            actual=excerpt(value),
        )

    code = _CODES[details["type"]]
    where = render((*place.path, key))
    words = ", ".join(mapping(discriminator.get("mapping")))
    actual = excerpt(value[key]) if key in value else "nothing"
    return Violation(
        code=code,
        path=where,
        expected=f"one of {words}",
        actual=actual,
    )


def _demand_of_validator(details: ErrorDetails, expected: Expectation) -> str:
    """What a validator of the user's own model demands, in its own words.

    IP addresses are judged by a validator too; for them the schema knows an example.
    """
    text = details["msg"]
    text = text.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if _is_address(expected):
        return f"{expected.text} ({text})"
    return text or "what the model's validator demands"


def _is_address(expected: Expectation) -> bool:
    return str(expected.schema.get("format")).startswith("ip")


def expected_text(details: ErrorDetails, expected: Expectation) -> str:
    """What was expected, in the words of the schema, of pydantic, or of both.

    Both are needed where the schema covers only half of the rule. pydantic alone speaks
    where the schema would repeat the very value that was refused.
    """
    kind = details["type"]
    schema = expected.schema
    if not schema or kind not in _OF_PYDANTIC:
        return _pydantic_words(details)

    is_enumeration = "const" in schema or "enum" in schema
    if is_enumeration and _is_among(details["input"], expected.words):
        return _pydantic_words(details)
    if kind in _COVERED_BY_SCHEMA:
        return expected.text
    if kind.endswith(("too_short", "too_long")) and not branches_of(schema):
        return expected.text
    return f"{expected.text}, {_pydantic_words(details)}"


def _is_among(value: object, words: list[object]) -> bool:
    return any(value == word and type(value) is type(word) for word in words)


def _pydantic_words(details: ErrorDetails) -> str:
    """The message of pydantic, turned into what was expected."""
    text = details["msg"]
    match = _SHOULD.fullmatch(text)
    if match is None:
        return text[:1].lower() + text[1:]
    verb, rest = match.groups()
    if verb == "be":
        return rest
    return f"with {rest}"


def _fix(place: Place, where: str, value: object) -> Fix | None:
    """The edit that mends a wrong value, if it is known and its path is exact."""
    expected = place.expected
    may_be_absent = expected.optional and not expected.schema.get("nullable")
    if value is None and may_be_absent:
        fix = Fix(where, op="remove")
    else:
        mended_value = mended(expected.schema, value)
        if mended_value is None:
            return None
        fix = Fix(where, mended_value[0])
    return fix if is_exact(place.path) else None


def _code(kind: str, value: object, expected: Expectation) -> str:
    code = _CODES.get(kind) or _code_of_other(kind, value)
    if code in _EMPTY_IF_BLANK and _is_empty(value):
        return "empty"
    if code == "not_in_enum" and not _has_type_of(value, expected.words):
        return "wrong_type"
    return code


def _code_of_other(kind: str, value: object) -> str:
    """The code of an error that the table does not list."""
    if kind not in _OF_PYDANTIC:
        return "rule_broken"  # an error type of the user's own
    if kind.endswith("_parsing") and isinstance(value, str):
        return "bad_format"
    return "wrong_type"


def _has_type_of(value: object, words: list[object]) -> bool:
    return any(type(value) is type(word) for word in words)


def _is_empty(value: object) -> bool:
    if isinstance(value, str):
        return is_blank(value)
    return not value
