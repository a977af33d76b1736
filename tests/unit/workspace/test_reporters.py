"""The reporter beside real runs of pytest and unittest: honest ones, and ones that lie."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from shutil import which
from textwrap import dedent

import pytest

from accordance.domain.test_results import TestOutcome, TestReport
from accordance.domain.test_streams import read_stream
from accordance.workspace.inside import reporters

FOLDER = Path(reporters.__file__).parent


def run(
    folder: Path, *arguments: str, **environment: str
) -> tuple[int, TestReport | None]:
    """Run Python in a folder, with the reporter beside it: its exit code and report."""
    stream = folder / "stream"
    stream.write_bytes(b"")
    known = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    ours = {"BUILD_REPORT": str(stream), "PYTHONPATH": str(FOLDER)}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**known, **ours, **environment},
        capture_output=True,
        check=False,
    )
    with stream.open("rb") as lines:
        return done.returncode, read_stream(lines)


def pytest_in(folder: Path, *options: str) -> tuple[int, TestReport | None]:
    """Run pytest, without any other plugin."""
    quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    return run(folder, "-m", "pytest", *quiet, *options)


def write(folder: Path, **files: str) -> None:
    """Write Python modules by their names."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(dedent(text))


def outcomes(report: TestReport | None) -> dict[str, TestOutcome]:
    """What became of each test, by the last part of its name."""
    assert report is not None
    assert (report.incomplete, report.tampered) == ("", "")
    return {
        result.test.split("::")[-1].split(".")[-1]: result.outcome
        for result in report.results
    }


EVERY_OUTCOME = """
    import pytest

    def test_passes(): pass
    def test_fails(): assert 1 == 2
    @pytest.mark.skip
    def test_skipped(): pass
    @pytest.mark.xfail
    def test_xfailed(): assert 0
    @pytest.fixture
    def broken(): raise ValueError
    def test_error(broken): pass
    @pytest.fixture
    def broken_end():
        yield
        raise ValueError
    def test_error_at_the_end(broken_end): pass
    @pytest.mark.parametrize("n", [1, 2])
    def test_many(n): pass
"""


@pytest.mark.parametrize("options", [(), ("-n", "2"), ("-x", "--maxfail=9")])
def test_every_test_of_pytest_is_reported(
    tmp_path: Path, options: tuple[str, ...]
) -> None:
    write(tmp_path, test_it=EVERY_OUTCOME)

    code, report = pytest_in(tmp_path, *options)

    assert code == 1
    assert outcomes(report) == {
        "test_passes": TestOutcome.PASSED,
        "test_fails": TestOutcome.FAILED,
        "test_skipped": TestOutcome.SKIPPED,
        "test_xfailed": TestOutcome.XFAILED,
        "test_error": TestOutcome.ERROR,
        "test_error_at_the_end": TestOutcome.ERROR,
        "test_many[1]": TestOutcome.PASSED,
        "test_many[2]": TestOutcome.PASSED,
    }


def test_every_test_of_unittest_is_reported(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_it="""
            import unittest

            class It(unittest.TestCase):
                def test_passes(self): pass
                def test_fails(self): self.fail()
                def test_error(self): raise ValueError
                @unittest.skip("why")
                def test_skipped(self): pass
                @unittest.expectedFailure
                def test_xfailed(self): self.fail()
                def test_parts(self):
                    for n in (1, 2):
                        with self.subTest(n=n): self.assertEqual(n, 1)
        """,
    )

    code, report = run(tmp_path, "-m", "unittest")

    assert code == 1
    assert outcomes(report) == {
        "test_passes": TestOutcome.PASSED,
        "test_fails": TestOutcome.FAILED,
        "test_error": TestOutcome.ERROR,
        "test_skipped": TestOutcome.SKIPPED,
        "test_xfailed": TestOutcome.XFAILED,
        "test_parts": TestOutcome.FAILED,
    }


def test_why_a_test_failed_is_kept(tmp_path: Path) -> None:
    write(tmp_path, test_it="def test_it(): assert 'left' == 'right'")

    _, report = pytest_in(tmp_path)

    assert report is not None
    assert "assert 'left' == 'right'" in report.results[0].text


