"""What the gates make of tests that were reported by name, beside those of the base."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import (
    WITH_TEST_REPORTS,
    AttemptFacts,
    ChangeSet,
    CommandRun,
    Ending,
)
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.domain.test_runs import failed_runs
from accordance.gates.notices import notices
from accordance.gates.status import status
from accordance.gates.tests import tests as gate_of_tests
from tests.unit.cases import COMMAND, FACTS, a_case, a_submit, a_task

FILE = "tests/test_app.py"
Outcomes = dict[str, TestOutcome]
P, F, S = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.SKIPPED


def report(outcomes: Outcomes) -> TestReport:
    """A sound report of tests in one file."""
    results = [TestResult(f"{FILE}::{name}", how) for name, how in outcomes.items()]
    return TestReport("pytest", tuple(results))


def run(outcomes: Outcomes, code: int | None = None) -> CommandRun:
    """A run with a report; it exits with 1 if a test failed."""
    failed = F in outcomes.values()
    exit_code = int(failed) if code is None else code
    return CommandRun(COMMAND, exit_code, report=report(outcomes))


def facts(head: CommandRun, base: CommandRun | None = None) -> AttemptFacts:
    """Facts of today's version, with one run after the change and one before it."""
    base_runs = () if base is None else (base,)
    return replace(FACTS, runs=(head,), base_runs=base_runs, version=WITH_TEST_REPORTS)


def findings(given: AttemptFacts, **task: object) -> list[tuple[str, str]]:
    """The codes and messages of the gate of tests."""
    result = gate_of_tests(a_case(facts=given, task=a_task(**task)))
    return [(finding.code, finding.message) for finding in result.findings]


def codes(given: AttemptFacts, **task: object) -> list[str]:
    """The codes of the gate of tests."""
    return [code for code, _ in findings(given, **task)]


ALL_PASS = run({"a": P, "b": P})


def test_a_run_whose_tests_all_passed_is_accepted() -> None:
    assert codes(facts(ALL_PASS)) == []
    assert codes(facts(ALL_PASS, run({"a": F, "b": P}))) == []


def test_a_failed_test_is_named() -> None:
    ((code, message),) = findings(facts(run({"a": F, "b": P})))

    assert code == "CI_FAILED"
    assert "1 test of 2 failed (tests/test_app.py::a)" in message


def test_a_failed_test_counts_although_the_command_exits_with_success() -> None:
    assert codes(facts(run({"a": F}, code=0))) == ["CI_FAILED"]


@pytest.mark.parametrize(
    ("head", "base", "code"),
    [
        pytest.param({"a": F, "b": P}, {"a": F, "b": F}, [], id="another-was-fixed"),
        pytest.param({"a": F, "n": P}, {"a": F}, [], id="a-new-test-passes"),
        pytest.param({"a": F}, {"a": F}, ["CI_FAILED"], id="nothing-was-fixed"),
        pytest.param({"a": F}, {"a": P}, ["CI_FAILED"], id="broken-by-the-change"),
        pytest.param(
            {"a": F, "b": F}, {"a": F, "b": P}, ["CI_FAILED"], id="one-of-each"
        ),
    ],
)
def test_a_test_that_failed_at_the_base_is_excused_if_the_change_shows_something(
    head: Outcomes, base: Outcomes, code: list[str]
) -> None:
    assert codes(facts(run(head), run(base))) == code


def test_an_excused_failure_is_a_notice() -> None:
    given = facts(run({"a": F, "b": P}), run({"a": F, "b": F}))

    assert failed_runs(a_task(), given) == ()
    assert notices(a_case(facts=given)) == (
        "failed before the change, and still fail: tests/test_app.py::a",
    )


