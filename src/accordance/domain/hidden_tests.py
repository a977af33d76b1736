"""Tests that no agent sees: what their runs show, in numbers and never by name.

Code of the agent runs beside them. It could put anything into the name of a test or the
text of a failure, and read it in the feedback to the next attempt.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from accordance.domain.facts import AttemptFacts, CommandRun, Ending
from accordance.domain.test_results import TestResult, is_test_of
from accordance.domain.test_runners import runners_of


@dataclass(frozen=True, slots=True)
class HiddenFault:
    """What is wrong with a run of hidden tests: its fail code, and its wording."""

    code: str
    text: str


def hidden_faults(
    facts: AttemptFacts, excused: Collection[str]
) -> Iterator[HiddenFault]:
    """Yield what is wrong with each run of hidden tests.

    Excused are the tests of the base that failed before the change.
    """
    if facts.hidden is None:
        return
    for run in facts.hidden.runs:
        fault = _fault_of(run, facts, excused)
        if fault is not None:
            yield fault


def _fault_of(
    run: CommandRun,
    facts: AttemptFacts,
    excused: Collection[str],
) -> HiddenFault | None:
    report = run.report
    if report is not None and report.tampered:
        text = "the report of the hidden tests is not what happened"
        return HiddenFault("TEST_RUN_TAMPERED", text)

    new_failures = [test for test in run.failed_tests if test not in excused]
    if new_failures:
        text = f"{len(new_failures)} of {_number(run, facts)} hidden tests failed"
        return HiddenFault("CI_FAILED", text)

    has_failed_tests = bool(run.failed_tests)
    is_explained = has_failed_tests and run.ending is Ending.EXITED
    if not run.passed and not is_explained:
        return HiddenFault("CI_FAILED", "the hidden tests failed")
    return _why_not_run(run, facts)


def _why_not_run(run: CommandRun, facts: AttemptFacts) -> HiddenFault | None:
    report = run.report
    if report is None:
        if not runners_of(run.command):
            return None
        return HiddenFault("TESTS_NOT_RUN", "the hidden tests left no report")
    if report.incomplete:
        text = "the hidden tests did not run to their end"
        return HiddenFault("TESTS_NOT_RUN", text)
    if not _number(run, facts):
        return HiddenFault("TESTS_NOT_RUN", "none of the hidden tests was run")
    return None


def _number(run: CommandRun, facts: AttemptFacts) -> int:
    """How many hidden tests a run reports."""
    files = () if facts.hidden is None else facts.hidden.files
    seen: set[str] = set()
    for other in facts.runs:
        seen.update(result.test for result in other.results)
    return sum(_is_hidden(result, files, seen) for result in run.results)


def _is_hidden(
    result: TestResult,
    files: Collection[str],
    seen: Collection[str],
) -> bool:
    """Whether a test is of a hidden file, or is known from no other run."""
    is_new = result.test not in seen
    return is_new or any(is_test_of(result.test, path) for path in files)
