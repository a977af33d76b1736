"""What gates say. Each gate answers one question from facts; no finding means it passed, no result means it did not run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from accordance.errors import GateNotRun

MAX_NAMED: Final = (
    10  # a finding about 10,000 files names ten of them and counts the rest
)


class Gate(StrEnum):
    """The questions, in the order in which a verdict is reached: the first one that fails leads."""

    SCHEMA = "schema"  # does the submission honour its contract?
    CONSTITUTION = "constitution"  # was a rule broken that no task can lift?
    POLICY = "policy"  # was anything used that the role or the task does not permit?
    SCOPE = "scope"  # was anything touched outside the pins?
    BUDGET = "budget"  # did it cost more than it may?
    NEED_INPUT = "need_input"  # does the agent ask for something?
    EVIDENCE = "evidence"  # are the artifacts there, and do they hold?
    FILE_MATCH = "file_match"  # is what was declared what was changed?
    TESTS = "tests"  # did every test pass in our own run?
    STATUS = "status"  # does the agent itself say it is done?


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and the facts that show it: paths, commands, artifacts."""

    gate: Gate
    code: str  # a fail code: docs/fail-codes.md
    message: str
    about: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """Two attempts with equal signatures failed in the same way."""
        return ": ".join((self.code, *self.about))


@dataclass(frozen=True, slots=True)
class Result:
    """What one gate found."""

    gate: Gate
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there is nothing to object to."""
        return not self.findings


def in_order(results: Iterable[Result]) -> tuple[Result, ...]:
    """One result of every gate, in the order of judgement. Raises GateNotRun if one is missing or ran twice."""
    by_gate: dict[Gate, Result] = {}
    for result in results:
        if result.gate in by_gate:
            raise GateNotRun(
                f"the gate {result.gate} has two results; it must have one"
            )
        by_gate[result.gate] = result
    if missing := [gate for gate in Gate if gate not in by_gate]:
        raise GateNotRun(
            f"no verdict without every gate; not run: {', '.join(missing)}"
        )
    return tuple(by_gate[gate] for gate in Gate)


def with_code(code: str, text: str) -> str:
    """A text that begins with its code, once."""
    return text if not code or text.startswith(f"{code}:") else f"{code}: {text}"


def listed(things: Sequence[str]) -> str:
    """A few of them by name, the rest by number."""
    rest = len(things) - MAX_NAMED
    return ", ".join(things[:MAX_NAMED]) + (f" and {rest} more" if rest > 0 else "")
