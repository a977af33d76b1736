"""Whether every test passed in our own run, in a way that proves something."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from accordance.contracts.catalogue.task import is_self_test
from accordance.domain.case import Case
from accordance.domain.facts import CommandRun, Ending
from accordance.domain.findings import MAX_NAMED, Finding, Gate, Result, listed

_ENDINGS: Final[Mapping[Ending, str]] = MappingProxyType(
    {
        Ending.TIMED_OUT: "ran into its time limit",
        Ending.OUTPUT_LIMIT: "wrote more than it may",
        Ending.NOT_STARTED: "could not be started",
    }
)


def tests(case: Case) -> Result:
    """Every test ran and passed, nothing steered it, and the agent agrees."""
    if case.facts.isolation_missing:
        text = f"no test was run: {case.facts.isolation_missing}"
        return Result(Gate.TESTS, (_finding("ISOLATION_UNAVAILABLE", text),))

    findings = (
        *_missing_proof(case),
        *_changed_steering(case),
        *_failed_runs(case),
        *_admitted_failure(case),
    )
    return Result(Gate.TESTS, findings)


def _missing_proof(case: Case) -> Iterator[Finding]:
    """A role whose work must be tested has a test, and not only a self-test."""
    if not case.role.tests_required:
        return

    if not case.tests:
        text = "no test command: nothing shows that the work is done"
        yield _finding("CI_SKIPPED", text)
    elif all(is_self_test(command) for command in case.tests):
        text = "only the task's own self-test: nothing else shows that the work is done"
        yield _finding("TESTS_ONLY_TASK_SELFTEST", text, *case.tests)


def _changed_steering(case: Case) -> Iterator[Finding]:
    """A file that decides how tests run may change only if the task names it."""
    steering = (file.path for file in case.facts.steering)
    unnamed = sorted(path for path in steering if not case.names(path))
    if unnamed:
        text = (
            "decide how tests run and were changed without being pinned by name: "
            f"{listed(unnamed)}"
        )
        yield _finding("TEST_STEERING_CHANGED", text, *unnamed[:MAX_NAMED])


def _failed_runs(case: Case) -> Iterator[Finding]:
    """Every test was run, and each of them passed."""
    claims_success = case.claim is not None and case.claim.tests.passed
    contradiction = " (the agent says that tests passed)" if claims_success else ""

    runs = {run.command: run for run in case.facts.runs}
    for command in dict.fromkeys(case.tests):
        run = runs.get(command)
        if run is None:
            yield _finding("CI_FAILED", f"was not run: {command}", command)
        elif not run.passed:
            text = f"{_ending(run)}: {command}{contradiction}"
            yield _finding("CI_FAILED", text, command)


def _ending(run: CommandRun) -> str:
    return _ENDINGS.get(run.ending, f"exit code {run.exit_code}")


def _admitted_failure(case: Case) -> Iterator[Finding]:
    """A submission that says its tests fail is believed.

    Nothing is added where our own run shows a failure.
    """
    if case.claim is None or case.claim.tests.passed:
        return
    has_failed_run = any(not run.passed for run in case.facts.runs)
    if not has_failed_run:
        text = "the submission says that tests fail"
        yield _finding("CI_FAILED", text, "tests.passed")


def _finding(code: str, text: str, *about: str) -> Finding:
    return Finding(
        Gate.TESTS,
        code,
        message=text,
        about=about,
    )
