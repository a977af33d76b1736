"""The verdict: a decision about an attempt, and its two wire shapes.

`as_outcome` gives seed 003's object (`scc.outcome.v1`), `as_verdict` seed 004's
(`scc.verdict.v1`): PASS if and only if DONE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.escalation import LadderStep, NextAction
from accordance.domain.findings import Finding


class Outcome(StrEnum):
    """The outcome of an attempt."""

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
    """The decision, with everything it rests on.

    `notices` are what a reader should know about the verdict; they blame no agent.
    """

    outcome: Outcome
    checks: Checks
    findings: tuple[Finding, ...] = ()  # the leading finding first
    reason_code: str | None = None
    step: LadderStep | None = None  # where the ladder leads; None when it is done
    uses_attempt: bool = True  # a question costs nothing
    notices: tuple[str, ...] = ()

    @property
    def next_action(self) -> NextAction:
        """The next action."""
        if self.step is None:
            return NextAction.NONE
        return self.step.action

    @property
    def messages(self) -> tuple[str, ...]:
        """The messages of the findings, the leading message first, then the notices."""
        finding_messages = [finding.message for finding in self.findings]
        return (*finding_messages, *self.notices)

    @property
    def reason(self) -> str:
        """The reason, in a line."""
        if not self.findings:
            return "All checks passed."
        lead = self.findings[0].message
        others = len(self.findings) - 1
        if others:
            return f"{lead} ({others} more)"
        return lead

    @property
    def signature(self) -> str:
        """How it failed, for comparing with earlier attempts."""
        if not self.findings:
            return ""
        return self.findings[0].signature


def as_outcome(verdict: Verdict, task_id: str) -> JsonObject:
    """Return the verdict as a scheduler wants it (seed 003)."""
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
    """Return the verdict as a dashboard wants it (seed 004).

    Times are RFC 3339 and come from the caller.
    """
    checks = verdict.checks
    reason: JsonObject = {}
    if verdict.reason_code:
        reason["reason_code"] = verdict.reason_code
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
