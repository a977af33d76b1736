"""Step 4: a normalised message against its contract, every violation at once.

pydantic judges each field, in strict mode. The rules across fields are run by accordance itself, on the same plain
message, so that they are reported beside field errors and not hidden by them. A rule does not speak about a place that
is at fault already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from accordance.contracts.context import Context
from accordance.contracts.contract import VERSION_KEY, Contract, Rule
from accordance.contracts.expectations import Expectation, branches_of, mapping, mended
from accordance.contracts.jsonpath import (
    JsonObject,
    Path,
    is_exact,
    lies_within,
    parse,
    render,
)
from accordance.contracts.limits import MAX_REPORTED
from accordance.contracts.places import Place, place_of
from accordance.contracts.printable import is_blank
from accordance.contracts.respelling import respelling
from accordance.contracts.violation import Fix, Notice, Repair, Violation, excerpt

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
UNKNOWN_KEY: Final = frozenset(
    ("extra_forbidden", "unexpected_keyword_argument")
)  # of a model, of a dataclass
_TAG: Final = ("union_tag_invalid", "union_tag_not_found")
_RAISED: Final = (
    "value_error",
    "assertion_error",
)  # by a validator of the user's own model
_OF_PYDANTIC: Final = frozenset((*get_args(ErrorType), *_CODES))
_OF_A_TYPE_OR_BOUND: Final = tuple(
    kind
    for kind in _OF_PYDANTIC
    if kind.endswith(("_type", "_parsing", "_than", "_equal"))
)
_SAID_BY_THE_SCHEMA: Final = frozenset(
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


@dataclass(slots=True)
class ViolationLog:
    """What was found so far. Only the first violations and notices are written out; all are counted."""

    violations: list[Violation] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    faulty: set[Path] = field(default_factory=set)
    repairs: tuple[Repair, ...] = ()
    total: int = 0
    total_notices: int = 0

    def add(self, violation: Violation) -> None:
        """Count a violation, and list it while there is room."""
        self.total += 1
        if len(self.violations) < MAX_REPORTED:
            self.violations.append(violation)

    def note(self, notice: Notice) -> None:
        """Count a notice, and list it while there is room."""
        self.total_notices += 1
        if len(self.notices) < MAX_REPORTED:
            self.notices.append(notice)


def judge_fields(
    contract: Contract[Any],
    message: JsonObject,
    faults: Iterable[ErrorDetails],
    findings: ViolationLog,
    *,
    has_labels: bool = True,
) -> None:
    """Turn pydantic's errors into violations. Where no location holds more than a place, most need no closer look."""
    places: set[Path] = set()
    doubtful: list[tuple[ErrorDetails, Place]] = []
    for details in faults:
        has_room = len(findings.violations) < MAX_REPORTED
        if not has_room and not has_labels:
            findings.total += 1
            findings.faulty.add(details["loc"])
            continue
        place = place_of(contract.model, details, message, in_words=has_room)
        is_told = place.path != details["loc"] and place.path in places
        if is_told:
            continue  # by another type of the same union
        if place.has_type and details["type"].endswith("_type"):
            doubtful.append((details, place))
            continue
        places.add(place.path)
        _add_fault(contract, details, place, findings)
    for details, place in doubtful[:MAX_REPORTED]:
        depth = len(place.path)
        is_told_more_closely = any(path[:depth] == place.path for path in places)
        if not is_told_more_closely:
            places.add(place.path)
            _add_fault(contract, details, place, findings)


def _add_fault(
    contract: Contract[Any], details: ErrorDetails, place: Place, findings: ViolationLog
) -> None:
    findings.total += 1
    findings.faulty.add(place.path)
    if len(findings.violations) < MAX_REPORTED:
        findings.violations.append(_violation(contract, details, place))


def judge_unknown_key(
    contract: Contract[Any],
    details: ErrorDetails,
    place: Place,
    message: JsonObject,
    findings: ViolationLog,
) -> None:
    """Mention a key that the contract does not name and that breaks nothing."""
    if not contract.mentions_unknown_keys:
        return
    fate = (
        "kept"
        if _further_keys_at(contract.model, details, message) is True
        else "ignored"
    )
    text = f"a key the contract does not name; {fate}"
    if place.path == (VERSION_KEY,):
        if details["input"] == contract.version:
            return  # the message says which contract it follows, and it does
        text = f"names {excerpt(details['input'])}, but this contract is {excerpt(contract.version)}; {fate}"
    findings.note(Notice("unknown_key", render(place.path), text))


def is_refused_key(
    contract: Contract[Any], details: ErrorDetails, message: JsonObject
) -> bool:
    """Whether the schema is closed where an unknown key stands."""
    return _further_keys_at(contract.model, details, message) is False


def _further_keys_at(
    model: type[BaseModel], details: ErrorDetails, message: JsonObject
) -> object:
    """What the schema says of further keys in the object around a key: True, False or nothing."""
    around = ErrorDetails({**details, "loc": details["loc"][:-1]})
    return place_of(model, around, message).expected.schema.get("additionalProperties")


