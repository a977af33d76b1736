"""Questions have numbers and causes; tasks go on by themselves once the cause is gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.faults import Fault
from accordance.domain.filters import Filter, Subject, parse_filter
from accordance.domain.lifecycle import Event
from accordance.domain.outside_causes import OutsideCause
from accordance.domain.paging import PageRequest
from accordance.domain.records import QuestionRecord, TaskRecord
from accordance.runtime.going_on import WaitingCause, go_on
from accordance.store.ledger import Transaction
from accordance.store.listings import QUESTION_LIST
from accordance.work.faults import fail_in, fail_unbegun, report_of
from accordance.work.inbox import answer
from accordance.work.person_answers import AlreadyAnswered, PersonAnswer
from tests.ledger.project import Project, asking, failing
from tests.messages import PLAN, Message, edge, node, plan

KEY = "THE_KEY"


def wide(count: int) -> Message:
    """A goal over actions that could all begin at once."""
    names = [f"t{at}" for at in range(count)]
    nodes = [node("root", "GOAL"), *(node(name) for name in names)]
    return plan(nodes, [edge("root", name) for name in names])


class Scripted:
    """A probe that finds whatever a test says, and counts how often it is asked."""

    def __init__(self, **obstacles: str) -> None:
        self.obstacles = obstacles
        self.asked: list[tuple[str, bool]] = []

    def obstacle(
        self, tx: Transaction, task: TaskRecord, cause: OutsideCause, *, of_review: bool
    ) -> str | None:
        """What the test says about a task."""
        assert tx.task(task.task_id) == task
        assert cause.lacks
        self.asked.append((task.task_id, of_review))
        return self.obstacles.get(task.task_id)


def without_key(project: Project, *tasks: str, lacks: str = KEY) -> None:
    """Block tasks for want of a key."""
    with project.ledger.write() as tx:
        for task in tasks:
            fail_unbegun(tx, task, Fault.KEY_MISSING, f"{lacks} is not set", lacks)


def went_on(project: Project, probe: Scripted) -> tuple[WaitingCause, ...]:
    """Start a run, as far as blocked tasks are concerned."""
    return go_on(project.ledger, probe, PLAN, by="a run")


# -- numbers


def test_questions_are_numbered_in_the_order_they_are_asked(project: Project) -> None:
    """Across transactions; an answer changes nothing."""
    project.runs(wide(3))
    project.submit("t0", asking("t0"))
    without_key(project, "t1", "t2")
    assert [asked.number for asked in project.questions()] == [1, 2, 3]
    with project.ledger.read() as tx:
        (second,) = tx.find(QuestionRecord, number=2)
    assert second.task_id == "t1"


def test_a_number_is_never_used_again(project: Project) -> None:
    """Not even when the plan it belonged to was imported anew."""
    project.imports(wide(1), waived_by=None)
    project.review_plan(b"no review")
    project.review_plan(b"no review either")
    project.review_plan(b"nor this")
    assert [asked.number for asked in project.questions()] == [2]  # 1: to approve it
    better = wide(2)
    project.imports(better, waived_by="test")
    assert project.questions() == []
    without_key(project, "t0")
    assert [asked.number for asked in project.questions()] == [3]


def test_a_second_answer_names_the_first(project: Project) -> None:
    """Who answered, when, and what."""
    project.runs(wide(1))
    project.submit("t0", asking("t0"))
    (asked,) = project.questions()
    project.answer(text="there is none")
    with pytest.raises(
        AlreadyAnswered, match=r"answered by test on 2026-03-01 .* UTC: there is none$"
    ):
        answer(
            project.ledger,
            project.home,
            asked.question_id,
            PersonAnswer(by="ben", go_on=True),
        )


# -- causes in lists


def listed(project: Project, wanted: Filter, limit: int = 100) -> list[str | None]:
    """The tasks of the questions that a list shows, page after page."""
    tasks: list[str | None] = []
    cursor = None
    while True:
        with project.ledger.read() as tx:
            request = PageRequest(limit=limit, cursor=cursor)
            page = tx.page(QUESTION_LIST, wanted, request)
        tasks += [question.task_id for question in page.items]
        if page.next is None:
            return tasks
        cursor = page.next


def test_tasks_with_the_same_cause_are_listed_once(project: Project) -> None:
    """The first one stands for them; others causes, and none, are listed too."""
    project.runs(wide(6))
    without_key(project, "t0", "t1", "t2")
    without_key(project, "t3", lacks="OTHER_KEY")
    project.submit("t4", asking("t4"))
    project.submit("t5", asking("t5"))
    wanted = parse_filter("state:open", Subject.QUESTIONS)
    grouped = replace(wanted, first_of_cause=True)
    for limit in (1, 2, 100):
        tasks = listed(project, grouped, limit)
        assert sorted(str(task) for task in tasks[1:]) == ["t3", "t4", "t5"]
        assert len(listed(project, wanted, limit)) == 6

    with project.ledger.read() as tx:
        (first,) = tx.open_questions(task_id=tasks[0])
        alike = tx.count(QuestionRecord, cause=first.cause, answered_at=None)
        assert (first.cause, alike) == (f"key_missing: {KEY}", 3)
        assert tx.count(QuestionRecord, cause=None) == 2


# -- going on


def test_tasks_go_on_when_their_cause_is_gone(project: Project) -> None:
    """Each by an event of its own that says who saw it; used-up attempts are forgiven."""
    project.runs(wide(3))
    without_key(project, "t0", "t1")
    project.submit("t2", asking("t2"))
    (gone,) = went_on(project, Scripted())
    assert (gone.is_gone, sorted(gone.tasks)) == (True, ["t0", "t1"])
    assert gone.cause == OutsideCause(Fault.KEY_MISSING, KEY)
    assert project.states() == {
        "root": "PENDING",
        "t0": "READY",
        "t1": "READY",
        "t2": "BLOCKED",
    }
    with project.ledger.read() as tx:
        event = tx.entries_of("t0")[-1]
    assert (event.kind, event.payload["by"]) == ("CAUSE_GONE", "a run")
    assert event.payload["cause"] == f"key_missing: {KEY}"
    assert [asked.task_id for asked in project.questions()] == ["t2"]


def test_a_cause_that_is_still_there(project: Project) -> None:
    """Keeps its tasks waiting, and nothing is tried."""
    project.runs(wide(2))
    without_key(project, "t0", "t1")
    before = project.kinds("t1")
    (gone, still) = went_on(project, Scripted(t1="it is not set"))
    assert (gone.tasks, gone.obstacle) == (("t0",), None)
    assert (still.tasks, still.obstacle) == (("t1",), "it is not set")
    assert project.state("t1") == "BLOCKED"
    assert project.kinds("t1") == before


def test_a_failure_of_the_task_itself_is_left_alone(project: Project) -> None:
    """A run never answers for a person."""
    project.runs(wide(1))
    project.submit("t0", failing("t0", "LLM_REFUSAL"))
    assert project.state("t0") == "BLOCKED"
    probe = Scripted()
    assert went_on(project, probe) == ()
    assert probe.asked == []
    assert project.state("t0") == "BLOCKED"


def test_a_review_goes_on_as_a_review(project: Project) -> None:
    """The product is not made again because the reviewer's key was missing."""
    project.runs(wide(1))
    project.submit("t0")
    taken = project.take()
    assert not isinstance(taken, str)
    report = report_of(Fault.KEY_MISSING, "not set", KEY)
    with project.ledger.write() as tx:
        fail_in(tx, "t0", 1, report)
    assert project.state("t0") == "BLOCKED"
    probe = Scripted()
    assert len(went_on(project, probe)) == 1
    assert probe.asked == [("t0", True)]
    assert project.state("t0") == "READY_TO_CHECK"
    assert project.review("t0").content["state"] == "DONE"


def test_a_task_that_was_answered_meanwhile(project: Project) -> None:
    """Between the look and the act: the answer stands."""
    project.runs(wide(1))
    without_key(project, "t0")

    original = project.ledger.write

    def answered_first() -> object:
        project.ledger.write = original  # type: ignore[method-assign]
        project.answer(give_up=True)
        return original()

    project.ledger.write = answered_first  # type: ignore[method-assign,assignment]
    assert went_on(project, Scripted()) == ()
    assert project.state("t0") == "DEAD_LETTER"


def test_going_on_without_a_question_is_noticed(on_sqlite: Project) -> None:
    """Whoever lets a task go on that was blocked for another reason breaks the ledger."""
    on_sqlite.runs(wide(1))
    on_sqlite.submit("t0", asking("t0"))
    (asked,) = on_sqlite.questions()
    with on_sqlite.ledger.write() as tx:
        why = {"by": "somebody", "question": asked.question_id, "cause": None}
        tx.happen("t0", Event.CAUSE_GONE, why=why)
    (finding,) = on_sqlite.verify().integrity
    assert finding.endswith("CAUSE_GONE of task t0 has no question with that cause")
