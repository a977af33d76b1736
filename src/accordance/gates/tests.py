"""Whether every test passed, in our own run, in a way that proves something."""

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
    """Every allowed test ran and passed, nothing steered it, and the agent does not say otherwise."""
    if case.facts.isolation_missing:
        message = f"no test was run: {case.facts.isolation_missing}"
        return Result(
            Gate.TESTS, (Finding(Gate.TESTS, "ISOLATION_UNAVAILABLE", message),)
        )
    return Result(
        Gate.TESTS, (*_proof(case), *_steered(case), *_runs(case), *_said_to_fail(case))
    )


def _proof(case: Case) -> Iterator[Finding]:
    """A role whose work must be tested has a test, and not only a self-test."""
    if not case.role.tests_required:
        return
    if not case.tests:
        yield _finding(
            "CI_SKIPPED", "no test command: nothing shows that the work is done"
        )
    elif all(map(is_self_test, case.tests)):
        text = "only the task's own self-test: nothing else shows that the work is done"
        yield _finding("TESTS_ONLY_TASK_SELFTEST", text, *case.tests)


def _steered(case: Case) -> Iterator[Finding]:
    """A file that decides how tests run was changed only if the task names it."""
    unnamed = sorted(
        one.path for one in case.facts.steering if not case.names(one.path)
    )
    if unnamed:
        text = f"decide how tests run and were changed without being pinned by name: {listed(unnamed)}"
        yield _finding("TEST_STEERING_CHANGED", text, *unnamed[:MAX_NAMED])


def _runs(case: Case) -> Iterator[Finding]:
    """Every allowed test was run, each one passed."""
    runs = {run.command: run for run in case.facts.runs}
    for command in dict.fromkeys(case.tests):
        run = runs.get(command)
        if run is None:
            yield _finding("CI_FAILED", f"was not run: {command}", command)
        elif not run.passed:
            yield _finding(
                "CI_FAILED", f"{_ending(run)}: {command}{_boast(case)}", command
            )


def _ending(run: CommandRun) -> str:
    return _ENDINGS.get(run.ending, f"exit code {run.exit_code}")


def _boast(case: Case) -> str:
    """What the agent says about the same tests, where that is more than they show."""
    return (
        " (the agent says that tests passed)"
        if case.claim and case.claim.tests.passed
        else ""
    )


def _said_to_fail(case: Case) -> Iterator[Finding]:
    """A submission that says its tests fail is believed; where our own run shows it, nothing is added."""
    shown = any(not run.passed for run in case.facts.runs)
    if case.claim and not case.claim.tests.passed and not shown:
        yield _finding(
            "CI_FAILED", "the submission says that tests fail", "tests.passed"
        )


def _finding(code: str, message: str, *about: str) -> Finding:
    return Finding(Gate.TESTS, code, message, about)
