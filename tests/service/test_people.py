"""What people see and decide: the inbox and the dead letters."""

from __future__ import annotations

import pytest

from accordance.errors import Conflict, NotFound
from accordance.service import dead_letters, inbox
from accordance.service.inbox import PersonAnswer, Upload
from accordance.service.listing import ListQuery
from accordance.service.project import Project
from accordance.work.intake import submit
from tests.ledger.project import asking, encoded, failing


@pytest.fixture
def asked(project: Project) -> str:
    """A question about a document that task a needs."""
    message = encoded(asking("a", "sheet", "pdf"))
    submit(project.ledger, project.home, message, task_id="a")
    (question,) = inbox.list_questions(project).items
    return question.question_id


def test_an_upload_answers_a_question(project: Project, asked: str) -> None:
    """A name and bytes: whoever hands it over needs no file on this machine."""
    said = PersonAnswer(by="anna", files=(Upload("prices.pdf", b"4.20"),))
    answered = inbox.answer_question(project, asked, said)
    assert (answered.task_id, answered.state) == ("a", "READY")
    assert (project.home.inputs / "sheet/prices.pdf").read_bytes() == b"4.20"
    assert inbox.list_questions(project).items == ()
    (question,) = inbox.list_questions(project, with_answered=True).items
    answered_ones = ListQuery(filter="state:answered")
    assert inbox.list_questions(project, answered_ones).items == (question,)
    assert (question.is_open, question.answer) == (
        False,
        {"by": "anna", "files": ["prices.pdf"]},
    )


def test_questions_of_another_plan(project: Project, asked: str) -> None:
    """A plan nobody knows has none; a question is answered once."""
    with pytest.raises(NotFound):
        inbox.list_questions(project, ListQuery(filter="plan:nothing"))
    inbox.answer_question(project, asked, PersonAnswer(by="anna", text="there is none"))
    with pytest.raises(Conflict):
        inbox.answer_question(
            project, asked, PersonAnswer(by="ben", text="there is one")
        )


@pytest.fixture
def given_up(project: Project, asked: str) -> Project:
    """Task a is in the dead letters."""
    inbox.answer_question(project, asked, PersonAnswer(by="anna", give_up=True))
    return project


def test_a_dead_letter(given_up: Project) -> None:
    """Is listed with the last verdict on it, and gets a new chance."""
    (letter,) = dead_letters.list_dead_letters(given_up).items
    assert (letter.task_id, letter.outcome) == ("a", "ESCALATE")
    moved = dead_letters.requeue(given_up, "a", by="anna")
    assert (moved.task_id, moved.state) == ("a", "READY")
    assert dead_letters.list_dead_letters(given_up).items == ()


def test_dropping(given_up: Project) -> None:
    """Only what was given up is dropped, and only if somebody says what becomes of what waits for it."""
    with pytest.raises(Conflict, match="tasks wait for a"):
        dead_letters.drop(given_up, "a", by="anna")
    with pytest.raises(
        dead_letters.NotADeadLetter, match=r"task b is PENDING, not a dead letter$"
    ):
        dead_letters.drop(given_up, "b", by="anna")
    dropped = dead_letters.drop(given_up, "a", by="anna", excuse=True)
    assert dropped.to_json() == {"task_id": "a", "state": "ABANDONED", "along": []}


def test_a_failure_is_no_dead_letter(project: Project) -> None:
    """It may be tried again."""
    submit(project.ledger, project.home, encoded(failing("a")), task_id="a")
    assert dead_letters.list_dead_letters(project).items == ()
