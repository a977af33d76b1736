"""A judgement: the verdict on an attempt, what it rests on, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.serialising import dump
from accordance.domain.case import Author, Case
from accordance.domain.escalation import NextAction
from accordance.domain.facts import (
    WITH_FAILURES_TOLD,
    WITH_MUTANTS,
    WITH_TEST_POLICY,
    AttemptFacts,
    CommandRun,
    TestReruns,
)
from accordance.domain.failing_tests import FailingTest, failing_tests
from accordance.domain.flaky_tests import flaky_tests
from accordance.domain.mutation_check import MutationCheck
from accordance.domain.retrying import DeadLetter, RetryPlan, retry_plan
from accordance.domain.terms import Terms
from accordance.domain.test_results import TestReport
from accordance.domain.test_runs import comparison_with_base
from accordance.domain.verdict import Outcome, Verdict, as_outcome, as_verdict

_MAX_FAILED: Final = 50  # tests whose failure is written out


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
        is_told_why = self.facts.version >= WITH_FAILURES_TOLD
        failing = self.failing_tests if is_told_why else ()
        return retry_plan(self.verdict, self.attempt, failing)

    @property
    def failing_tests(self) -> tuple[FailingTest, ...]:
        """The failing tests that are held against the change; no hidden ones."""
        return failing_tests(self.case.task, self.facts)

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
            "tests": [_run(run) for run in facts.runs],
            "tests_compared": _comparison(facts),
            "submitted_at": self.submitted_at,
            "evaluated_at": self.evaluated_at,
            "links": dict(self.links),
            **_proof(facts),
        }


def _run(run: CommandRun) -> JsonObject:
    plain = asdict(replace(run, report=None))
    report = None if run.report is None else _report(run.report)
    return {**plain, "passed": run.passed, "report": report}


def _report(report: TestReport) -> JsonObject:
    """Return the counts of a report and its failures; the bundle holds every test."""
    outcomes = Counter(result.outcome.value for result in report.results)
    failed = [
        {"test": result.test, "text": result.text}
        for result in report.failed[:_MAX_FAILED]
    ]
    return {
        "runner": report.runner,
        "tests": len(report.results),
        "outcomes": dict(sorted(outcomes.items())),
        "failed": failed,
        "incomplete": report.incomplete,
        "tampered": report.tampered,
    }


def _proof(facts: AttemptFacts) -> JsonObject:
    """Return what the tests prove; nothing for evidence of earlier versions."""
    if facts.version < WITH_TEST_POLICY:
        return {}
    hidden = None if facts.hidden is None else len(facts.hidden.files)
    proof: JsonObject = {
        "changed_lines": _changed_lines(facts),
        "flaky": [_flaky(reruns) for reruns in flaky_tests(facts)],
        "given_tests": list(facts.given_tests),
        "hidden_test_files": hidden,
    }
    if facts.version >= WITH_MUTANTS:
        proof["mutants"] = _mutants(facts.mutants)
    return proof


def _mutants(check: MutationCheck | None) -> JsonObject | None:
    """Return which faults the tests noticed; None if none were tried."""
    if check is None:
        return None
    tried = [asdict(mutant) for mutant in check.tried]
    return {"chosen": check.chosen, "tried": tried}


def _changed_lines(facts: AttemptFacts) -> list[JsonObject] | None:
    """Return which changed lines were run; None if that was not traced."""
    if facts.lines_reached is None:
        return None
    return [
        {
            "file": lines.file,
            "changed": list(lines.changed),
            "never_run": list(lines.never_run),
        }
        for lines in facts.lines_reached
    ]


def _flaky(reruns: TestReruns) -> JsonObject:
    return {
        "test": reruns.test,
        "command": reruns.command,
        "where": "base" if reruns.on_base else "head",
        "outcomes": [outcome.value for outcome in reruns.outcomes],
        "permitted": reruns.permitted,
    }


def _comparison(facts: AttemptFacts) -> JsonObject | None:
    """Return the tests by what the change did to them; None if not compared."""
    if not facts.base_runs:
        return None
    groups = asdict(comparison_with_base(facts))
    compared: JsonObject = {name: list(tests) for name, tests in groups.items()}
    compared["pass_to_pass"] = len(groups["pass_to_pass"])
    return compared


def _retry(plan: RetryPlan) -> JsonObject:
    return {
        "attempt": plan.attempt,
        "level": int(plan.step.level),
        "model_tier": plan.step.model_tier,
        "strategy": plan.strategy.value,
        "tell": plan.tell,
    }
