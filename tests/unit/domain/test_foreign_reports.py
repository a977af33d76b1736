"""Reports that test tools write themselves, and reports that break off or lie."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from accordance.domain.facts import AttemptFacts, CommandRun
from accordance.domain.foreign_reports import (
    READERS,
    read_cargo,
    read_go,
    read_jest,
    read_junit,
)
from accordance.domain.test_results import TestOutcome, TestReport
from accordance.gates.notices import notices
from tests.unit.cases import a_case

P, F, S, E = (
    TestOutcome.PASSED,
    TestOutcome.FAILED,
    TestOutcome.SKIPPED,
    TestOutcome.ERROR,
)


def outcomes(report: TestReport | None) -> dict[str, TestOutcome]:
    """What became of each test of a report that is complete."""
    assert report is not None
    assert report.incomplete == ""
    assert report.written_by_run
    return dict(report.outcomes)


# -- Go


def go_event(action: str, test: str = "", **more: object) -> str:
    """An event of `go test -json`."""
    named = {"Test": test} if test else {}
    return json.dumps({"Action": action, "Package": "app/last", **named, **more})


GO_RUN = "\n".join(
    (
        go_event("start"),
        go_event("run", "TestLast"),
        go_event("output", "TestLast", Output="wrong\n"),
        go_event("fail", "TestLast", Elapsed=0.5),
        go_event("run", "TestOther/part"),
        go_event("pass", "TestOther/part", Elapsed=True),
        go_event("skip", "TestLater"),
        go_event("fail"),
        "a line of something else",
        "{no json",
        '{"Action": 1}',
    )
)


def test_the_events_of_go() -> None:
    report = read_go(GO_RUN)

    assert outcomes(report) == {
        "app/last::TestLast": F,
        "app/last::TestOther/part": P,
        "app/last::TestLater": S,
    }
    assert report is not None
    assert (report.results[0].seconds, report.results[0].text) == (0.5, "wrong\n")


def test_a_package_of_go_that_cannot_be_built_is_an_error() -> None:
    log = "\n".join(
        (go_event("start"), go_event("output", Output="undefined"), go_event("fail"))
    )

    assert outcomes(read_go(log)) == {"app/last": E}


def test_a_package_of_go_whose_tests_pass() -> None:
    log = "\n".join((go_event("start"), go_event("pass", "TestA"), go_event("pass")))

    assert outcomes(read_go(log)) == {"app/last::TestA": P}


def test_a_package_of_go_without_an_end_has_not_run() -> None:
    log = "\n".join((go_event("start"), go_event("pass", "TestLast")))

    report = read_go(log)

    assert report is not None
    assert report.incomplete == "tests ended before their run was over: app/last"


# -- Rust


CARGO_RUN = """\
   Compiling app v0.1.0
     Running unittests src/lib.rs (target/debug/deps/app-1)

running 3 tests
test tests::last ... ok
test tests::later ... ignored, not yet
test tests::panics - should panic ... FAILED

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out

     Running tests/it.rs (target/debug/deps/it-1)

running 1 test
test works ... ok

test result: ok. 1 passed; 0 failed

   Doc-tests app

running 1 test
test src/lib.rs - last (line 3) ... ok

