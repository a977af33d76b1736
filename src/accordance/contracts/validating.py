"""Step 4: a normalised message against its contract, every violation at once.

pydantic judges each field, in strict mode. The rules across fields are run by accordance itself, on the same plain
message, so that they are reported beside field errors and not hidden by them. A rule does not speak about a place that
is at fault already.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from accordance.contracts.context import Context
from accordance.contracts.contract import VERSION_KEY, Contract, Rule
from accordance.contracts.expectations import Expectation, expectation_at, mended
from accordance.contracts.jsonpath import JsonObject, Path, is_exact, lies_within, lookup, parse, render
from accordance.contracts.limits import MAX_REPORTED
from accordance.contracts.printable import is_blank
from accordance.contracts.respelling import respelling
from accordance.contracts.violation import Fix, Notice, Repair, Violation, excerpt
from accordance.errors import InvalidPath

_CODES: Final = {
    "missing": "missing",
    "literal_error": "not_in_enum",
    "enum": "not_in_enum",
    "greater_than": "out_of_range",
    "greater_than_equal": "out_of_range",
    "less_than": "out_of_range",
    "less_than_equal": "out_of_range",
    "string_too_short": "too_short",
    "too_short": "too_few",
    "string_too_long": "too_long",
    "too_long": "too_many",
    "string_pattern_mismatch": "bad_format",
    "bad_format": "bad_format",
    "extra_forbidden": "unknown_key",
    "finite_number": "not_finite",
}
_UNKNOWN_KEY: Final = "extra_forbidden"
_RAISED: Final = ("value_error", "assertion_error")  # by a validator of the user's own model


@dataclass(slots=True)
class Findings:
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
    contract: Contract[Any], message: JsonObject, faults: Iterable[ErrorDetails], findings: Findings
) -> None:
    """Turn pydantic's errors into violations; unknown keys of an open part into notices."""
    for details in faults:
        path = details["loc"]
        if details["type"] == _UNKNOWN_KEY and not _is_closed_at(contract.model, path):
            if not contract.mentions_unknown_keys:
                continue
            findings.note(Notice("unknown_key", render(path), "a key the contract does not name; kept"))
            continue
        if not expectation_at(contract.model, path).schema:
            path = _without_labels(details, message)
            if path in findings.faulty:
                continue  # another type of the same union
        if len(findings.violations) < MAX_REPORTED:
            findings.violations.append(_violation(contract, details, path))
        findings.faulty.add(path)
        findings.total += 1


def _without_labels(details: ErrorDetails, message: JsonObject) -> Path:
    """For each type of a union pydantic adds its name to the path; that is no place in the message."""
    path, place = details["loc"], list[str | int]()
    value: object = message
    for at, step in enumerate(path):
        try:
            value = lookup(value, (step,))
        except InvalidPath:
            is_missing_key = details["type"] == "missing" and at == len(path) - 1
            if not is_missing_key:
                continue
        place.append(step)
    return tuple(place)


def _is_closed_at(model: type[BaseModel], path: Path) -> bool:
    return expectation_at(model, path[:-1]).schema.get("additionalProperties") is not True


def _violation(contract: Contract[Any], details: ErrorDetails, path: Path) -> Violation:
    kind, found, where = details["type"], details["input"], render(path)
    is_of_this_version = found == contract.version
    if path == (VERSION_KEY,) and not is_of_this_version:
        code = "version_missing" if kind == "missing" else "version_mismatch"
        actual = "nothing" if kind == "missing" else excerpt(found)
        meant = respelling([contract.version], found) if isinstance(found, str) else None
        fix = Fix(where, contract.version) if meant and kind != _UNKNOWN_KEY else None
        return Violation(code, where, f'"{contract.version}"', actual, fix)
    if kind == _UNKNOWN_KEY:
        fix = Fix(where, op="remove") if is_exact(path) else None
        return Violation("unknown_key", where, "no such key", excerpt(found), fix)
    if kind in _RAISED:
        text = details["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
        return Violation("rule_broken", where, text or "what the model's validator demands", excerpt(found))
    expected = expectation_at(contract.model, path)
    if kind == "missing":
        return Violation("missing", where, expected.text, "nothing")
    code, fix = _code(kind, found, expected), _fix(expected, where, found) if is_exact(path) else None
    return Violation(code, where, expected.text, excerpt(found), fix)


def _fix(expected: Expectation, where: str, found: object) -> Fix | None:
    if found is None and expected.optional and not expected.schema.get("nullable"):
        return Fix(where, op="remove")
    value = mended(expected.schema, found)
    return Fix(where, value[0]) if value else None


def _code(kind: str, found: object, expected: Expectation) -> str:
    code = _CODES.get(kind, "wrong_type")
    if code in ("too_short", "too_few", "bad_format") and _is_nothing(found):
        return "empty"
    if code == "not_in_enum" and not any(type(found) is type(word) for word in expected.words):
        return "wrong_type"
    return code


def _is_nothing(found: object) -> bool:
    return is_blank(found) if isinstance(found, str) else not found


def judge_rules(rules: Iterable[Rule], message: JsonObject, context: Context, findings: Findings) -> None:
    """Run the rules across fields."""
    for rule in rules:
        for finding in rule(message, context):
            if isinstance(finding, Notice):
                findings.note(finding)
            elif not findings.faulty or not lies_within(parse(finding.path), findings.faulty):
                findings.add(finding)
            elif finding.fix:
                _sharpen(findings.violations, finding)


def _sharpen(violations: list[Violation], sharper: Violation) -> None:
    """The same fault, but this rule knows the way out."""
    for at, known in enumerate(violations):
        if known.code == sharper.code and known.path == sharper.path and known.fix is None:
            violations[at] = sharper