def test_a_module_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, test_it="import nothing_of_this_name")

    _, report = pytest_in(tmp_path)

    assert report is not None
    assert [result.outcome for result in report.results] == [TestOutcome.ERROR]


def test_runs_that_tests_start_themselves_are_not_reported(tmp_path: Path) -> None:
    write(
        tmp_path,
        test_outer="""
            import subprocess, sys, unittest
            import pytest

            def test_inside(tmp_path):
                (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
                assert pytest.main([str(tmp_path), "-q", "-p", "no:cacheprovider"]) == 1

            def test_beside(tmp_path):
                (tmp_path / "test_inner.py").write_text("def test_inner(): assert 0")
                command = [sys.executable, "-m", "pytest", "-q", str(tmp_path)]
                assert subprocess.run(command, capture_output=True).returncode == 1

            def test_unittest():
                class Inner(unittest.TestCase):
                    def test_inner(self): self.fail()
                suite = unittest.defaultTestLoader.loadTestsFromTestCase(Inner)
                assert unittest.TextTestRunner().run(suite).failures
        """,
    )

    code, report = pytest_in(tmp_path)

    assert code == 0
    assert outcomes(report) == {
        "test_inside": TestOutcome.PASSED,
        "test_beside": TestOutcome.PASSED,
        "test_unittest": TestOutcome.PASSED,
    }


def test_plugins_that_look_at_items_are_not_disturbed_by_canaries(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        conftest="""
            import pytest

            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                outcome = yield
                report = outcome.get_result()
                setattr(item, "report_" + report.when, report)
                assert item.function is not None
                assert item.nodeid and item.fixturenames is not None

            @pytest.fixture(autouse=True, scope="session")
            def once():
                yield
        """,
        test_it="def test_it(caplog): pass",
    )

    code, report = pytest_in(tmp_path)

    assert code == 0
    assert outcomes(report) == {"test_it": TestOutcome.PASSED}


FAILING = "def test_it(): assert False"
ENDS_EARLY = [
    pytest.param("import os; os._exit(0)", id="exit-at-import"),
    pytest.param("raise SystemExit(0)", id="system-exit-at-import"),
    pytest.param(
        "import atexit, os; atexit.register(os._exit, 0)", id="exit-code-swallowed"
    ),
    pytest.param(
        "import os, threading; threading.Timer(0, os._exit, [0]).start()",
        id="exit-from-a-thread",
    ),
]
PATCHES = [
    pytest.param(
        """
        from _pytest.reports import TestReport
        original = TestReport.from_item_and_call
        def passed(item, call):
            report = original(item, call)
            report.outcome = "passed"
            return report
        TestReport.from_item_and_call = passed
        """,
        id="every-report-passed",
    ),
    pytest.param(
        """
        import _pytest.python
        _pytest.python.Function.runtest = lambda self: None
        import _pytest.runner
        _pytest.runner.pytest_runtest_call = lambda item: None
        """,
        id="no-test-is-called",
    ),
    pytest.param(
        """
        from _pytest.main import Session
        Session.testsfailed = property(lambda self: 0, lambda self, value: None)
        """,
        id="failures-not-counted",
    ),
    pytest.param(
        """
        from _pytest.runner import CallInfo
        original = CallInfo.from_call.__func__
        def quiet(cls, func, when, reraise=None):
            def calm():
                try: return func()
                except Exception: return None
            return original(cls, calm, when, reraise)
        CallInfo.from_call = classmethod(quiet)
        """,
        id="errors-swallowed",
    ),
]


@pytest.mark.parametrize("source", ENDS_EARLY)
def test_a_run_that_ends_early_is_incomplete(tmp_path: Path, source: str) -> None:
    write(tmp_path, source=source, test_it=f"import source\n{FAILING}")

    _, report = pytest_in(tmp_path)

    assert report is not None
    is_sound = not report.incomplete and not report.tampered
    assert not is_sound or report.failed


@pytest.mark.parametrize("source", PATCHES)
def test_a_patched_runner_is_noticed(tmp_path: Path, source: str) -> None:
    write(tmp_path, source=source, test_it=f"import source\n{FAILING}")

    _, report = pytest_in(tmp_path)

    assert report is not None
    assert report.tampered or report.failed


