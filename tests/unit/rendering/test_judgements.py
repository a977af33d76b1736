"""A judgement in the formats that people, forges and scanners read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from accordance.domain.escalation import LadderPosition, LadderStep, Level
from accordance.domain.facts import (
    WITH_FAILURES_TOLD,
    AttemptFacts,
    ChangeSet,
    CommandRun,
)
from accordance.domain.judging import History
from accordance.domain.retrying import MAX_BYTES, feedback_for
from accordance.domain.roles import ROLES
from accordance.domain.terms import Terms, case_under
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.gates.running import verdict_on
from accordance.rendering.documents import Details, Paragraph, as_html, as_markdown
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.judgements.github import as_github
from accordance.rendering.judgements.gitlab import as_gitlab
from accordance.rendering.judgements.junit import as_junit
from accordance.rendering.judgements.markdown import as_markdown_summary
from accordance.rendering.judgements.sarif import as_sarif, uri_of
from accordance.rendering.judgements.text import as_text
from tests.unit.cases import COMMAND, FACTS, TASK_ID, a_case, a_submit, some_changes
from tests.unit.cases import a_task as asked

WHY = "    def test_last():\n>       assert last() == 2\nE       assert 1 == 2\n\ntests/test_app.py:7: AssertionError"
BAD = TestResult("tests/test_app.py::test_last", TestOutcome.FAILED, 0.25, WHY)
GOOD = TestResult("tests/test_app.py::test_first", TestOutcome.PASSED, 0.5)


def judged(facts: AttemptFacts, **more: Any) -> JudgedAttempt:
    """The attempt of the cases, with these facts."""
    submit = more.pop("submit", None)
    task = more.pop("task", None) or asked()
    terms = Terms(
        role=ROLES["engineer"], history=History(LadderPosition(max_attempts=3))
    )
    submission = a_case(task=task, submit=submit or a_submit()).submission
    case = case_under(terms, task, submission, facts)
    return JudgedAttempt(
        verdict=verdict_on(case, terms.history),
        task=task,
        facts=facts,
        attempt=1,
        max_attempts=3,
        **more,
    )


def with_report(*results: TestResult) -> AttemptFacts:
    """Facts in which these tests ran."""
    report = TestReport("pytest", results)
    code = 1 if report.failed else 0
    run = CommandRun(COMMAND, code, duration_ms=900, report=report)
    return replace(FACTS, runs=(run,), version=WITH_FAILURES_TOLD)


RED = judged(with_report(GOOD, BAD), evidence="artifacts/x")
BROKEN = judged(replace(FACTS, environment_broken="pytest is not installed", runs=()))
PLAIN = judged(
    replace(FACTS, runs=(CommandRun(COMMAND, 2),)),
    printed=("making\n\nError: no rule\n",),
)
TWO_PATHS = judged(
    replace(FACTS, changes=ChangeSet(some_changes("src/app.py", "a b.md", "c.md")))
)
DONE = judged(with_report(GOOD))


def test_text_shows_why_a_test_failed() -> None:
    """Its name, its place and the assertion, under the command that ran it."""
    assert as_text(RED).splitlines()[2:6] == [
        f"  ✗ {COMMAND}  0.9 s, isolated by none",
        "      tests/test_app.py::test_last  tests/test_app.py:7",
        "        >       assert last() == 2",
        "        E       assert 1 == 2",
    ]
    assert "  cause: the change\n" in as_text(RED)
    assert as_text(RED).endswith("  evidence: artifacts/x")


def test_text_shows_the_end_of_what_a_plain_command_printed() -> None:
    """There is no test to name."""
    assert "      making\n      Error: no rule\n" in as_text(PLAIN)
    assert "Error: no rule" in as_github(PLAIN)
    assert "Error: no rule" in as_markdown_summary(PLAIN)
    assert "Error: no rule" in as_junit(PLAIN)
    assert "Error: no rule" in as_sarif(PLAIN)


def test_each_command_has_its_own_output() -> None:
    """And one that passed needs none."""
    runs = (CommandRun(COMMAND, 0), CommandRun("make", 2))
    two = judged(replace(FACTS, runs=runs), printed=("fine", "Error: no rule"))
    assert "Error: no rule" in as_text(two)
    assert "fine" not in as_text(two)
    [_, _, made] = ET.fromstring(as_junit(two).encode())
    assert made.findtext("testcase/failure") == "exit code 2\nError: no rule"


def test_text_of_work_that_is_done() -> None:
    """No cause, nothing next."""
    assert as_github(DONE).splitlines()[-1] == (
        "::notice title=accordance::DONE: All checks passed. Next: none."
    )
    text = as_text(DONE)
    assert text.startswith(f"✓ DONE  {TASK_ID}  attempt 1 of 3\n  ✓ {COMMAND}")
    assert "cause" not in text
    assert "next" not in text


def test_many_failing_tests_are_counted() -> None:
    """Five in text, twenty in a summary, fifty beside the code."""
    results = [replace(BAD, test=f"tests/t.py::t{number}") for number in range(60)]
    many = judged(with_report(*results))
    assert "      and 55 more" in as_text(many)
    assert "40 more tests failed." in as_markdown_summary(many)
    assert "10 more tests failed: 60 tests of 60 failed" in as_github(many)


def test_annotations_stand_at_the_tests_line() -> None:
    """With the assertion in the message."""
    [error, *_] = as_github(RED).splitlines()
    assert error == (
        "::error file=tests/test_app.py,line=7,title=accordance CI_FAILED::"
        "tests/test_app.py::test_last failed: assert 1 == 2"
        "%0A>       assert last() == 2%0AE       assert 1 == 2"
    )


def locations(document: str) -> list[tuple[str, str, int]]:
    """Code, file and line of every result."""
    [run] = json.loads(document)["runs"]
    places = []
    for result in run["results"]:
        [location] = result["locations"]
        place = location["physicalLocation"]
        uri = place["artifactLocation"]["uri"]
        places.append((result["ruleId"], uri, place["region"]["startLine"]))
    return places


def test_every_result_of_sarif_has_its_place() -> None:
    """A failing test at its line, and each offending path by itself."""
    assert ("CI_FAILED", "tests/test_app.py", 7) in locations(as_sarif(RED))
    found = locations(as_sarif(TWO_PATHS))
    assert [place for place in found if place[0] == "SCOPE_CONFLICT"] == [
        ("SCOPE_CONFLICT", "a%20b.md", 1),
        ("SCOPE_CONFLICT", "c.md", 1),
    ]
    assert uri_of("ü/%.py") == "%C3%BC/%25.py"


def test_a_finding_about_no_file_stands_at_the_task() -> None:
    """Code scanning and GitLab need a file."""
    homeless = replace(PLAIN, task_file="tasks/x.json")
    assert ("CI_FAILED", "tasks/x.json", 1) in locations(as_sarif(homeless))
    issues = json.loads(as_gitlab(homeless))
    assert issues[0]["location"] == {"path": "tasks/x.json", "lines": {"begin": 1}}


def test_weakened_tests_stand_at_their_file() -> None:
    """The finding names them by their ids."""
    gone = replace(
        with_report(BAD),
        base_runs=(CommandRun(COMMAND, 0, report=TestReport("pytest", (GOOD,))),),
        changes=ChangeSet(some_changes("src/app.py")),
    )
    found = locations(as_sarif(judged(gone)))
    assert ("TESTS_WEAKENED", "tests/test_app.py", 1) in found


def test_a_code_of_the_agents_own_is_a_rule_without_a_page() -> None:
    """SARIF needs the rule all the same."""
    finding = replace(RED.verdict.findings[0], code="OWN_WORDS")
    odd = replace(RED, verdict=replace(RED.verdict, findings=(finding,)))
    [run] = json.loads(as_sarif(odd))["runs"]
    assert run["tool"]["driver"]["rules"] == [{"id": "OWN_WORDS"}]


def test_gitlab_shows_each_remark_once() -> None:
    """A second issue with the same fingerprint would be refused."""
    [issue] = [
        issue
        for issue in json.loads(as_gitlab(RED))
        if issue["check_name"] == "CI_FAILED"
    ]
    assert issue["location"] == {"path": "tests/test_app.py", "lines": {"begin": 7}}
    assert issue["severity"] == "major"
    twice = (*RED.verdict.findings, *RED.verdict.findings)
    doubled = replace(RED, verdict=replace(RED.verdict, findings=twice))
    assert as_gitlab(doubled) == as_gitlab(RED)


def test_junit_has_every_test() -> None:
    """With its time and its failure; what is excused or skipped fails nothing."""
    old = replace(BAD, test="tests/test_app.py::test_old")
    skipped = replace(
        GOOD, test="tests/test_app.py::test_s", outcome=TestOutcome.SKIPPED
    )
    broken = replace(BAD, test="plain", outcome=TestOutcome.ERROR, text="")
    mended = replace(GOOD, test="tests/test_app.py::test_mended")
    base = TestReport("pytest", (old, replace(mended, outcome=TestOutcome.FAILED)))
    facts = replace(
        with_report(GOOD, BAD, old, skipped, broken, mended),
        base_runs=(CommandRun(COMMAND, 1, report=base),),
    )
    root = ET.fromstring(as_junit(judged(facts)).encode())
    _, suite = root.findall("testsuite")
    counted = {name: suite.get(name) for name in ("tests", "failures", "errors")}
    assert counted == {"tests": "6", "failures": "1", "errors": "1"}
    assert suite.get("skipped") == "2"
    [failed] = suite.findall("testcase[failure]")
    assert failed.attrib == {
        "classname": "tests/test_app.py",
        "name": "test_last",
        "time": "0.250",
    }
    assert failed.findtext("failure") == WHY
    assert suite.find("testcase[@name='plain']/error") is not None


def test_a_fault_of_the_environment_is_told_apart() -> None:
    """In every format: it is not the agent's, a person acts, no attempt is used up."""
    says = "the environment, not the agent's work; no attempt is used up"
    assert f"  cause: {says}\n  next: human." in as_text(BROKEN)
    assert "ENVIRONMENT_BROKEN (not the agent's fault)::" in as_github(BROKEN)
    assert says in as_github(BROKEN)
    assert as_markdown_summary(BROKEN).startswith("## ⚠️ ESCALATE: ENVIRONMENT")
    assert f"- **cause**: {says}" in as_markdown_summary(BROKEN)

    root = ET.fromstring(as_junit(BROKEN).encode())
    assert root.find(".//testcase/error[@type='ENVIRONMENT_BROKEN']") is not None
    assert root.find(".//failure") is None

    [run] = json.loads(as_sarif(BROKEN))["runs"]
    [invocation] = run["invocations"]
    assert (run["results"], invocation["executionSuccessful"]) == ([], False)

    [issue] = json.loads(as_gitlab(BROKEN))
    assert issue["severity"] == "info"
    assert issue["description"].startswith("The environment, not the change: ")