def _violation(
    contract: Contract[Any], details: ErrorDetails, place: Place
) -> Violation:
    kind, found, where = details["type"], details["input"], render(place.path)
    expected = place.expected
    if kind in UNKNOWN_KEY:
        fix = Fix(where, op="remove") if is_exact(place.path) else None
        return Violation("unknown_key", where, "no such key", excerpt(found), fix)
    if place.path == (VERSION_KEY,) and contract.version in expected.words:
        code = "version_missing" if kind == "missing" else "version_mismatch"
        actual = "nothing" if kind == "missing" else excerpt(found)
        meant = (
            respelling([contract.version], found) if isinstance(found, str) else None
        )
        fix = Fix(where, contract.version) if meant else None
        return Violation(code, where, f'"{contract.version}"', actual, fix)
    if kind in _TAG:
        return _tag_violation(details, place)
    if kind in _RAISED:
        code = "bad_format" if _is_address(expected) else "rule_broken"
        return Violation(code, where, _raised(details, expected), excerpt(found))
    if kind == "missing":
        return Violation("missing", where, expected.text, "nothing")
    if place.is_key:
        wanted = _in_words(details).partition(", ")[0]
        return Violation("bad_format", where, f"a key that is {wanted}", excerpt(found))
    fix = _fix(place, where, found) if place.is_certain else None
    return Violation(
        _code(kind, found, expected),
        where,
        _expected(details, expected),
        excerpt(found),
        fix,
    )


def _tag_violation(details: ErrorDetails, place: Place) -> Violation:
    """The key that tells the types of a union apart is missing, or names none of them."""
    found = details["input"]
    discriminator = mapping(place.expected.schema.get("discriminator"))
    key = discriminator.get("propertyName")
    if not isinstance(key, str) or not isinstance(found, dict):
        return Violation(
            "wrong_type", render(place.path), _in_words(details), excerpt(found)
        )
    words = ", ".join(mapping(discriminator.get("mapping")))
    actual = excerpt(found[key]) if key in found else "nothing"
    return Violation(
        _CODES[details["type"]], render((*place.path, key)), f"one of {words}", actual
    )


def _raised(details: ErrorDetails, expected: Expectation) -> str:
    """What a validator of the user's own model said; of an address, which is judged so too, also how to write one."""
    text = (
        details["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    )
    if _is_address(expected):
        return f"{expected.text} ({text})"
    return text or "what the model's validator demands"


def _is_address(expected: Expectation) -> bool:
    return str(expected.schema.get("format")).startswith("ip")


def _expected(details: ErrorDetails, expected: Expectation) -> str:
    """What was expected: as the schema has it, as pydantic has it, or both where the schema tells only half."""
    kind, found = details["type"], details["input"]
    if not expected.schema or kind not in _OF_PYDANTIC:
        return _in_words(details)
    if ("const" in expected.schema or "enum" in expected.schema) and _is_among(
        found, expected.words
    ):
        return _in_words(details)
    if kind in _SAID_BY_THE_SCHEMA:
        return expected.text
    if kind.endswith(("too_short", "too_long")) and branches_of(expected.schema) == []:
        return expected.text
    return f"{expected.text}, {_in_words(details)}"


def _is_among(found: object, words: list[object]) -> bool:
    return any(found == word and type(found) is type(word) for word in words)


def _in_words(details: ErrorDetails) -> str:
    """What pydantic says itself, turned into what was expected."""
    text = details["msg"]
    match = _SHOULD.fullmatch(text)
    if match is None:
        return text[:1].lower() + text[1:]
    verb, rest = match.groups()
    return rest if verb == "be" else f"with {rest}"


def _fix(place: Place, where: str, found: object) -> Fix | None:
    """The edit that mends a wrong value, where there is one and the path leads back to its place."""
    expected = place.expected
    if found is None and expected.optional and not expected.schema.get("nullable"):
        return Fix(where, op="remove") if is_exact(place.path) else None
    value = mended(expected.schema, found)
    return Fix(where, value[0]) if value and is_exact(place.path) else None


def _code(kind: str, found: object, expected: Expectation) -> str:
    code = _CODES.get(kind) or _code_of_other(kind, found)
    if code in ("too_short", "too_few", "bad_format") and _is_nothing(found):
        return "empty"
    if code == "not_in_enum" and not any(
        type(found) is type(word) for word in expected.words
    ):
        return "wrong_type"
    return code


def _code_of_other(kind: str, found: object) -> str:
    if kind not in _OF_PYDANTIC:
        return "rule_broken"  # an error of the user's own making
    return (
        "bad_format"
        if kind.endswith("_parsing") and isinstance(found, str)
        else "wrong_type"
    )


def _is_nothing(found: object) -> bool:
    return is_blank(found) if isinstance(found, str) else not found


def judge_rules(
    rules: Iterable[Rule], message: JsonObject, context: Context, findings: ViolationLog
) -> None:
    """Run the rules across fields."""
    for rule in rules:
        hear_rule(rule(message, context), findings)


def hear_rule(heard: Iterable[Violation | Notice], findings: ViolationLog) -> None:
    """Add what a rule says, but for what is at fault already."""
    for finding in heard:
        if isinstance(finding, Notice):
            findings.note(finding)
        elif not findings.faulty or not lies_within(
            parse(finding.path), findings.faulty
        ):
            findings.add(finding)
        else:
            _sharpen(findings.violations, finding)


def _sharpen(violations: list[Violation], sharper: Violation) -> None:
    """The same fault, but this rule knows more of it."""
    for at, known in enumerate(violations):
        if (
            known.code == sharper.code
            and known.path == sharper.path
            and known.fix is None
        ):
            violations[at] = sharper