@pytest.mark.parametrize("name", ["pytest", "_pytest"])
def test_a_module_in_the_place_of_pytest_leaves_no_report(
    tmp_path: Path, name: str
) -> None:
    write(tmp_path, **{name: "raise SystemExit(0)"}, test_it=FAILING)

    _, report = run(tmp_path, "-m", "pytest")

    assert report is None


@pytest.mark.parametrize("name", ["json", "sitecustomize", "importlib"])
def test_a_module_in_the_place_of_the_standard_library_changes_nothing(
    tmp_path: Path, name: str
) -> None:
    write(tmp_path, **{name: "raise SystemExit(0)"}, test_it=FAILING)

    _, report = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider")

    assert report is None or report.failed or report.incomplete


def test_a_stream_that_was_cut_is_noticed(tmp_path: Path) -> None:
    source = "import os; os.truncate(os.environ['BUILD_REPORT'], 0)"
    write(tmp_path, test_it=f"def test_it():\n    {source}\n    assert False")

    _, report = pytest_in(tmp_path)

    assert report is not None
    assert report.tampered


NODE_TESTS = """
    const { test, describe, it } = require("node:test");
    const assert = require("node:assert");
    test("passes", () => {});
    test("fails", () => assert.equal(1, 2));
    test("skipped", { skip: true }, () => {});
    test("todo", { todo: true }, () => assert(0));
    describe("group", () => {
      it("passes", () => {});
      it("fails", () => assert(0));
    });
"""


def node_in(folder: Path) -> tuple[int, TestReport | None]:
    """Run Node's tests of a folder."""
    stream = folder / "stream"
    stream.write_bytes(b"")
    reporter = FOLDER / "node_reporter.mjs"
    options = (
        "--test-reporter=spec --test-reporter-destination=stdout"
        f" --test-reporter={reporter} --test-reporter-destination=/dev/null"
    )
    ours = {"BUILD_REPORT": str(stream), "NODE_OPTIONS": options}
    done = subprocess.run(
        ["node", "--test"],
        cwd=folder,
        env={"PATH": os.environ["PATH"], **ours},
        capture_output=True,
        check=False,
    )
    with stream.open("rb") as lines:
        return done.returncode, read_stream(lines)


needs_node = pytest.mark.skipif(which("node") is None, reason="needs Node.js")


@needs_node
def test_every_test_of_node_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.test.js").write_text(NODE_TESTS)

    code, report = node_in(tmp_path)

    assert code == 1
    assert report is not None
    assert (report.incomplete, report.tampered) == ("", "")
    assert report.outcomes == {
        "a.test.js > passes": TestOutcome.PASSED,
        "a.test.js > fails": TestOutcome.FAILED,
        "a.test.js > skipped": TestOutcome.SKIPPED,
        "a.test.js > todo": TestOutcome.XFAILED,
        "a.test.js > group > passes": TestOutcome.PASSED,
        "a.test.js > group > fails": TestOutcome.FAILED,
    }


@needs_node
def test_a_file_that_ends_its_process_has_no_tests(tmp_path: Path) -> None:
    (tmp_path / "a.test.js").write_text(f"process.exit(0);{NODE_TESTS}")

    code, report = node_in(tmp_path)

    assert code == 0
    assert report is not None
    assert report.outcomes == {"a.test.js": TestOutcome.PASSED}


BEGIN = {"pid": 1, "number": 0, "event": "begin", "runner": "pytest"}
RESULT = {
    "pid": 1,
    "number": 1,
    "event": "result",
    "test": "t",
    "phase": "call",
    "outcome": "passed",
    "seconds": 0.1,
}
CANARY = {
    "pid": 1,
    "number": 2,
    "event": "canary",
    "name": "fails",
    "expected": "failed",
    "outcome": "failed",
}
END = {"pid": 1, "number": 3, "event": "end", "status": 0}


def lines(*events: dict[str, object] | bytes) -> list[bytes]:
    """The lines of a stream."""
    return [
        event if isinstance(event, bytes) else json.dumps(event).encode()
        for event in events
    ]


def test_a_whole_stream_is_believed() -> None:
    report = read_stream(lines(BEGIN, RESULT, CANARY, END))

    assert report is not None
    assert (report.incomplete, report.tampered) == ("", "")


def test_a_stream_without_a_line_is_no_report() -> None:
    assert read_stream([]) is None


