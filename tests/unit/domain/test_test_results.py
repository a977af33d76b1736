"""How the tests of an attempt compare with those of its base."""

from __future__ import annotations

import pytest

from accordance.domain.test_results import (
    Comparison,
    TestOutcome,
    TestReport,
    TestResult,
    compare,
    is_test_of,
)

P, F, E, S, X = (
    TestOutcome.PASSED,
    TestOutcome.FAILED,
    TestOutcome.ERROR,
    TestOutcome.SKIPPED,
    TestOutcome.XFAILED,
)


def report(*outcomes: TestOutcome | None) -> TestReport:
    """A report of the test `t`, once for each outcome."""
    results = (TestResult("t", outcome) for outcome in outcomes if outcome)
    return TestReport("pytest", tuple(results))


@pytest.mark.parametrize(
    ("before", "after", "group"),
    [
        (P, P, "pass_to_pass"),
        (P, F, "pass_to_fail"),
        (P, E, "pass_to_fail"),
        (P, S, "pass_to_skip"),
        (P, X, "pass_to_skip"),
        (P, None, "removed"),
        (F, P, "fail_to_pass"),
        (E, P, "fail_to_pass"),
        (S, P, "fail_to_pass"),
        (F, F, "fail_to_fail"),
        (E, F, "fail_to_fail"),
        (S, F, ""),
        (F, None, ""),
        (F, S, ""),
        (S, S, ""),
        (None, P, "added_passing"),
        (None, F, "added_failing"),
        (None, S, ""),
    ],
)
def test_a_test_belongs_to_the_group_of_its_outcomes(
    before: TestOutcome | None, after: TestOutcome | None, group: str
) -> None:
    expected = Comparison(**{group: ("t",)}) if group else Comparison()

    assert compare([report(before)], [report(after)]) == expected


def test_a_test_of_several_commands_counts_by_its_worst_outcome() -> None:
    assert compare([report(P)], [report(P), report(F)]).pass_to_fail == ("t",)
    assert compare([report(P), report(F)], [report(P)]).fail_to_pass == ("t",)


@pytest.mark.parametrize(
    ("comparison", "tells"),
    [
        (Comparison(fail_to_pass=("t",)), True),
        (Comparison(added_passing=("t",)), True),
        (Comparison(pass_to_pass=("t",)), False),
        (Comparison(fail_to_fail=("t",)), False),
    ],
)
def test_a_change_is_told_by_a_test_that_did_not_pass_before(
    comparison: Comparison, tells: bool
) -> None:
    assert comparison.tells_the_change is tells


@pytest.mark.parametrize(
    ("test", "path", "expected"),
    [
        ("tests/test_app.py::test_last", "tests/test_app.py", True),
        ("tests/app.test.js > last", "tests/app.test.js", True),
        ("test_app.Last.test_last", "tests/test_app.py", True),
        ("tests/test_app.py::test_last", "tests/test_other.py", False),
        ("test_app.Last.test_last", "tests/test_other.py", False),
    ],
)
def test_a_test_is_of_its_file(test: str, path: str, expected: bool) -> None:
    assert is_test_of(test, path) is expected