def test_a_run_that_was_ended_is_not_excused() -> None:
    stopped = replace(run({"a": F, "b": P}), ending=Ending.TIMED_OUT)

    assert codes(facts(stopped, run({"a": F, "b": F}))) == ["CI_FAILED"]


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ({"fail_to_pass": [f"{FILE}::a"]}, []),
        ({"fail_to_pass": [f"{FILE}::b"]}, ["CI_FAILED", "CI_FAILED"]),
        ({"pass_to_pass": [f"{FILE}::unknown"]}, ["CI_FAILED"]),
    ],
)
def test_a_task_can_name_the_tests_that_must_pass(
    expected: dict[str, object], code: list[str]
) -> None:
    given = facts(run({"a": P, "b": F}), run({"a": F, "b": F}))

    assert codes(given, **expected) == code


def test_an_unsound_report_shows_no_test_passed() -> None:
    unsound = replace(ALL_PASS, report=replace(report({"a": P}), tampered="why"))

    assert codes(facts(unsound), fail_to_pass=[f"{FILE}::a"]) == [
        "CI_FAILED",
        "TEST_RUN_TAMPERED",
    ]


def test_a_known_runner_without_a_report_has_not_run() -> None:
    unreported = CommandRun(COMMAND, 0)

    ((code, message),) = findings(facts(unreported))

    assert code == "TESTS_NOT_RUN"
    assert message.startswith("pytest left no report of its tests")


def test_a_plain_command_is_judged_by_its_exit_code() -> None:
    plain = CommandRun("make test", 0)

    assert codes(facts(plain), allowedTests=["make test"]) == []


def test_a_report_that_breaks_off_has_not_run() -> None:
    broken = replace(ALL_PASS, report=replace(report({"a": P}), incomplete="why"))

    assert codes(facts(broken)) == ["TESTS_NOT_RUN"]
    assert codes(facts(replace(broken, exit_code=1))) == ["CI_FAILED"]


@pytest.mark.parametrize("after", [{"b": P}, {"a": S, "b": P}])
def test_tests_that_passed_may_not_be_gone_or_skipped(after: Outcomes) -> None:
    assert codes(facts(run(after), ALL_PASS)) == ["TESTS_WEAKENED"]
    assert codes(facts(run(after), ALL_PASS), files=[FILE]) == []


def test_only_sound_reports_are_compared() -> None:
    unsound = replace(ALL_PASS, report=replace(report({"a": P}), incomplete="why"))
    of_another = replace(ALL_PASS, command="other")

    assert codes(facts(run({"b": P}), unsound)) == []
    assert codes(facts(run({"b": P}), of_another)) == []


def test_tests_that_tell_nothing_are_a_notice() -> None:
    silent = facts(ALL_PASS, ALL_PASS)
    telling = facts(ALL_PASS, run({"a": P, "b": F}))

    assert notices(a_case(facts=silent)) == (
        "no test tells this change: each passes without it, too",
    )
    assert notices(a_case(facts=telling)) == ()


def test_a_claim_of_failure_adds_nothing_to_a_run_that_failed() -> None:
    claim = a_submit(tests={"commands": [COMMAND], "passed": False, "summary": "no"})
    result = gate_of_tests(a_case(facts=facts(run({"a": F})), submit=claim))

    assert [finding.code for finding in result.findings] == ["CI_FAILED"]


def test_evidence_of_earlier_versions_is_judged_by_the_rules_of_its_time() -> None:
    unreported = replace(FACTS, runs=(CommandRun(COMMAND, 0),), changes=ChangeSet())

    assert codes(unreported) == []
    assert status(a_case(facts=unreported)).passed


def test_success_without_a_change_is_refused() -> None:
    unchanged = replace(FACTS, changes=ChangeSet(), version=WITH_TEST_REPORTS)

    (finding,) = status(a_case(facts=unchanged)).findings
    allowed = a_case(facts=unchanged, task=a_task(allow_no_change=True))

    rebased = replace(a_case(facts=unchanged), is_rebase=True)
    assert not status(rebased).findings  # another change has brought it already
    assert finding.code == "NOTHING_CHANGED"
    assert status(allowed).passed