test result: ok. 1 passed; 0 failed
"""


def test_the_lines_of_cargo() -> None:
    assert outcomes(read_cargo(CARGO_RUN)) == {
        "src/lib.rs::tests::last": P,
        "src/lib.rs::tests::later": S,
        "src/lib.rs::tests::panics": F,
        "tests/it.rs::works": P,
        "app::src/lib.rs - last": P,
    }
    assert outcomes(read_cargo("running 1 test\ntest a ... ok\ntest result: ok. ")) == {
        "a": P
    }


@pytest.mark.parametrize(
    "log",
    [
        pytest.param("running 2 tests\ntest a ... ok\n", id="the process ended"),
        pytest.param(
            "running 2 tests\ntest a ... ok\ntest result: ok. \n",
            id="a test is missing",
        ),
        pytest.param(
            "running 1 test\nrunning 1 test\ntest a ... ok\ntest result: ok. \n",
            id="the next one began",
        ),
    ],
)
def test_a_harness_without_an_end_has_not_run(log: str) -> None:
    report = read_cargo(log)

    assert report is not None
    assert report.incomplete.startswith("tests ended before their run was over")


def test_no_test_is_no_proof() -> None:
    report = read_cargo("running 0 tests\n\ntest result: ok. 0 passed; 0 failed\n")

    assert report is not None
    assert report.incomplete == "no test was run"


@pytest.mark.large
def test_the_real_cargo(tmp_path: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n', "utf-8"
    )
    (tmp_path / "src/lib.rs").write_text(
        "#[test]\nfn passes() {}\n#[test]\nfn fails() { assert!(false); }\n", "utf-8"
    )
    done = subprocess.run(
        ("cargo", "test", "--offline", "--lib"),
        cwd=tmp_path,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )

    if "running 2 tests" not in done.stdout:
        pytest.skip(f"cargo cannot build here: {done.stdout[-200:]}")
    assert outcomes(read_cargo(done.stdout)) == {
        "src/lib.rs::passes": P,
        "src/lib.rs::fails": F,
    }


# -- Jest and Vitest


JEST_RUN = json.dumps(
    {
        "testResults": [
            {
                "name": "/work/tests/app.test.js",
                "status": "failed",
                "assertionResults": [
                    {
                        "ancestorTitles": ["last"],
                        "title": "works",
                        "status": "passed",
                        "duration": 1500,
                    },
                    {
                        "ancestorTitles": [],
                        "title": "fails",
                        "status": "failed",
                        "failureMessages": ["expected 2"],
                    },
                    {"title": "later", "status": "todo"},
                    {"title": "odd", "status": "?"},
                    "no test",
                ],
            },
            {"name": "/work/b.test.js", "status": "failed", "message": "no such file"},
            {"name": "/work/c.test.js", "status": "passed", "assertionResults": []},
        ]
    }
)


def test_the_json_of_jest_and_vitest() -> None:
    log = f"some noise\n{JEST_RUN}\n"
    expected = {
        "tests/app.test.js > last > works": P,
        "tests/app.test.js > fails": F,
        "tests/app.test.js > later": S,
        "tests/app.test.js > odd": E,
        "b.test.js": E,
    }

    report = read_jest(log, "/work")

    assert outcomes(report) == expected
    assert report is not None
    assert [result.text for result in report.failed][:1] == ["expected 2"]
    assert report.results[0].seconds == 1.5
    vitest = READERS["vitest"](log, "/work")
    assert vitest is not None
    assert (vitest.runner, dict(vitest.outcomes)) == ("vitest", expected)


@pytest.mark.parametrize("runner", ["go", "cargo", "jest", "vitest"])
def test_output_that_holds_no_report(runner: str) -> None:
    assert READERS[runner]("make: nothing to be done\n", "/work") is None


def test_results_that_are_no_list() -> None:
    report = read_jest('{"testResults": 1}')

    assert report is not None
    assert report.incomplete == "no test was run"


# -- JUnit's XML


JUNIT = b"""<?xml version="1.0"?>
<testsuites><testsuite name="app">
  <testcase classname="app.Last" name="last" time="0.25"/>
  <testcase file="tests/a.rb" classname="A" name="fails" time="soon">
    <failure message="expected 2"/>
  </testcase>
  <testcase name="breaks"><error>trace</error></testcase>
  <testcase name="later"><skipped message="why"/></testcase>
</testsuite></testsuites>
"""


def test_the_xml_of_junit() -> None:
    report = read_junit([JUNIT])

    assert outcomes(report) == {
        "app.Last::last": P,
        "tests/a.rb::A::fails": F,
        "breaks": E,
        "later": S,
    }
    assert [result.text for result in report.results] == ["", "expected 2", "trace", ""]
    assert report.results[0].seconds == 0.25


def test_a_test_in_two_files_counts_by_its_worst_outcome() -> None:
    passed = b'<testsuite><testcase name="fails"/><testcase name="breaks"/></testsuite>'

    forth = read_junit([JUNIT, passed])
    back = read_junit([passed, JUNIT])

    assert outcomes(forth)["breaks"] is outcomes(back)["breaks"] is E


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "the report is not XML"),
        (b"<testsuite>", "the report is not XML"),
        (b'<!DOCTYPE x [<!ENTITY a "b">]><x/>', "holds more than results"),
        ("<x/>".encode("utf-16"), "holds more than results"),
        (b"<testsuite/>", "no test was run"),
    ],
)
def test_a_report_that_shows_nothing(document: bytes, reason: str) -> None:
    assert reason in read_junit([document]).incomplete


def test_a_report_of_the_run_itself_is_a_notice() -> None:
    run = CommandRun("go test -json", 0, report=read_go(GO_RUN))
    (notice,) = notices(a_case(facts=AttemptFacts(runs=(run,))))

    assert notice.startswith("the report of the tests was written by their own run")
    assert notice.endswith(": go test -json")