@pytest.mark.parametrize(
    "stream",
    [
        lines(BEGIN, b"\xff"),
        lines(BEGIN, b"[]"),
        lines(BEGIN, CANARY, END),
        lines(BEGIN, RESULT, {**END, "number": 2}),
        lines(BEGIN, RESULT, CANARY, END, {**RESULT, "number": 4}),
        lines(BEGIN, RESULT, {**CANARY, "outcome": "passed"}, END),
        lines(BEGIN, {**RESULT, "raised": True}, CANARY, END),
        lines(BEGIN, {**RESULT, "outcome": "failed"}, CANARY, END),
        lines(BEGIN, {**RESULT, "outcome": "splendid"}, CANARY, END),
        lines(BEGIN, {**RESULT, "seconds": "long"}, CANARY, END),
        lines(BEGIN, {**RESULT, "test": None}, CANARY, END),
        lines(BEGIN, {**RESULT, "event": "unheard of"}, CANARY, END),
    ],
)
def test_a_stream_that_does_not_hold_together_is_not_believed(
    stream: list[bytes],
) -> None:
    report = read_stream(stream)

    assert report is not None
    assert report.tampered


@pytest.mark.parametrize(
    "stream",
    [lines(BEGIN), lines(BEGIN, RESULT, CANARY), lines(BEGIN, {**END, "number": 1})],
)
def test_a_stream_that_ends_too_early_is_incomplete(stream: list[bytes]) -> None:
    report = read_stream(stream)

    assert report is not None
    assert report.incomplete


def test_a_file_that_cannot_be_collected_is_an_error() -> None:
    collect = {**RESULT, "phase": "collect", "outcome": "failed"}
    end = {**END, "number": 2, "status": 2}

    report = read_stream(lines(BEGIN, collect, end))

    assert report is not None
    assert [result.outcome for result in report.results] == [TestOutcome.ERROR]


def test_a_test_of_two_processes_counts_by_its_worst_outcome() -> None:
    passed = [BEGIN, RESULT, CANARY, END]
    failed = [BEGIN, {**RESULT, "outcome": "failed"}, CANARY, {**END, "status": 1}]
    again = [{**event, "pid": 2} for event in failed]
    third = [{**event, "pid": 3} for event in passed]

    report = read_stream(lines(*passed, *again, *third))

    assert report is not None
    assert [result.outcome for result in report.results] == [TestOutcome.FAILED]


def test_a_test_that_was_run_again_counts_by_its_last_run() -> None:
    setup = {**RESULT, "phase": "setup"}
    first = [setup, {**RESULT, "outcome": "rerun"}]
    second = [setup, RESULT]
    events = [BEGIN, *first, *second, CANARY, END]
    numbered = [{**event, "number": number} for number, event in enumerate(events)]

    report = read_stream(lines(*numbered))

    assert report is not None
    assert [result.outcome for result in report.results] == [TestOutcome.PASSED]


TWO_TESTS = """
    import unittest

    class It(unittest.TestCase):
        def test_fails(self): self.fail()
        def test_passes(self): pass
"""
OUTCOMES = {"test_fails": TestOutcome.FAILED, "test_passes": TestOutcome.PASSED}


@pytest.mark.parametrize("name", OUTCOMES)
def test_one_test_of_pytest_is_run_alone(tmp_path: Path, name: str) -> None:
    write(tmp_path, test_it=TWO_TESTS)
    only = f"test_it.py::It::{name}"

    _, report = run(tmp_path, "-m", "pytest", "-q", BUILD_ONLY=only)

    assert outcomes(report) == {name: OUTCOMES[name]}


@pytest.mark.parametrize("name", OUTCOMES)
def test_one_test_of_unittest_is_run_alone(tmp_path: Path, name: str) -> None:
    write(tmp_path, test_it=TWO_TESTS)

    _, report = run(tmp_path, "-m", "unittest", BUILD_ONLY=f"test_it.It.{name}")

    assert outcomes(report) == {name: OUTCOMES[name]}


def test_a_test_that_is_not_there_leaves_the_others(tmp_path: Path) -> None:
    write(tmp_path, test_it=TWO_TESTS)

    _, report = run(tmp_path, "-m", "pytest", "-q", BUILD_ONLY="test_it.py")

    assert len(outcomes(report)) == 2
