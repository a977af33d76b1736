"""What goes into the next attempt, or into the dead letters: values made from a verdict, for somebody else to act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.escalation import NextAction, Step
from accordance.domain.fail_codes import fail_code
from accordance.domain.findings import Finding
from accordance.domain.verdict import Verdict
from accordance.errors import UnknownCode

MAX_BYTES: Final = 2000  # what the next attempt is told; it pays for every word


class Strategy(StrEnum):
    """A hint for whoever plans the next attempt."""

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
    """The next attempt: its number, how it differs, what it is told."""

    attempt: int
    step: Step
    strategy: Strategy
    tell: str


def retry_plan(verdict: Verdict, attempt: int) -> RetryPlan | None:
    """The attempt after the one that was judged; None where no agent has the next move."""
    if verdict.step is None or verdict.next_action in (
        NextAction.HUMAN,
        NextAction.DLQ,
    ):
        return None
    strategy = STRATEGIES.get(verdict.reason_code or "", Strategy.SAME)
    return RetryPlan(attempt + 1, verdict.step, strategy, what_to_tell(verdict))


def what_to_tell(verdict: Verdict, max_bytes: int = MAX_BYTES) -> str:
    """Every finding in a line, with what to do about its code; as many as fit, the gravest first."""
    head = f"Your last attempt was not accepted: {verdict.reason_code}.\n"
    lines = [_line(finding) for finding in verdict.findings]
    text = head
    for at, line in enumerate(lines):
        rest = f"- and {len(lines) - at} more.\n"
        if len((text + line + rest).encode()) > max_bytes:
            return text + rest
        text += line
    return text


def _line(finding: Finding) -> str:
    try:
        way_out = f" {fail_code(finding.code).action}"
    except UnknownCode:  # an agent may give reasons of its own
        way_out = ""
    return f"- {finding.message} [{finding.code}]{way_out}\n"


class LetterState(StrEnum):
    """What became of a dead letter."""

    OPEN = "OPEN"
    RESOLVED = "RESOLVED"
    QUARANTINED = "QUARANTINED"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A task that was given up, with everything that is needed to begin it again."""

    task: JsonObject  # the whole task, as it was asked
    verdict: Verdict  # the one that ended it
    attempt: int
    created_at: str  # RFC 3339, from the caller
    base_commit: str = ""
    missing_inputs: tuple[str, ...] = ()  # what the agent asked for last
    earlier: tuple[str, ...] = ()  # signatures of the verdicts before, oldest first
    evidence: Mapping[str, str] = field(
        default_factory=dict
    )  # links to the last bundle
    state: LetterState = LetterState.OPEN

    @property
    def id(self) -> str:
        """One letter for each attempt of each task, so no two collide."""
        return f"{self.task['task_id']}.{self.attempt}"

    def to_json(self) -> JsonObject:
        """As plain JSON."""
        return {
            "id": self.id,
            "task_id": self.task["task_id"],
            "state": self.state.value,
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
