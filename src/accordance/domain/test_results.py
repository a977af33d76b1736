"""Test results: what became of each test of a run, and how two runs compare.

A run is believed test by test, not by its exit code: code of the judged tree runs in
the same process as the tests and can end it with any code it likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from accordance.domain.test_files import is_test_file


class TestOutcome(StrEnum):
    """What became of a test."""

    __test__ = False  # the word means something else to pytest

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"  # before or after the test itself, or while it was collected
    SKIPPED = "skipped"
    XFAILED = "xfailed"  # failed, as its author expects
    XPASSED = "xpassed"


FAILURES: Final = frozenset({TestOutcome.FAILED, TestOutcome.ERROR})
SKIPS: Final = frozenset({TestOutcome.SKIPPED, TestOutcome.XFAILED})
_UNITTEST_ID: Final = re.compile(r"\w+(?:\.\w+){2,}")  # module, class and method
_NOT_LOADED: Final = "unittest.loader."  # in place of a module that cannot be read


@dataclass(frozen=True, slots=True)
class TestResult:
    """A test of a run."""

    __test__ = False

    test: str  # its id, as its runner names it
    outcome: TestOutcome
    seconds: float = 0.0
    text: str = ""  # why it failed

    @property
    def failed(self) -> bool:
        """Whether it failed unexpectedly."""
        return self.outcome in FAILURES


@dataclass(frozen=True, slots=True)
class TestReport:
    """Every test of a command, as our own reporter saw it."""

    __test__ = False

    runner: str
    results: tuple[TestResult, ...] = ()
    incomplete: str = ""  # why the report ends too early, or says nothing
    tampered: str = ""  # why it cannot be believed
    written_by_run: bool = False  # by the tool itself, without canaries: weaker

    @property
    def failed(self) -> tuple[TestResult, ...]:
        """The tests that failed."""
        return tuple(result for result in self.results if result.failed)

    @property
    def is_sound(self) -> bool:
        """Whether every test was reported, and truly."""
        return not self.incomplete and not self.tampered

    @property
    def outcomes(self) -> Mapping[str, TestOutcome]:
        """What became of each test, by its id."""
        return {result.test: result.outcome for result in self.results}


def file_of(test: str) -> str:
    """The file of a test, as far as its id says so; else the id."""
    return test.partition("::")[0].partition(" > ")[0]


def is_failed_test(test: str, outcome: TestOutcome) -> bool:
    """Whether an outcome is the failure of a test, and not of what surrounds it.

    A whole file that cannot be read has an id, too, and so has a fixture of a class.
    For unittest, a test that raises anything is an error.
    """
    is_part_of_file = "::" in test or " > " in test
    is_whole_file = not is_part_of_file and ("/" in test or is_test_file(test))
    if is_whole_file:
        return False
    is_of_unittest = _UNITTEST_ID.fullmatch(test) is not None
    is_error_of_test = is_of_unittest and not test.startswith(_NOT_LOADED)
    return outcome is TestOutcome.FAILED or (
        outcome is TestOutcome.ERROR and is_error_of_test
    )


def is_test_of(test: str, path: str) -> bool:
    """Whether a test belongs to a file, by its path or by the module that it is."""
    if file_of(test) == path:
        return True
    module = path.rpartition("/")[2].rpartition(".")[0]
    return module in test.split(".")


@dataclass(frozen=True, slots=True)
class Comparison:
    """The tests of an attempt beside those of its base, by id.

    The names are those of SWE-bench: FAIL_TO_PASS and PASS_TO_PASS.
    """

    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    pass_to_fail: tuple[str, ...] = ()
    fail_to_fail: tuple[str, ...] = ()  # failed before anybody touched anything
    pass_to_skip: tuple[str, ...] = ()  # skipped now, or expected to fail
    removed: tuple[str, ...] = ()  # passed at the base, and are gone
    added_passing: tuple[str, ...] = ()
    added_failing: tuple[str, ...] = ()

    @property
    def tells_the_change(self) -> bool:
        """Whether a test passes now that did not pass, or was not there, before."""
        return bool(self.fail_to_pass or self.added_passing)


def compare(base: Iterable[TestReport], head: Iterable[TestReport]) -> Comparison:
    """Hold the tests of an attempt against those of its base.

    A test that several commands run counts by its worst outcome.
    """
    before = outcomes_of(base)
    after = outcomes_of(head)
    sorted_into: dict[str, list[str]] = {}
    for test in sorted(before.keys() | after.keys()):
        kind = _kind_of_change(before.get(test), after.get(test))
        if kind:
            sorted_into.setdefault(kind, []).append(test)
    groups = {kind: tuple(tests) for kind, tests in sorted_into.items()}
    return Comparison(**groups)


def _kind_of_change(before: TestOutcome | None, after: TestOutcome | None) -> str:
    """The group of a test, by its name in Comparison; empty where nothing follows."""
    did_pass = before is TestOutcome.PASSED
    does_pass = after is TestOutcome.PASSED
    does_fail = after in FAILURES

    if before is None:
        return "added_passing" if does_pass else "added_failing" if does_fail else ""
    if after is None:
        return "removed" if did_pass else ""
    if did_pass:
        if does_pass:
            return "pass_to_pass"
        return "pass_to_fail" if does_fail else "pass_to_skip"
    if does_pass:
        return "fail_to_pass"
    return "fail_to_fail" if does_fail and before in FAILURES else ""


_BADNESS: Final = (
    TestOutcome.PASSED,
    TestOutcome.XPASSED,
    TestOutcome.XFAILED,
    TestOutcome.SKIPPED,
    TestOutcome.ERROR,
    TestOutcome.FAILED,
)


def worst(outcomes: Iterable[TestOutcome]) -> TestOutcome:
    """The outcome that counts where there are several."""
    return max(outcomes, key=_BADNESS.index)


def outcomes_of(reports: Iterable[TestReport]) -> dict[str, TestOutcome]:
    """What became of each test; of several outcomes the worst counts."""
    known: dict[str, TestOutcome] = {}
    for report in reports:
        for test, outcome in report.outcomes.items():
            seen = known.get(test, outcome)
            known[test] = worst((seen, outcome))
    return known
