"""The validator of seed 002, with the name and signature that the seed gives it.

A thin layer over `check` with the profile `seed`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accordance.contracts.catalogue.answer import ANSWER
from accordance.contracts.checking import Checker
from accordance.contracts.context import Context
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.registry import Registry
from accordance.contracts.violation import Accepted, Violation

_SEED: Final = Context(profile="seed")
_checker: Final = Checker(Registry((ANSWER,)))


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """Whether an agent's answer is valid, with errors and warnings as in seed 002."""

    is_valid: bool
    errors: list[str]
    warnings: list[str]


def validate_agent_output(output: JsonObject | str | bytes) -> ValidationResult:
    """Validate a research agent's answer, parsed or as JSON, as seed 002 does.

    Never raises for a bad answer. `check(text, "answer")` reports more: it checks the
    whole schema of the seed, with a path and a fix for every violation.
    """
    if isinstance(output, str | bytes):
        result = _checker.check(output, ANSWER, _SEED)
    else:
        result = _checker.check_value(output, ANSWER, _SEED)
    warnings = [notice.message for notice in result.warnings]
    if isinstance(result, Accepted):
        return ValidationResult(
            is_valid=True,
            errors=[],
            warnings=warnings,
        )
    errors = [_in_words(violation) for violation in result.violations]
    unlisted = result.total - len(errors)
    if unlisted:
        errors.append(f"and {unlisted} more")
    return ValidationResult(
        is_valid=False,
        errors=errors,
        warnings=warnings,
    )


def _in_words(violation: Violation) -> str:
    """The seed's own sentence; what is wrong where the seed's function would crash."""
    if violation.code == "seed_error":
        return violation.expected
    return f"{violation.path}: expected {violation.expected}, got {violation.actual}"
