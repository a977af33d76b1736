"""What the page of a task shows: its checks, messages, reviews, tests and changed lines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.domain.facts import AttemptFacts, CommandRun
from accordance.domain.test_results import TestOutcome, TestReport, TestResult
from accordance.errors import NoEvidence, NotFound
from accordance.service import tasks
from accordance.service.attempt_changes import LineWindow, attempt_change, change_lines
from accordance.service.attempt_tests import attempt_tests, compared_tests
from accordance.service.project import Project
from accordance.service.task_matrix import task_matrix
from accordance.service.task_messages import raw_message, task_messages
from accordance.service.task_reviews import task_reviews
from accordance.service.tasks import WorkRequest
from accordance.service.views.task_pages import MatrixView
from tests.acceptance.coding import FIRST
from tests.ledger.project import encoded, failing, product
from tests.reviews import node_review
from tests.service.landing_stage import (
    RATE,
    LandingStage,
    a_plan,
    change,
    staged,
)

ANNA = WorkRequest(holder="anna", any_task=True)
BEN = WorkRequest(holder="ben", any_task=True)
HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e"
ISSUE = {
    "problem": HOSTILE,
    "evidence": "line 3",
    "impact": "readers stumble",
    "suggestion": "say it once",
    "acceptance_criteria": "it stands there once",
}


@pytest.fixture
def told(project: Project) -> Project:
    """Task a failed, then sent no JSON, then was returned by ben's review."""
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(failing("a")))
    tasks.take_task(project, ANNA)
    tasks.submit(project, b"I am done!", task_id="a")
    tasks.take_task(project, ANNA)
    made = tasks.submit(project, encoded(product("a", HOSTILE)))
    assert made.artifact is not None
    tasks.take_task(project, BEN)
    review = node_review("a", score=60)
    review["breakdown"][0]["issues"] = [ISSUE]
    sha256 = made.artifact["sha256"]
    tasks.review(project, encoded(review), task_id="a", artifact=sha256, reviewer="ben")
    return project


def results(matrix: MatrixView) -> dict[str, list[str]]:
    """What became of each check, attempt by attempt."""
    return {row.check: [cell.result for cell in row.attempts] for row in matrix.checks}


def test_checks_by_attempts(told: Project) -> None:
    """The first that fails leads; what comes behind it did not run."""
    matrix = task_matrix(told, "a")
    assert results(matrix) == {
        "message": ["passed", "passed", "passed"],
        "contract": ["passed", "failed", "passed"],
        "result": ["failed", "not_run", "passed"],
        "review": ["not_run", "not_run", "failed"],
    }
    result = next(row for row in matrix.checks if row.check == "result")
    assert result.attempts[0].reason_code == "LLM_FAILED"
    assert result.attempts[0].messages == ("LLM_FAILED: it broke",)
    review = matrix.checks[-1].attempts[-1]
    assert (review.reason_code, review.messages) == ("MODIFY", ("MODIFY, 60 of 100",))


def test_a_task_without_attempts(told: Project) -> None:
    """Has rows without cells."""
    matrix = task_matrix(told, "b")
    assert matrix.attempts == ()
    assert results(matrix) == {"message": [], "contract": [], "result": []}


def test_messages_as_they_came(told: Project) -> None:
    """Raw, and what the contract makes of them; what breaks it is listed."""
    listed = task_messages(told, "a")
    first, second, third, review = listed.items
    assert first.value is not None
    assert first.value["error"]["code"] == "LLM_FAILED"
    assert (second.raw, second.status, second.value) == ("I am done!", "rejected", None)
    assert second.violations[0]["code"] == "text_around"
    assert third.value is not None
    assert third.value["artifact"]["content"] == HOSTILE
    assert (review.kind, review.contract) == ("REVIEW", "TASK_CHECK")
    assert [each.attempt for each in task_messages(told, "a", 2).items] == [2]


def test_a_large_message_is_shown_in_part(told: Project) -> None:
    """Its beginning, without what it means; the whole of it by download."""
    tasks.take_task(told, ANNA)
    raw = encoded(product("a", "x" * (2 << 20)))
    tasks.submit(told, raw)
    (large,) = task_messages(told, "a", 4).items
    assert (large.is_cut, large.bytes, large.value) == (True, len(raw), None)
    assert len(large.raw) == 32 << 10
    assert raw_message(told, "a", large.message_id).content == raw
    with pytest.raises(NotFound):
        raw_message(told, "b", large.message_id)


