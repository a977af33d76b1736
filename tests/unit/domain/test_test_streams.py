"""The stream of a reporter: what it says of the tests, and what shows that it was written by another hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance.domain.test_results import TestReport
from accordance.domain.test_streams import read_stream

Event = dict[str, Any]


def begin(runner: str = "pytest", **more: object) -> Event:
    return {"event": "begin", "runner": runner, **more}


def result(test: str, outcome: str, phase: str = "call", **more: object) -> Event:
    return {
        "event": "result",
        "test": test,
        "phase": phase,
        "outcome": outcome,
        "seconds": 0.25,
        **more,
    }


def canary(outcome: str = "failed") -> Event:
    return {
        "event": "canary",
        "name": "fails",
        "expected": "failed",
        "outcome": outcome,
    }


def end(status: object = 0) -> Event:
    return {"event": "end", "status": status}


def read(*events: Event, pid: object = 1) -> TestReport:
    """Read the events of a process, numbered as its reporter numbers them."""
    lines = [{"pid": pid, "number": at, **event} for at, event in enumerate(events)]
    report = read_stream(json.dumps(line).encode() for line in lines)
    assert report is not None
    return report


def test_an_honest_run() -> None:
    """Each test with the outcome and the time of all its phases together."""
    report = read(
        begin(),
        result("a", "passed", phase="setup"),
        result("a", "passed"),
        result("b", "failed", text="1 != 2"),
        canary(),
        end(status=1),
    )
    seen = [(test.test, str(test.outcome), test.seconds) for test in report.results]
    assert seen == [("a", "passed", 0.5), ("b", "failed", 0.25)]
    assert [test.text for test in report.results] == ["", "1 != 2"]
    assert (report.runner, report.incomplete, report.tampered) == ("pytest", "", "")


def test_a_test_that_is_run_again_counts_by_its_last_run() -> None:
    """Its phases begin anew."""
    report = read(
        begin(),
        result("a", "passed", phase="setup"),
        result("a", "failed"),
        result("a", "passed", phase="setup"),
        result("a", "passed"),
        canary(),
        end(),
    )
    assert [str(test.outcome) for test in report.results] == ["passed"]
    assert report.tampered == ""


def test_the_runners_of_several_processes() -> None:
    """Each is named once, in the order in which they began."""
    events = [
        (1, begin("pytest")),
        (2, begin("unittest")),
        (3, begin("pytest", part=True)),
    ]
    lines = [
        json.dumps({"pid": pid, "number": 0, **event}).encode() for pid, event in events
    ]
    report = read_stream(lines)
    assert report is not None
    assert report.runner == "pytest, unittest"


def test_no_runner_ever_began() -> None:
    assert read_stream([]) is None


PASSING = (begin(), result("a", "passed"), canary(), end())
INCOMPLETE = [
    pytest.param([begin(), result("a", "passed")], "before its run was over, after 1 tests", id="it ends in the middle"),
    pytest.param([begin(), end()], "no test was run", id="nothing was run"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "why"), INCOMPLETE)
def test_a_run_that_is_not_whole(events: list[Event], why: str) -> None:
    """It says how far it came."""
    report = read(*events)
    assert why in report.incomplete
    assert report.tampered == ""


TAMPERED = [
    pytest.param([*PASSING[:2], end()], "ends without its canaries", id="no canaries"),
    pytest.param([begin(), result("a", "passed"), canary("passed"), end()], "a canary that fails was reported as passed", id="a canary passes"),
    pytest.param([*PASSING, result("b", "passed")], "goes on after its end", id="a result after the end"),
    pytest.param([begin(), {"event": "joy"}], "holds an unknown event", id="an unknown event"),
    pytest.param([begin(), result("a", "passed", number=7)], "lacks a line, or has a line too many", id="a line is missing"),
    pytest.param([begin(), {**result("a", "passed"), "test": 5}], "holds an event without test", id="a test without a name"),
    pytest.param([begin(), {**result("a", "passed"), "seconds": True}], "holds an event without seconds", id="a flag for a number"),
    pytest.param([begin(), {**result("a", "passed"), "seconds": "1"}], "holds an event without seconds", id="a text for a number"),
    pytest.param([begin(), result("a", "passed"), canary(), end(status=None)], "holds an event without status", id="no status"),
    pytest.param([begin(), result("a", "passed", raised=True), canary(), end()], "a raised an error and was reported as passed", id="an error that passed"),
    pytest.param([begin(), result("a", "failed"), canary(), end()], "tests failed, and the run says that it succeeded", id="a failure and a success"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "why"), TAMPERED)
def test_a_run_that_was_tampered_with(events: list[Event], why: str) -> None:
    """Whatever the tests say then, nothing of it counts."""
    assert why in read(*events).tampered


def test_an_honest_failure_is_no_tampering() -> None:
    """The same failure, with a run that says so; and a passing test that raised nothing."""
    failing = read(begin(), result("a", "failed"), canary(), end(status=1))
    passing = read(begin(), result("a", "passed", raised=False), canary(), end())
    assert (failing.tampered, passing.tampered) == ("", "")


@pytest.mark.parametrize("line", [b"nonsense", b"[]", b'{"pid": true}', b"{}"])
def test_a_line_that_is_no_event(line: bytes) -> None:
    """The reporter cannot have written it."""
    report = read_stream([line])
    assert report is not None
    assert report.tampered.startswith("the report of the run holds ")
