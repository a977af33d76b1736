"""Reading what our reporter wrote while tests ran: a line of JSON for each event.

The file was in reach of the tests. So nothing in it is taken for granted: lines are
numbered without a gap, a run ends with canaries and an `end`, each canary is reported
as it is, and no test passes whose body raised. A broken rule is reported, not repaired.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.json_numbers import as_number
from accordance.domain.test_results import (
    FAILURES,
    TestOutcome,
    TestReport,
    TestResult,
    worst,
)
from accordance.domain.test_runners import PYTEST, UNITTEST

MAX_BYTES: Final = 64 << 20
_MOST_TEXT: Final = 4000
IN_ONE_PROCESS: Final = (PYTEST, UNITTEST)
"""Runners that share their process with the tests, so that canaries must fly in it."""
_Event = Mapping[str, object]


class StreamBroken(ValueError):
    """A line that our reporter cannot have written."""


@dataclass
class _Run:
    """The events of a process, read so far."""

    runner: str = ""
    count: int = 0  # of its events
    tests_seen: bool = False
    is_part: bool = False  # a worker of a run that another process leads
    is_over: bool = False
    status: int | None = None
    last_event: str = ""
    phases: dict[str, list[TestOutcome]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    problem: str = ""

    def take(self, event: _Event) -> None:
        """Take in the next event of this process. Raises StreamBroken."""
        if event.get("number") != self.count:
            raise StreamBroken("lacks a line, or has a line too many")
        self.count += 1
        kind = event.get("event")
        if self.is_over and kind != "begin":
            raise StreamBroken("goes on after its end")
        if kind == "begin":
            self._begin(event)
        elif kind == "result":
            self._result(event)
        elif kind == "canary":
            self._canary(event)
        elif kind == "end":
            self._end(event)
        elif kind != "collected":
            raise StreamBroken("holds an unknown event")
        self.last_event = str(kind)

    def _begin(self, event: _Event) -> None:
        self.runner = str(event.get("runner"))
        self.is_part = event.get("part") is True
        self.is_over = False

    def _result(self, event: _Event) -> None:
        test = _text(event, "test")
        phase = _text(event, "phase")
        outcome = _outcome(event, phase)
        if phase != "collect":
            self.tests_seen = True
        if phase == "setup":  # a test that is run again counts by its last run
            self.phases.pop(test, None)
        self.phases.setdefault(test, []).append(outcome)
        self.seconds[test] = self.seconds.get(test, 0.0) + _number(event, "seconds")
        if outcome in FAILURES:
            self.texts[test] = str(event.get("text", ""))[:_MOST_TEXT]
        if outcome is TestOutcome.PASSED and event.get("raised") is True:
            self.problem = f"{test} raised an error and was reported as passed"

    def _canary(self, event: _Event) -> None:
        expected = _text(event, "expected")
        outcome = _text(event, "outcome")
        if outcome != expected:
            name = _text(event, "name")
            self.problem = (
                f"a canary that {name} was reported as {outcome}: "
                "the test runner does not report what happens"
            )

    def _end(self, event: _Event) -> None:
        needs_canaries = self.tests_seen and self.runner in IN_ONE_PROCESS
        if needs_canaries and self.last_event != "canary":
            raise StreamBroken("ends without its canaries")
        self.is_over = True
        self.status = int(_number(event, "status"))

    def results(self) -> Iterator[TestResult]:
        """Every test of this process, with the outcome of all its phases together."""
        for test, outcomes in self.phases.items():
            outcome = worst(outcomes)
            seconds = round(self.seconds[test], 4)
            yield TestResult(
                test=test,
                outcome=outcome,
                seconds=seconds,
                text=self.texts.get(test, ""),
            )


def read_stream(lines: Iterable[bytes]) -> TestReport | None:
    """The report in the lines of a stream; None where no runner of tests ever began."""
    runs: dict[int, _Run] = {}
    try:
        for line in lines:
            event = _event(line)
            process = int(_number(event, "pid"))
            runs.setdefault(process, _Run()).take(event)
    except StreamBroken as error:
        runner = _runner(runs)
        return TestReport(runner, tampered=f"the report of the run {error}")
    if not runs:
        return None
    return _report(runs)


def _report(runs: Mapping[int, _Run]) -> TestReport:
    results: dict[str, TestResult] = {}
    for run in runs.values():
        for result in run.results():
            known = results.get(result.test)
            if (
                known is None
                or worst((known.outcome, result.outcome)) is not known.outcome
            ):
                results[result.test] = result
    tests = tuple(results.values())
    return TestReport(
        _runner(runs),
        tests,
        incomplete=_incomplete(runs.values(), len(tests)),
        tampered=_tampered(runs.values()),
    )


def _runner(runs: Mapping[int, _Run]) -> str:
    names = dict.fromkeys(run.runner for run in runs.values() if run.runner)
    return ", ".join(names)


def _incomplete(runs: Iterable[_Run], tests: int) -> str:
    if any(not run.is_over for run in runs):
        return f"the test process ended before its run was over, after {tests} tests"
    if not tests:
        return "no test was run"
    return ""


def _tampered(runs: Iterable[_Run]) -> str:
    for run in runs:
        if run.problem:
            return run.problem
        failed = any(worst(phases) in FAILURES for phases in run.phases.values())
        if failed and run.status == 0:
            return "tests failed, and the run says that it succeeded"
    return ""


def _event(line: bytes) -> _Event:
    try:
        event = json.loads(line)
    except ValueError:
        raise StreamBroken("holds a line that is no event") from None
    if not isinstance(event, dict):
        raise StreamBroken("holds a line that is no event")
    return event


def _text(event: _Event, key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise StreamBroken(f"holds an event without {key}")
    return value


def _number(event: _Event, key: str) -> float:
    number = as_number(event.get(key))
    if number is None:
        raise StreamBroken(f"holds an event without {key}")
    return number


def _outcome(event: _Event, phase: str) -> TestOutcome:
    word = _text(event, "outcome")
    if word == "rerun":  # by a plugin that tries failing tests again
        return TestOutcome.FAILED
    if word == "failed" and phase != "call":
        return TestOutcome.ERROR
    try:
        return TestOutcome(word)
    except ValueError:
        raise StreamBroken(f"holds an unknown outcome, {word[:40]!r}") from None
