"""The findings of gates. Each gate answers a question from facts.

A result without findings means that the gate passed; no result means that it did not
run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from accordance.errors import GateNotRun

MAX_NAMED: Final = 10
"""A finding about 10,000 files names ten of them and counts the rest."""


class Gate(StrEnum):
    """The questions, in the order of judgement: the first gate that fails leads."""

    SCHEMA = "schema"  # does the submission honour its contract?
    CONSTITUTION = "constitution"  # was a rule broken that no task can lift?
    POLICY = "policy"  # was anything used that is not permitted?
    SCOPE = "scope"  # was anything touched outside the pins?
    ENVIRONMENT = "environment"  # could the tests be run at all?
    BUDGET = "budget"  # did it cost more than it may?
    NEED_INPUT = "need_input"  # does the agent ask for something?
    EVIDENCE = "evidence"  # are the artifacts there, and are they true?
    FILE_MATCH = "file_match"  # is what was declared what was changed?
    TESTS = "tests"  # did every test pass in our own run?
    STATUS = "status"  # does the agent itself say it is done?


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault, and the facts that show it: paths, commands, artifacts."""

    gate: Gate
    code: str  # a fail code: docs/fail-codes.md
    message: str
    about: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """Attempts with equal signatures failed in the same way."""
        return ": ".join((self.code, *self.about))


@dataclass(frozen=True, slots=True)
class Result:
    """The findings of a gate."""

    gate: Gate
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the gate has no objection."""
        return not self.findings


def in_order(results: Iterable[Result]) -> tuple[Result, ...]:
    """Return the results of all gates, in the order of judgement.

    Raises GateNotRun if a gate has no result, or two.
    """
    by_gate: dict[Gate, Result] = {}
    for result in results:
        if result.gate in by_gate:
            raise GateNotRun(
                f"the gate {result.gate} has two results instead of a single one"
            )
        by_gate[result.gate] = result

    missing = [gate for gate in Gate if gate not in by_gate]
    if missing:
        names = ", ".join(missing)
        raise GateNotRun(f"no verdict without every gate; not run: {names}")
    return tuple(by_gate[gate] for gate in Gate)


def with_code(code: str, text: str) -> str:
    """Return a text that begins with its code, once."""
    if not code or text.startswith(f"{code}:"):
        return text
    return f"{code}: {text}"


def listed(things: Sequence[str]) -> str:
    """Return the first names of a list, and the number of the others."""
    named = ", ".join(things[:MAX_NAMED])
    others = len(things) - MAX_NAMED
    if others > 0:
        return f"{named} and {others} more"
    return named