def test_the_summary_in_markdown() -> None:
    """The verdict, the checks, the failing tests and the changed paths."""
    summary = as_markdown_summary(RED)
    assert summary.startswith("## ❌ RETRY: CI_FAILED\n\n1 test of 2 failed")
    assert f"| {COMMAND} | ✗ | 1 of 2 tests failed, 0.9 s" in summary
    assert "| scope | ✓ |  |" in summary
    assert (
        "<details><summary>tests/test_app.py::test_last (tests/test_app.py:7)</summary>"
        "\n\n<pre>\n&gt;       assert last() == 2\nE       assert 1 == 2\n</pre>"
    ) in summary
    assert "<pre>\nmodified  src/app.py\nmodified  tests/test_app.py\n</pre>" in summary
    assert as_markdown_summary(DONE).startswith("## ✅ DONE\n\nAll checks passed.")


def test_a_summary_is_bounded() -> None:
    """Two hundred paths; and a change of nothing is a sentence."""
    paths = [f"src/{number}.py" for number in range(250)]
    many = judged(replace(FACTS, changes=ChangeSet(some_changes(*paths))))
    assert "and 50 more" in as_markdown_summary(many)
    none = judged(replace(FACTS, changes=ChangeSet()))
    assert as_markdown_summary(none).endswith(
        "0 changed paths since the earlier copy.\n"
    )


