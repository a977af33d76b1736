"""A judgement: the verdict on an attempt, what it rests on, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.domain.case import Author, Case
from accordance.domain.escalation import NextAction
from accordance.domain.facts import AttemptFacts
from accordance.domain.retrying import DeadLetter, RetryPlan, retry_plan
from accordance.domain.terms import Terms
from accordance.domain.verdict import Outcome, Verdict, as_outcome, as_verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A judged attempt. True if and only if it is DONE."""

    verdict: Verdict
    case: Case
    terms: Terms
    submitted_at: str  # RFC 3339
    evaluated_at: str
    links: Mapping[str, str]  # where each artifact is kept
    bundle: Path | None = None  # the evidence, if it was kept
    shown: tuple[Path | None, ...] = ()
    """What an agent may see of each test's output, while those files exist."""

    def __bool__(self) -> bool:
        return self.outcome is Outcome.DONE

    @property
    def outcome(self) -> Outcome:
        """What becomes of the attempt."""
        return self.verdict.outcome

    @property
    def submitted_by(self) -> Author:
        """Who made the submission."""
        return self.terms.submitted_by

    @property
    def facts(self) -> AttemptFacts:
        """What accordance itself established."""
        return self.case.facts

    @property
    def task_id(self) -> str:
        """The id of the task."""
        return self.case.task.task_id

    @property
    def attempt(self) -> int:
        """The number of this attempt."""
        return self.terms.history.standing.attempt

    @property
    def retry(self) -> RetryPlan | None:
        """The next attempt and its feedback; None where no agent has the next move."""
        return retry_plan(self.verdict, self.attempt)

    @property
    def dead_letter(self) -> DeadLetter | None:
        """What is needed to begin again where the task is given up; else None."""
        if self.verdict.next_action is not NextAction.DLQ:
            return None

        claim = self.case.claim
        missing_inputs = tuple(claim.needs_input) if claim else ()
        return DeadLetter(
            task=dump(self.case.task),
            verdict=self.verdict,
            attempt=self.attempt,
            created_at=self.evaluated_at,
            base_commit=self.facts.base_commit,
            missing_inputs=missing_inputs,
            earlier=tuple(self.terms.history.earlier),
            evidence=self.links,
        )

    def as_outcome(self) -> JsonObject:
        """Return it as `scc.outcome.v1`, seed 003's object."""
        return as_outcome(self.verdict, self.task_id)

    def as_verdict(self) -> JsonObject:
        """Return it as `scc.verdict.v1`, seed 004's object."""
        return as_verdict(
            self.verdict,
            self.task_id,
            submitted_at=self.submitted_at,
            evaluated_at=self.evaluated_at,
            links=self.links,
        )

    def to_json(self) -> JsonObject:
        """Return all of it as plain JSON."""
        verdict = self.verdict
        facts = self.facts
        retry = self.retry
        letter = self.dead_letter
        return {
            "task_id": self.task_id,
            "attempt": self.attempt,
            "max_attempts": self.terms.history.standing.max_attempts,
            "outcome": verdict.outcome.value,
            "reason_code": verdict.reason_code,
            "reason": verdict.reason,
            "signature": verdict.signature,
            "checks": asdict(verdict.checks),
            "findings": [
                {**asdict(finding), "about": list(finding.about)}
                for finding in verdict.findings
            ],
            "notices": list(verdict.notices),
            "next_action": verdict.next_action.value,
            "next_role": verdict.step.role if verdict.step else None,
            "uses_attempt": verdict.uses_attempt,
            "retry": _retry(retry) if retry else None,
            "dead_letter": letter.to_json() if letter else None,
            "submitted_by": self.submitted_by,
            "base_commit": facts.base_commit,
            "isolation": facts.isolation,
            "tests": [{**asdict(run), "passed": run.passed} for run in facts.runs],
            "submitted_at": self.submitted_at,
            "evaluated_at": self.evaluated_at,
            "links": dict(self.links),
        }


def _retry(plan: RetryPlan) -> JsonObject:
    return {
        "attempt": plan.attempt,
        "level": int(plan.step.level),
        "model_tier": plan.step.model_tier,
        "strategy": plan.strategy.value,
        "tell": plan.tell,
    }
