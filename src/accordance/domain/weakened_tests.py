"""Tests that a change made weaker: gone, skipped, loosened, or adapted to the change.

A task that asks for another behaviour names the tests that may change.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from accordance.contracts.catalogue.task import TaskInput
from accordance.contracts.pins import Pins
from accordance.domain.facts import (
    WITH_FAILING_TESTS_AS_THEY_WERE,
    WITH_FAILING_TESTS_KEPT,
    WITH_TEST_POLICY,
    AttemptFacts,
    ChangeKind,
)
from accordance.domain.test_assertions import GONE
from accordance.domain.test_results import (
    TestOutcome,
    file_of,
    is_test_of,
)
from accordance.domain.test_runs import (
    comparison_with_base,
    given_up_tests,
    sound_outcomes,
)


@dataclass(frozen=True, slots=True)
class WeakenedTest:
    """A test that proves less than it did."""

    test: str
    file: str  # as far as it is known; else the test
    how: str


def weakened_tests(task: TaskInput, facts: AttemptFacts) -> tuple[WeakenedTest, ...]:
    """Every test that got weaker and that the task does not let change."""
    permitted = Pins.of(task.may_change_tests or ())
    weakened = []
    for candidate in (
        *_lost(facts),
        *_given_up(facts),
        *_removed(facts),
        *_adapted(facts),
        *_agreed_with_the_fault(facts),
        *_loosened(facts),
    ):
        is_named = candidate.test in (task.may_change_tests or ())
        if not is_named and candidate.file not in permitted:
            weakened.append(candidate)
    return tuple(weakened)


def _lost(facts: AttemptFacts) -> Iterator[WeakenedTest]:
    """Tests that passed at the base, and do not run any more."""
    comparison = comparison_with_base(facts)
    is_of_today = facts.version >= WITH_TEST_POLICY
    files = facts.changes.paths() if is_of_today else frozenset()
    groups = (
        ("passed before the change and are gone", comparison.removed),
        ("passed before the change and are skipped now", comparison.pass_to_skip),
    )
    for how, tests in groups:
        for test in tests:
            yield WeakenedTest(test, _file_among(test, files), how)


def _given_up(facts: AttemptFacts) -> Iterator[WeakenedTest]:
    """Tests that failed at the base, and were taken away in place of being mended."""
    if facts.version < WITH_FAILING_TESTS_KEPT:
        return
    given_up = given_up_tests(facts)
    groups = (
        ("failed before the change and are gone", given_up.gone),
        ("failed before the change and are skipped now", given_up.skipped),
    )
    for how, tests in groups:
        for test in tests:
            yield WeakenedTest(test, _file_among(test, facts.changes.paths()), how)


def _removed(facts: AttemptFacts) -> Iterator[WeakenedTest]:
    """Files of given tests that are gone: they ran, and would be gone with the change."""
    for change in facts.changes.changes:
        path = change.old_path or change.path
        is_gone = change.kind is ChangeKind.DELETED or bool(change.old_path)
        if is_gone and path in facts.given_tests:
            yield WeakenedTest(path, path, "given tests that were removed")


def _adapted(facts: AttemptFacts) -> Iterator[WeakenedTest]:
    """Tests that pass now, and whose old version passed at the base and fails now."""
    outcomes = _outcomes_of_old_versions(facts)
    if not outcomes:
        return

    for test in comparison_with_base(facts).pass_to_pass:
        file = _file_among(test, facts.old_tests.files)
        is_of_changed_file = file in facts.old_tests.files
        if is_of_changed_file and outcomes.get(test) is not TestOutcome.PASSED:
            how = "pass only because they were changed: their old version fails"
            yield WeakenedTest(test, file, how)


def _agreed_with_the_fault(facts: AttemptFacts) -> Iterator[WeakenedTest]:
    """Tests that failed at the base, pass now, and still fail as the base has them.

    The test was made to agree with the fault, in place of the fault being mended.
    """
    if facts.version < WITH_FAILING_TESTS_AS_THEY_WERE:
        return

    outcomes = _outcomes_of_old_versions(facts)
    for test in comparison_with_base(facts).fail_to_pass:
        file = _file_among(test, facts.old_tests.files)
        outcome = outcomes.get(test)
        if file in facts.old_tests.files and outcome is TestOutcome.FAILED:
            how = "failed before the change, and pass only because they were changed"
            yield WeakenedTest(test, file, how)


def _outcomes_of_old_versions(facts: AttemptFacts) -> Mapping[str, TestOutcome]:
    """What changed test files do on the new source, as the base has them."""
    return sound_outcomes(facts.old_tests.runs)


def _loosened(facts: AttemptFacts) -> Iterator[WeakenedTest]:
    """Tests whose text asserts less than before.

    A test that is gone from a file is reported by the runs, where they were compared
    and ran what the agent left.
    """
    is_compared = bool(facts.base_runs)
    for loosening in facts.loosened:
        ran_as_left = loosening.file not in facts.given_tests
        is_reported_by_runs = is_compared and ran_as_left
        if loosening.how == GONE and is_reported_by_runs:
            continue
        name = loosening.test.replace(".", "::")
        test = loosening.file
        if name:
            test += f"::{name}"
        yield WeakenedTest(test, loosening.file, loosening.how)


def _file_among(test: str, files: Collection[str]) -> str:
    """The file of a test, by its id or among the files that could hold it."""
    named = file_of(test)
    if named in files:
        return named
    for file in sorted(files):
        if is_test_of(test, file):
            return file
    return named
