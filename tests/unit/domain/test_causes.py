"""Whose fault a failure is."""

from __future__ import annotations

import pytest

from accordance.domain.causes import CAUSES, Cause, cause_of, cause_of_verdict
from accordance.domain.findings import Finding, Gate
from accordance.domain.verdict import Checks, Outcome, Verdict

CHECKS = Checks(
    schema_valid=True,
    scope_clean=True,
    tests_passed=False,
    artifacts_complete=True,
    changed_files_match=True,
)


@pytest.mark.parametrize(
    ("gate", "code", "cause"),
    [
        pytest.param(Gate.TESTS, "CI_FAILED", Cause.CHANGE, id="a failing test"),
        pytest.param(
            Gate.TESTS, "ENVIRONMENT_BROKEN", Cause.ENVIRONMENT, id="no test could run"
        ),
        pytest.param(
            Gate.TESTS, "ISOLATION_UNAVAILABLE", Cause.ENVIRONMENT, id="no isolation"
        ),
        pytest.param(
            Gate.STATUS,
            "DEPENDENCY_MISSING",
            Cause.CHANGE,
            id="the agent's own word proves nothing about the machine",
        ),
        pytest.param(Gate.BUDGET, "BUDGET_EXCEEDED", Cause.TASK, id="too dear"),
        pytest.param(
            Gate.NEED_INPUT, "NEED_INPUT_REQUIRED", Cause.QUESTION, id="a question"
        ),
        pytest.param(Gate.STATUS, "OWN_WORDS", Cause.CHANGE, id="a code of its own"),
    ],
)
def test_the_cause_of_a_finding(gate: Gate, code: str, cause: Cause) -> None:
    """By its code and by who established it."""
    finding = Finding(gate, code, "text")
    assert cause_of(finding) is cause
    verdict = Verdict(outcome=Outcome.RETRY, checks=CHECKS, findings=(finding,))
    assert cause_of_verdict(verdict) is cause
    assert CAUSES[cause]


def test_what_is_done_has_no_cause() -> None:
    """Nothing has to change."""
    assert cause_of_verdict(Verdict(outcome=Outcome.DONE, checks=CHECKS)) is None
