"""Running failing tests again, each alone, to tell flaky tests from broken tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from accordance.domain.facts import AttemptFacts, CommandRun, TestReruns
from accordance.domain.flaky_tests import MOST_RERUN, may_be_flaky
from accordance.domain.test_results import TestOutcome
from accordance.domain.test_runs import comparison_with_base
from accordance.workspace.testing import TestRuns


@dataclass(frozen=True, slots=True)
class RerunPolicy:
    """How often a failing test is run again, and which may be flaky."""

    times: int = 0
    may_be_flaky: tuple[str, ...] = ()


def rerun(
    facts: AttemptFacts,
    policy: RerunPolicy,
    on_head: Callable[[str, str], TestRuns],
    on_base: Callable[[str, str], TestRuns],
) -> Iterator[TestReruns]:
    """Yield what failing tests do when they are run again.

    Both callables run a single test of a command. On the base, only tests that pass after
    the change are run again: if they are flaky, they do not tell the change.
    """
    for run in facts.runs:
        for test in _failed(run):
            outcomes = tuple(_outcomes(run.command, test, policy.times, on_head))
            permitted = may_be_flaky(test, policy.may_be_flaky)
            yield TestReruns(run.command, test, outcomes, permitted=permitted)

    mended = frozenset(comparison_with_base(facts).fail_to_pass)
    for run in facts.base_runs:
        for test in _failed(run):
            if test in mended:
                outcomes = tuple(_outcomes(run.command, test, policy.times, on_base))
                yield TestReruns(run.command, test, outcomes, on_base=True)


def _failed(run: CommandRun) -> list[str]:
    """The failing tests of a run, unless there are too many to be flaky."""
    if run.report is None or not run.report.is_sound:
        return []
    failed = [result.test for result in run.report.failed]
    return failed if len(failed) <= MOST_RERUN else []


def _outcomes(
    command: str,
    test: str,
    times: int,
    run_again: Callable[[str, str], TestRuns],
) -> Iterator[TestOutcome]:
    """Yield the outcome of each run, until the test passes."""
    for _ in range(times):
        reports = [run.report for run in run_again(command, test).runs]
        report = reports[0] if reports else None
        if report is None or not report.is_sound:
            return
        outcome = report.outcomes.get(test)
        if outcome is None:
            return
        yield outcome
        if outcome is TestOutcome.PASSED:
            return
