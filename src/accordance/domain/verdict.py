"""The verdict: one decision about one attempt, and its two wire shapes.

`as_outcome` gives seed 003's object (`scc.outcome.v1`), `as_verdict` seed 004's (`scc.verdict.v1`): PASS if and only if DONE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.escalation import NextAction, Step
from accordance.domain.findings import Finding


class Outcome(StrEnum):
    """What becomes of the attempt."""

    DONE = "DONE"
    RETRY = "RETRY"
    ESCALATE = "ESCALATE"
    REJECT = "REJECT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """The five checks of seed 003."""

    schema_valid: bool
    scope_clean: bool
    tests_passed: bool
    artifacts_complete: bool
    changed_files_match: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The decision, with everything it rests on."""

    outcome: Outcome
    checks: Checks
    findings: tuple[Finding, ...] = ()  # the one that leads first
    reason_code: str | None = None
    step: Step | None = None  # where the ladder leads; None when it is done
    uses_attempt: bool = True  # a question costs nothing
    notices: tuple[
        str, ...
    ] = ()  # what the verdict rests on and a reader should know; nobody is blamed for it

    @property
    def next_action(self) -> NextAction:
        """What is done next."""
        return self.step.action if self.step else NextAction.NONE

    @property
    def messages(self) -> tuple[str, ...]:
        """What was found, the leading one first, then the notices."""
        return (*(finding.message for finding in self.findings), *self.notices)

    @property
    def reason(self) -> str:
        """Why, in one line."""
        if not self.findings:
            return "All checks passed."
        more = len(self.findings) - 1
        return self.messages[0] + (f" ({more} more)" if more else "")

    @property
    def signature(self) -> str:
        """How it failed, for comparing with earlier attempts."""
        return self.findings[0].signature if self.findings else ""


def as_outcome(verdict: Verdict, task_id: str) -> JsonObject:
    """The verdict as a scheduler wants it (seed 003)."""
    return {
        "schema_version": "scc.outcome.v1",
        "task_id": task_id,
        "verdict": verdict.outcome.value,
        "reason": verdict.reason,
        "checks": asdict(verdict.checks),
        "next_action": verdict.next_action.value,
    }


def as_verdict(
    verdict: Verdict,
    task_id: str,
    *,
    submitted_at: str,
    evaluated_at: str,
    links: Mapping[str, str],
) -> JsonObject:
    """The verdict as a dashboard wants it (seed 004). Times are RFC 3339 and come from the caller."""
    checks = verdict.checks
    reason: JsonObject = (
        {"reason_code": verdict.reason_code} if verdict.reason_code else {}
    )
    return {
        "schema_version": "scc.verdict.v1",
        "task_id": task_id,
        "verdict": "PASS" if verdict.outcome is Outcome.DONE else "FAIL",
        **reason,
        "messages": list(verdict.messages),
        "checks": {
            "schema_valid": checks.schema_valid,
            "scope_valid": checks.scope_clean,
            "tests_passed": checks.tests_passed,
            "evidence_present": checks.artifacts_complete,
        },
        "timestamps": {"submitted_at": submitted_at, "evaluated_at": evaluated_at},
        "links": dict(links),
    }
