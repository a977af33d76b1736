"""What goes into the next attempt, or into the dead letters.

These are values made from a verdict; others act on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.printable import printable
from accordance.domain.escalation import LadderStep, NextAction
from accordance.domain.fail_codes import fail_code
from accordance.domain.findings import Finding
from accordance.domain.prompting import fenced
from accordance.domain.verdict import Verdict
from accordance.errors import UnknownCode

if TYPE_CHECKING:  # every command that shows a question would load all facts
    from accordance.domain.failing_tests import FailingTest

MAX_BYTES: Final = 2000  # of feedback to the next attempt, which pays for every word
_FAILURES: Final = "why tests failed"


class Strategy(StrEnum):
    """A hint for planning the next attempt."""

    SAME = "SAME"
    PINS_FIX = "PINS_FIX"
    SHRINK_RADIUS = "SHRINK_RADIUS"
    SPLIT = "SPLIT"
    SWITCH_EXECUTOR = "SWITCH_EXECUTOR"
    SWITCH_MODEL = "SWITCH_MODEL"


STRATEGIES: Final[Mapping[str, Strategy]] = MappingProxyType(
    {
        "SCOPE_CONFLICT": Strategy.PINS_FIX,
        "PINS_INSUFFICIENT": Strategy.PINS_FIX,
        "CI_FAILED": Strategy.SHRINK_RADIUS,
        "TIMEOUT_EXCEEDED": Strategy.SPLIT,
        "BUDGET_EXCEEDED": Strategy.SPLIT,
        "SPLIT_REQUIRED": Strategy.SPLIT,
        "EXECUTOR_ERROR": Strategy.SWITCH_EXECUTOR,
        "MODEL_UNAVAILABLE": Strategy.SWITCH_MODEL,
    }
)


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """The next attempt: its number, how it differs, and the feedback for it."""

    attempt: int
    step: LadderStep
    strategy: Strategy
    tell: str


def retry_plan(
    verdict: Verdict,
    attempt: int,
    failing: Sequence[FailingTest] = (),
) -> RetryPlan | None:
    """Return the attempt that follows a verdict; None where no agent moves next."""
    if verdict.step is None:
        return None
    if verdict.next_action in (NextAction.HUMAN, NextAction.DLQ):
        return None
    strategy = STRATEGIES.get(verdict.reason_code or "", Strategy.SAME)
    feedback = feedback_for(verdict, failing)
    return RetryPlan(
        attempt=attempt + 1,
        step=verdict.step,
        strategy=strategy,
        tell=feedback,
    )


def feedback_for(
    verdict: Verdict,
    failing: Sequence[FailingTest] = (),
    max_bytes: int = MAX_BYTES,
) -> str:
    """Return the feedback for the next attempt: a line for each finding, gravest first.

    Findings that do not fit are counted. Where there is room left, it shows why tests
    failed.
    """
    text = f"Your last attempt was not accepted: {verdict.reason_code}.\n"
    count = len(verdict.findings)
    for index, finding in enumerate(verdict.findings):
        line = _line(finding)
        rest = f"- and {count - index} more.\n"
        if len((text + line + rest).encode()) > max_bytes:
            return text + rest
        text += line
    room = max_bytes - len(text.encode())
    return text + _failures_within(failing, room)


def _failures_within(failing: Sequence[FailingTest], room: int) -> str:
    """Return why tests failed, marked as data, as far as it fits into so many bytes."""
    shown = ""
    for line in _failure_lines(failing):
        longer = f"{shown}\n{line}" if shown else line
        size = len(f"{fenced(_FAILURES, longer)}\n".encode())
        if size > room:
            break
        shown = longer
    if shown:
        return f"{fenced(_FAILURES, shown)}\n"
    return ""


def _failure_lines(failing: Sequence[FailingTest]) -> Iterator[str]:
    for test in failing:
        where = ""
        if test.line is not None:
            where = f" ({test.place})"
        yield printable(f"{test.test}{where}")
        for line in test.lines:
            yield f"    {printable(line)}"


def _line(finding: Finding) -> str:
    """Return a finding with the action for its code; an agent's own codes have none."""
    line = f"- {finding.message} [{finding.code}]"
    try:
        action = fail_code(finding.code).action
    except UnknownCode:
        return f"{line}\n"
    return f"{line} {action}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A task that was given up, with everything that is needed to start it again."""

    task: JsonObject  # the whole task, as it was given
    verdict: Verdict  # the last verdict
    attempt: int
    created_at: str  # RFC 3339, from the caller
    base_commit: str = ""
    missing_inputs: tuple[str, ...] = ()  # the agent's last questions
    earlier: tuple[str, ...] = ()  # signatures of earlier verdicts, oldest first
    evidence: Mapping[str, str] = field(
        default_factory=dict
    )  # links to the last bundle

    @property
    def id(self) -> str:
        """The id: each attempt of a task has a letter of its own."""
        return f"{self.task['task_id']}.{self.attempt}"

    def to_json(self) -> JsonObject:
        """Return the letter as plain JSON."""
        return {
            "id": self.id,
            "task_id": self.task["task_id"],
            "state": "OPEN",
            "created_at": self.created_at,
            "reason_code": self.verdict.reason_code,
            "summary": self.verdict.reason,
            "missing_inputs": list(self.missing_inputs),
            "attempt": self.attempt,
            "history": [*self.earlier, self.verdict.signature],
            "base_commit": self.base_commit,
            "evidence": dict(self.evidence),
            "task": self.task,
        }