def test_notices_and_a_role_are_shown() -> None:
    """What a reader should know, and who comes next."""
    step = LadderStep(Level.ROLE_ESCALATION, role="architect")
    verdict = replace(RED.verdict, step=step, notices=("made by accordance",))
    noted = replace(RED, verdict=verdict)
    for text in (as_text(noted), as_markdown_summary(noted)):
        assert "made by accordance" in text
        assert "role_escalation (architect). A role with more rights tries." in text


def test_what_the_next_attempt_is_told() -> None:
    """The findings, then why tests failed, fenced as data, within the bound."""
    told = feedback_for(RED.verdict, RED.failing)
    assert "[CI_FAILED]" in told
    assert "tests/test_app.py::test_last (tests/test_app.py:7)\n" in told
    assert "    E       assert 1 == 2\n</data" in told

    long = TestResult(BAD.test, BAD.outcome, 0.1, "\n".join(["E   " + "x" * 190] * 9))
    results = [replace(long, test=f"tests/t.py::t{number}") for number in range(9)]
    many = judged(with_report(*results))
    assert len(feedback_for(many.verdict, many.failing).encode()) <= MAX_BYTES
    no_room = feedback_for(RED.verdict, RED.failing, max_bytes=300)
    assert "<data" not in no_room


@pytest.mark.parametrize(
    "test", ["no/such/file", "a_test"], ids=["no suffix", "no file"]
)
def test_a_test_without_a_place_has_none(test: str) -> None:
    """Nothing is guessed."""
    nowhere = judged(with_report(replace(BAD, test=test, text="boom")))
    assert f"      {test}\n        boom\n" in as_text(nowhere)
    assert f"<summary>{test}</summary>" in as_markdown_summary(nowhere)
    assert f"::error title=accordance CI_FAILED::{test} failed: boom" in as_github(
        nowhere
    )


def test_folded_lines_cannot_end_their_block() -> None:
    """Neither in Markdown nor in HTML; nor do they become a command of a CI job."""
    block = Details("a <b>\n\nc", ["</pre></details><script>", "::error::x", "", "end"])
    folded = (
        "<details><summary>a &lt;b&gt;  c</summary>\n\n<pre>\n"
        "&lt;/pre&gt;&lt;/details&gt;&lt;script&gt;\n\\::error::x\n\nend\n"
        "</pre>\n\n</details>"
    )
    assert as_markdown([block]) == f"{folded}\n"
    assert f"<body>\n{folded}\n</body>" in as_html([block])


def test_a_paragraph_cannot_define_a_link() -> None:
    """A picture elsewhere in the page would be fetched from there."""
    assert as_markdown([Paragraph("[x]: https://example.org/x.png")]) == (
        "\\[x]: https://example.org/x.png\n"
    )