def test_reviews_in_full(told: Project) -> None:
    """Scores with their maxima, issues with their evidence, what would mend them."""
    (review,) = task_reviews(told, "a").items
    assert (review.score, review.max_score, review.attempt) == (60, 100, 3)
    first = review.dimensions[0]
    assert (first.score, first.max_score) == (40, 40)
    assert first.issues[0].model_dump() == ISSUE
    assert review.suggestions[0].acceptance_criteria == "There is more"


def test_no_change_to_show(told: Project) -> None:
    """Is said, and is no fault."""
    with pytest.raises(NoEvidence):
        attempt_change(told, "a")
    with pytest.raises(NoEvidence):
        attempt_tests(told, "a")


# -- changes of a repository


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LandingStage]:
    """A change that also touched what it may not, then a good change."""
    if not Path("/proc/self").exists():
        pytest.skip("isolation needs Linux: no test could be run")
    plan = a_plan(change(FIRST, "Raise the rate", "check_rate.py", ("prices.py",)))
    with staged(tmp_path_factory.mktemp("changed") / "project", plan) as stage:
        stage.make("ann", FIRST, prices=RATE, total="def total(count):\n    return 1\n")
        yield stage


def test_the_gates_of_a_change(changed: LandingStage) -> None:
    """Every gate of the judgement, with what it found."""
    matrix = task_matrix(changed.project, FIRST)
    outcome = results(matrix)
    assert outcome["scope"] == ["failed"]
    assert outcome["tests"] == ["passed"]
    scope = next(row for row in matrix.checks if row.check == "scope")
    assert any("total.py" in text for text in scope.attempts[0].messages)


def test_the_files_of_a_change(changed: LandingStage) -> None:
    """With their lines counted, and those outside the pins flagged."""
    view = attempt_change(changed.project, FIRST)
    files = {file.path: file for file in view.files}
    assert files["prices.py"].is_allowed
    assert (files["prices.py"].added, files["prices.py"].removed) == (1, 1)
    assert not files["total.py"].is_allowed
    assert files["total.py"].why != "allowed"


def test_the_lines_of_a_file(changed: LandingStage) -> None:
    """In parts, each line with its number before and after."""
    lines = change_lines(changed.project, FIRST, "prices.py")
    removed = lines.kinds.index("-")
    assert lines.kinds[0] == "@"
    assert (lines.text[removed], lines.old[removed]) == ("    return 5", 2)
    assert (lines.text[removed + 1], lines.new[removed + 1]) == ("    return 7", 2)
    part = change_lines(
        changed.project, FIRST, "prices.py", window=LineWindow(removed, 1)
    )
    assert (part.kinds, part.next) == ("-", removed + 1)
    with pytest.raises(NotFound):
        change_lines(changed.project, FIRST, "../secret")


def report(**outcomes: str) -> CommandRun:
    """A run of tests with these outcomes."""
    results = tuple(
        TestResult(test=f"test_a.py::{name}", outcome=TestOutcome(word), text="E  oh")
        for name, word in outcomes.items()
    )
    return CommandRun(
        command="pytest",
        exit_code=0,
        report=TestReport(runner="pytest", results=results),
    )


def test_tests_before_and_after() -> None:
    """By name; a test that is new has nothing before."""
    facts = AttemptFacts(
        base_runs=(report(same="passed", broken="passed", mended="failed"),),
        runs=(report(same="passed", broken="failed", mended="passed", new="passed"),),
    )
    compared = {test.test.partition("::")[2]: test for test in compared_tests(facts)}
    changes = {name: test.change for name, test in compared.items()}
    assert changes == {
        "same": "pass_to_pass",
        "broken": "pass_to_fail",
        "mended": "fail_to_pass",
        "new": "added_passing",
    }
    assert (compared["broken"].before, compared["broken"].after) == ("passed", "failed")
    assert compared["broken"].why == "E  oh"
    assert compared["new"].before is None
