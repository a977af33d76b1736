"""Answers that were asked for again within one run: each leaves the event LLM_UNPARSEABLE and its count. On every ledger."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Counters
from accordance.domain.records import Rules
from accordance.executors.protocol import ASKED_AGAIN, MODEL_CALL
from accordance.runtime.bad_answers import record_bad_answers
from accordance.work.taking import Taken
from tests.ledger.project import Project, failing
from tests.ledger.work.test_work import GARBAGE, checked_plan, wide_plan


def a_report(bad_answers: int) -> dict[str, Any]:
    """The report of a run in which a model was asked again so often."""
    bad = {
        "what": ASKED_AGAIN,
        "answer": "5e" * 32,
        "why": "$: expected one JSON object",
    }
    return {"fault": None, "seen": [{"what": MODEL_CALL}, *[bad] * bad_answers]}


def mend(project: Project, task: str, attempt: int, bad_answers: int) -> int:
    """Write down that so many answers were mended; the number of the attempt afterwards."""
    with project.ledger.write() as tx:
        return record_bad_answers(tx, task, attempt, a_report(bad_answers))


def counters(project: Project, task: str = "a") -> Counters:
    """What was counted."""
    return project.task(task).progress.standing.counters


@pytest.mark.seed("000-2", "000-32", "000-34")
def test_an_answer_that_was_mended_leaves_its_event_and_its_count(
    project: Project,
) -> None:
    """The task is FAILED in between, the run goes on, and whoever has the task still has it."""
    project.runs(wide_plan("a")).take(holder="worker")
    assert mend(project, "a", 1, 2) == 3
    again = ["LLM_UNPARSEABLE", "ASKED_AGAIN"]
    assert project.kinds("a")[-5:] == ["CLAIMED", *again, *again]
    assert (counters(project).parse_failures, counters(project).attempt_count) == (2, 3)
    lease = project.task("a").lease
    assert lease is not None
    assert lease.holder == "worker"
    assert project.submit("a", attempt=3).content["state"] == "READY_TO_CHECK"


def test_what_was_mended_uses_up_no_retry(project: Project) -> None:
    """Runs are retried, not answers: a task with two attempts still has two."""
    project.runs(wide_plan("a"), Rules(fuses=Fuses(attempts=2)))
    project.take()
    number = mend(project, "a", 1, 5)
    assert project.submit("a", failing("a"), attempt=number).content["state"] == "READY"
    assert project.submit("a", failing("a", "OTHER")).content["state"] == "BLOCKED"


def test_a_check_is_counted_like_any_task(project: Project) -> None:
    """Its review is its own attempt."""
    project.runs(checked_plan()).submit("a")
    assert project.takes() == "check0"
    assert mend(project, "check0", 1, 1) == 2
    assert counters(project, "check0").parse_failures == 1
    assert project.review("check0").content["state"] == "DONE"


@pytest.mark.seed("000-32", "000-33")
def test_a_reviewer_of_a_task_without_a_check(project: Project) -> None:
    """The count is the reviewer's, and no failure is held against the next one."""
    project.runs(wide_plan("a")).submit("a")
    taken = project.take()
    assert isinstance(taken, Taken)
    assert mend(project, "a", taken.attempt, 2) == 1, (
        "the product's attempt keeps its number"
    )
    assert project.kinds("a")[-2:] == ["LLM_UNPARSEABLE", "REVIEWER_ASKED_AGAIN"]
    assert (counters(project).review_failures, counters(project).attempt_count) == (
        2,
        3,
    )
    assert project.review_raw("a", GARBAGE).content["state"] == "READY_TO_CHECK"
    assert project.review("a").content["state"] == "DONE"


@pytest.mark.parametrize(
    ("attempt", "bad_answers"),
    [
        pytest.param(2, 1, id="the attempt is over"),
        pytest.param(1, 0, id="nothing was mended"),
    ],
)
def test_nothing_is_counted_where_nothing_happened(
    project: Project, attempt: int, bad_answers: int
) -> None:
    """A run that came too late says nothing about the task as it is now."""
    project.runs(wide_plan("a")).take()
    before = project.kinds("a")
    assert mend(project, "a", attempt, bad_answers) == attempt
    assert project.kinds("a") == before
