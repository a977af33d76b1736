"""Failing tests: where each stands, and why it failed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.facts import CommandRun, HiddenRuns
from accordance.domain.failing_tests import (
    MAX_EXPLAINED,
    MAX_LINES,
    FailingTest,
    failing_tests,
    place_in,
    telling_lines,
)
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from tests.unit.cases import COMMAND, FACTS, a_task

PYTEST = """\
    def test_last():
>       assert last([1, 2]) == 2
E       assert 1 == 2
E        +  where 1 = last([1, 2])

tests/test_app.py:7: AssertionError"""
UNITTEST = """\
Traceback (most recent call last):
  File "/build/tests/test_app.py", line 12, in test_last
    self.assertEqual(last([1, 2]), 2)
  File "/usr/lib/python3.12/unittest/case.py", line 885, in assertEqual
AssertionError: 1 != 2"""
NODE = """\
AssertionError [ERR_ASSERTION]: 1 !== 2
    at TestContext.<anonymous> (file:///build/tests/app.test.mjs:5:10)
    at Test.run (node:internal/test_runner/test:797:9)"""


@pytest.mark.parametrize(
    ("text", "test", "place"),
    [
        pytest.param(
            PYTEST,
            "tests/test_app.py::test_last[a::b]",
            ("tests/test_app.py", 7),
            id="pytest names the file and the line",
        ),
        pytest.param(
            UNITTEST,
            "tests.test_app.Last.test_last",
            ("tests/test_app.py", 12),
            id="unittest names the module, and its failure the file",
        ),
        pytest.param(
            NODE,
            "tests/app.test.mjs > last",
            ("tests/app.test.mjs", 5),
            id="Node names the file by its full path",
        ),
        pytest.param(
            "boom",
            "tests/test_app.py::test_last",
            ("tests/test_app.py", None),
            id="a failure without a place stands at its file",
        ),
        pytest.param(
            "src/app.py:3: ValueError",
            "tests/test_app.py::test_last",
            ("tests/test_app.py", None),
            id="a line of another file is not the test's",
        ),
        pytest.param(
            "boom", "tests.test_app.Last", ("", None), id="a module names no file"
        ),
        pytest.param("boom", "TestLast", ("", None), id="a bare name names no file"),
        pytest.param(
            "../../etc/x.py:3: boom",
            "../../etc/x.py::test",
            ("", None),
            id="a path out of the repository is none",
        ),
        pytest.param(
            "/etc/x.py:3: boom", "/etc/x.py::t", ("", None), id="nor is a full path"
        ),
        pytest.param(
            "a/../x.py:3: boom", "...x.t", ("", None), id="nor a module that climbs"
        ),
    ],
)
def test_the_place_of_a_failure(
    text: str, test: str, place: tuple[str, int | None]
) -> None:
    """From the words of the failure, if they are about the test's own file."""
    assert place_in(text, test) == place


def test_the_lines_that_tell_why() -> None:
    """Pytest marks them; others say it at the end. Both are bounded."""
    assert telling_lines(PYTEST) == (
        ">       assert last([1, 2]) == 2",
        "E       assert 1 == 2",
        "E        +  where 1 = last([1, 2])",
    )
    assert telling_lines(UNITTEST)[-1] == "AssertionError: 1 != 2"
    many = "\n".join(f"line {number}" for number in range(100))
    assert len(telling_lines(many)) == MAX_LINES
    [long] = telling_lines("x" * 1000)
    assert long == "x" * 199 + "…"


@pytest.mark.parametrize(
    ("lines", "why", "place"),
    [
        ((">  assert f()", "E  assert 1"), "assert 1", "a_test.py:3"),
        (("first", "last"), "last", "a_test.py:3"),
        ((), "", "a_test.py:3"),
    ],
    ids=["what pytest marks", "the last line", "nothing"],
)
def test_in_a_line(lines: tuple[str, ...], why: str, place: str) -> None:
    """The line that says most, and the place."""
    failing = FailingTest("t", "make", lines, "a_test.py", 3)
    assert (failing.why, failing.place) == (why, place)
    assert replace(failing, line=None).place == "a_test.py"


def failed(name: str, text: str = PYTEST) -> TestResult:
    return TestResult(name, TestOutcome.FAILED, 0.1, text)


def test_only_what_is_held_against_the_change() -> None:
    """Once each; nothing that failed before, and nothing of hidden tests."""
    before, now = failed("tests/t.py::old"), failed("tests/t.py::new")
    mended = "tests/t.py::mended"
    base = TestReport("pytest", (before, failed(mended)))
    passing = TestResult(mended, TestOutcome.PASSED)
    head = TestReport("pytest", (before, now, passing))
    secret = TestReport("pytest", (failed("tests/secret.py::hidden"),))
    facts = replace(
        FACTS,
        runs=(
            CommandRun(COMMAND, 1, report=head),
            CommandRun("again", 1, report=TestReport("pytest", (now,))),
            CommandRun("make", 2),
        ),
        base_runs=(CommandRun(COMMAND, 1, report=base),),
        hidden=HiddenRuns(("tests/secret.py",), (CommandRun("x", 1, report=secret),)),
    )
    [failing] = failing_tests(a_task(), facts)
    assert (failing.test, failing.command) == ("tests/t.py::new", COMMAND)


def test_so_many_are_explained() -> None:
    """Reading failures is bounded; names are never left out."""
    results = tuple(failed(f"tests/t.py::t{number}") for number in range(150))
    report = TestReport("pytest", results)
    facts = replace(FACTS, runs=(CommandRun(COMMAND, 1, report=report),))
    failing = failing_tests(a_task(), facts)
    assert len(failing) == 150
    assert sum(bool(test.lines) for test in failing) == MAX_EXPLAINED
