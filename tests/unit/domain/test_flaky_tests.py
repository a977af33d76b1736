"""Flaky tests: told apart from broken ones, excused only where they may be flaky."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import (
    WITH_TEST_POLICY,
    AttemptFacts,
    CommandRun,
    TestReruns,
)
from accordance.domain.flaky_tests import may_be_flaky
from accordance.domain.test_proof import tests_do_not_tell as do_not_tell
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.gates.notices import notices
from accordance.gates.tests import tests as gate_of_tests
from tests.unit.cases import COMMAND, FACTS, a_case, a_task

P, F = TestOutcome.PASSED, TestOutcome.FAILED
A, B = "tests/test_app.py::a", "tests/test_app.py::b"


def run(outcomes: dict[str, TestOutcome]) -> CommandRun:
    """A run with a report; it exits with 1 if a test failed."""
    results = [TestResult(test, how) for test, how in outcomes.items()]
    exit_code = int(F in outcomes.values())
    return CommandRun(COMMAND, exit_code, report=TestReport("pytest", tuple(results)))


def facts(
    head: dict[str, TestOutcome], base: dict[str, TestOutcome], *reruns: TestReruns
) -> AttemptFacts:
    """Facts of today's version, with reruns."""
    return replace(
        FACTS,
        runs=(run(head),),
        base_runs=(run(base),),
        reruns=reruns,
        version=WITH_TEST_POLICY,
    )


def codes(given: AttemptFacts) -> list[str]:
    """The codes of the gate of tests."""
    return [finding.code for finding in gate_of_tests(a_case(facts=given)).findings]


PASSED_AGAIN = TestReruns(COMMAND, A, (F, P))
FAILED_AGAIN = TestReruns(COMMAND, A, (F, F), permitted=True)


@pytest.mark.parametrize(
    ("reruns", "expected_codes", "notice"),
    [
        pytest.param(
            replace(PASSED_AGAIN, permitted=True),
            [],
            "flaky, as the settings permit: failed, and passed when run again: " + A,
            id="permitted",
        ),
        pytest.param(
            PASSED_AGAIN,
            ["CI_FAILED"],
            "flaky: failed, and passed when run again: " + A,
            id="not permitted",
        ),
        pytest.param(FAILED_AGAIN, ["CI_FAILED"], None, id="broken"),
    ],
)
def test_a_flaky_test_is_excused_where_it_may_be_flaky_and_never_in_silence(
    reruns: TestReruns, expected_codes: list[str], notice: str | None
) -> None:
    given = facts({A: F, B: P}, {A: P, B: F}, reruns)

    assert codes(given) == expected_codes
    assert notices(a_case(facts=given)) == (() if notice is None else (notice,))


def test_a_test_that_is_flaky_at_the_base_tells_nothing() -> None:
    flaky = TestReruns(COMMAND, A, (P,), on_base=True)
    given = facts({A: P, B: P}, {A: F, B: P}, flaky)
    broken = facts({A: P, B: P}, {A: F, B: P}, replace(flaky, outcomes=(F, F)))

    assert do_not_tell(a_task(), given)
    assert not do_not_tell(a_task(), broken)
    assert f"flaky without the change, so they tell nothing: {A}" in notices(
        a_case(facts=given)
    )


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        ([], False),
        (["tests/test_app.py"], True),
        (["tests/**"], True),
        ([A], True),
        ([B], False),
    ],
)
def test_tests_that_may_be_flaky_are_named_by_file_or_id(
    patterns: list[str], expected: bool
) -> None:
    assert may_be_flaky(A, patterns) is expected
