"""What the test runs of an attempt show, beside those of its base.

A test that failed before the change is not held against it; a test that passed before
must still be there and pass.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.facts import AttemptFacts, CommandRun, Ending
from accordance.domain.findings import listed
from accordance.domain.flaky_tests import excused_as_flaky, flaky_at_base
from accordance.domain.test_results import (
    SKIPS,
    Comparison,
    TestOutcome,
    TestReport,
    compare,
    is_failed_test,
    outcomes_of,
)

_ENDINGS: Final[Mapping[Ending, str]] = MappingProxyType(
    {
        Ending.TIMED_OUT: "ran into its time limit",
        Ending.OUTPUT_LIMIT: "wrote more than it may",
        Ending.NOT_STARTED: "could not be started",
    }
)


def comparison_with_base(facts: AttemptFacts) -> Comparison:
    """Hold the tests after the change against those before it."""
    base, head = _compared_reports(facts)
    return compare(base, head)


def given_up_tests(facts: AttemptFacts) -> GivenUpTests:
    """The tests that failed before the change, and do not run any more."""
    base, head = _compared_reports(facts)
    after = outcomes_of(head)
    gone = []
    skipped = []
    for test, outcome in sorted(outcomes_of(base).items()):
        if not is_failed_test(test, outcome):
            continue
        if test not in after:
            gone.append(test)
        elif after[test] in SKIPS:
            skipped.append(test)
    return GivenUpTests(tuple(gone), tuple(skipped))


class GivenUpTests(NamedTuple):
    """Tests that need no more mending."""

    gone: tuple[str, ...]
    skipped: tuple[str, ...]


def _compared_reports(
    facts: AttemptFacts,
) -> tuple[list[TestReport], list[TestReport]]:
    """The reports of the commands with a sound report before and after the change."""
    before = {run.command: run.sound_report for run in facts.base_runs}
    base = []
    head = []
    for run in facts.runs:
        report_before = before.get(run.command)
        report_after = run.sound_report
        if report_before is not None and report_after is not None:
            base.append(report_before)
            head.append(report_after)
    return base, head


def sound_outcomes(runs: Iterable[CommandRun]) -> Mapping[str, TestOutcome]:
    """What the tests of several runs did, as far as their reports are sound."""
    reports = []
    for run in runs:
        if run.sound_report is not None:
            reports.append(run.sound_report)
    return outcomes_of(reports)


def missing_in_environment(facts: AttemptFacts) -> tuple[CommandRun, ...]:
    """The runs that lacked a program or module which they lack on the base as well.

    Where the base has it, the change has taken it away.
    """
    before = {run.command: run for run in facts.base_runs}
    lacking = []
    for run in facts.runs:
        if not run.missing:
            continue
        run_before = before.get(run.command)
        if run_before is None or run_before.missing == run.missing:
            lacking.append(run)
    return tuple(lacking)


def tells_the_change(facts: AttemptFacts) -> bool:
    """Whether a test passes after the change, and does not pass without it.

    A new test counts if it fails on the source of the base, as far as that was tried.
    """
    comparison = comparison_with_base(facts)
    mended = frozenset(comparison.fail_to_pass) - flaky_at_base(facts)
    if mended:
        return True
    on_base = sound_outcomes(facts.new_tests.runs)
    for test in comparison.added_passing:
        if on_base.get(test) is not TestOutcome.PASSED:
            return True
    return False


def failure_of(run: CommandRun, excused: Collection[str]) -> str:
    """Return how a run failed, or nothing.

    Excused tests are not held against the change, and neither is an exit code that they
    explain.
    """
    failed = run.failed_tests
    new_failures = [test for test in failed if test not in excused]
    if new_failures:
        count = len(new_failures)
        noun = "test" if count == 1 else "tests"
        total = len(run.results)
        return f"{count} {noun} of {total} failed ({listed(new_failures)})"

    if run.passed:
        return ""
    is_explained = failed and run.ending is Ending.EXITED
    if is_explained:
        return ""
    exit_code = f"exit code {run.exit_code}"
    return _ENDINGS.get(run.ending, exit_code)


def excused_failures(task: TaskInput, facts: AttemptFacts) -> frozenset[str]:
    """The tests that failed at the base and may still fail, and flaky ones.

    The former are excused only where something else shows that the change does its
    work: the tests that the task says must pass, or a test that passes now and did not
    before.
    """
    flaky = excused_as_flaky(facts)
    named = task.fail_to_pass or ()
    are_named = bool(named) or facts.hidden is not None
    is_shown_otherwise = are_named or tells_the_change(facts)
    if not is_shown_otherwise:
        return flaky
    comparison = comparison_with_base(facts)
    failed_before = frozenset(comparison.fail_to_fail)
    return failed_before.difference(named) | flaky


def failed_runs(task: TaskInput, facts: AttemptFacts) -> tuple[CommandRun, ...]:
    """The runs that failed because of the change, or for no known reason."""
    excused = excused_failures(task, facts)
    return tuple(run for run in facts.runs if failure_of(run, excused))


def unmet_expectations(task: TaskInput, facts: AttemptFacts) -> tuple[str, ...]:
    """The tests that the task says must pass, and that did not."""
    hidden = () if facts.hidden is None else facts.hidden.runs
    passed = _passed_tests((*facts.runs, *hidden))
    fail_to_pass = task.fail_to_pass or ()
    pass_to_pass = task.pass_to_pass or ()
    expected = dict.fromkeys((*fail_to_pass, *pass_to_pass))
    return tuple(test for test in expected if test not in passed)


def _passed_tests(runs: Iterable[CommandRun]) -> set[str]:
    """The tests that passed in some run whose report is sound."""
    passed = set()
    for run in runs:
        if run.sound_report is None:
            continue
        for result in run.results:
            if result.outcome is TestOutcome.PASSED:
                passed.add(result.test)
    return passed
