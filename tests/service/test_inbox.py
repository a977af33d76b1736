"""Questions as people see and answer them, and acts on many things at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.domain.faults import Fault
from accordance.domain.records import QuestionRecord
from accordance.domain.task_ruling import QuestionKind
from accordance.errors import AmbiguousName, NotFound
from accordance.service import bulk, dead_letters, inbox
from accordance.service.completing import names_like
from accordance.service.inbox import PersonAnswer
from accordance.service.listing import ListQuery
from accordance.service.project import Project, find_question, open_project, task_id_of
from accordance.service.tasks import cancel
from accordance.work.faults import fail_unbegun
from accordance.work.intake import submit
from accordance.work.person_answers import MisspeltAnswer, UnfitAnswer
from tests.ledger.project import asking, encoded, failing
from tests.messages import PLAN, edge, node, plan
from tests.service.conftest import brings

HOSTILE = "Red \x1b[31m title\n::error::"


@pytest.fixture(params=["sqlite", "postgresql"])
def wide(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """Five actions that could all begin at once, on each kind of database."""
    place = None
    if request.param == "postgresql":
        place = request.getfixturevalue("postgresql_url")
    with open_project(tmp_path, place, create=True) as project:
        titles = ["Draft", "Draft the index", "Layout", "Price list", HOSTILE]
        nodes = [node("root", "GOAL", title="Catalogue")]
        edges = []
        for at, title in enumerate(titles):
            task = f"task-{at}"
            nodes.append(node(task, title=title))
            edges.append(edge("root", task))
        brings(project, plan(nodes, edges))
        yield project


def blocked(project: Project, *tasks: str, lacks: str = "THE_KEY") -> None:
    """Block tasks for want of a key, one after the other."""
    for task in tasks:
        with project.ledger.write() as tx:
            fail_unbegun(tx, task, Fault.KEY_MISSING, f"{lacks} is not set", lacks)


def asks(project: Project, task: str) -> str:
    """A question about a document; returns its id."""
    message = encoded(asking(task, f"sheet-{task}", "pdf"))
    submit(project.ledger, project.home, message, task_id=task)
    with project.ledger.read() as tx:
        (question,) = tx.open_questions(task_id=task)
    return question.question_id


# -- what a question shows


def test_a_question_says_who_asks_and_what_can_be_answered(wide: Project) -> None:
    """Task, plan, since when, why, the choices and where each leads."""
    blocked(wide, "task-0", "task-1")
    asks(wide, "task-2")
    first, second = inbox.list_questions(wide).items
    assert (first.number, first.task_title, first.alike) == (1, "Draft", 1)
    assert first.plan_title
    assert first.since == first.asked_at
    assert (first.reason_code, first.reason) == (
        "PERMISSION_DENIED",
        "THE_KEY is not set",
    )
    assert (first.waits_for_key, first.mend) == (True, "set the variable")
    assert [choice.answer for choice in first.choices] == [
        "retry",
        "text",
        "file",
        "give-up",
    ]
    assert (second.number, second.task_title, second.mend) == (3, "Layout", None)
    assert inbox.show_question(wide, "3") == second
    each = inbox.list_questions(wide, by_cause=False).items
    assert [question.number for question in each] == [1, 2, 3]


def test_the_list_of_very_many_questions_is_bounded(wide: Project) -> None:
    """A page is a page, and the cursor goes on behind it."""
    for task in ("task-0", "task-1", "task-2", "task-3"):
        asks(wide, task)
    page = inbox.list_questions(wide, ListQuery(limit=3))
    assert len(page.items) == 3
    rest = inbox.list_questions(wide, ListQuery(limit=3, cursor=page.next))
    assert (len(rest.items), rest.next) == (1, None)


def test_ten_thousand_tasks_without_a_key(project: Project) -> None:
    """Are one question in the list, and pages where each is wanted."""
    with project.ledger.write() as tx:
        tx.record(PLAN, "NOTED")
        for at in range(10_000):
            question = QuestionRecord(
                question_id=f"q-{at:06}",
                plan_id=PLAN,
                task_id="a",
                kind=QuestionKind.HELP,
                text="PERMISSION_DENIED: it is not set",
                details={},
                asked_at=tx.now,
                number=at + 1,
                cause="key_missing: THE_KEY",
            )
            tx.add(question)
    (first,) = inbox.list_questions(project).items
    assert (first.number, first.alike) == (1, 9_999)
    each = inbox.list_questions(project, by_cause=False)
    assert len(each.items) == 100
    assert each.next is not None


# -- names


@pytest.mark.parametrize(
    "name", ["1", "#1", "Draft the index", "draft the", "task-1"], ids=str
)
def test_a_question_is_named(wide: Project, name: str) -> None:
    """By its number, or by the task that asks."""
    question_id = asks(wide, "task-1")
    with wide.ledger.read() as tx:
        assert find_question(tx, name).question_id == question_id
        assert find_question(tx, question_id[:6]).question_id == question_id


@pytest.mark.parametrize("name", ["2", "99999999999", "q-", "Layout", "-1", ""])
def test_a_question_nobody_asked(wide: Project, name: str) -> None:
    """Is not found, whatever the name looks like."""
    asks(wide, "task-1")
    with wide.ledger.read() as tx, pytest.raises(NotFound):
        find_question(tx, name)


def test_tasks_by_title(wide: Project) -> None:
    """A whole title before a longer one; a name that fits several lists them."""
    assert task_id_of(wide, "draft") == "task-0"
    assert task_id_of(wide, "price") == "task-3"
    assert task_id_of(wide, HOSTILE) == "task-4"
    with pytest.raises(AmbiguousName, match=r"fits 2 tasks; .*task-0 \(Draft\)"):
        task_id_of(wide, "Dra")
    with pytest.raises(NotFound, match="did you mean Layout"):
        task_id_of(wide, "Layuot")


# -- answering


def test_a_line_is_read_by_the_question(wide: Project) -> None:
    """A word of its choices, or a text; a word that it does not have is refused."""
    blocked(wide, "task-0")
    retry = inbox.read_line(wide, "1", "Retry", by="anna")
    assert retry == PersonAnswer(by="anna", go_on=True)
    approve = inbox.read_line(wide, "1", "approve", by="anna")
    with pytest.raises(UnfitAnswer, match="no product to approve"):
        inbox.answer_question(wide, "1", approve)
    resume = PersonAnswer(by="anna", yes=True)
    with pytest.raises(UnfitAnswer, match="answer with one of: retry"):
        inbox.answer_question(wide, "1", resume)
    answered = inbox.answer_question(wide, "1", retry)
    assert (answered.state, answered.answer) == (
        "READY",
        {"by": "anna", "go_on": True},
    )


def test_a_misspelt_line_is_refused(wide: Project) -> None:
    """It is no text for the next attempt; the question stays open."""
    blocked(wide, "task-0")
    with pytest.raises(MisspeltAnswer, match="did you mean retry"):
        inbox.read_line(wide, "1", "rety", by="anna")
    assert inbox.show_question(wide, "1").is_open


def test_questions_of_one_cause_are_answered_together(wide: Project) -> None:
    """Those answered meanwhile are left out, and named."""
    blocked(wide, "task-0", "task-1", "task-2")
    preview = inbox.preview_alike(wide, "1")
    assert len(preview.items) == 3
    inbox.answer_question(wide, "2", PersonAnswer(by="ben", give_up=True))
    result = inbox.answer_all(wide, preview, "retry", by="anna")
    assert {item.state for item in result.done} == {"READY"}
    (skipped,) = result.skipped
    assert "answered by ben" in skipped.why
    assert "given up" in skipped.why


def test_all_open_questions_that_fit(wide: Project) -> None:
    """A question that takes no such answer is left as it is."""
    asks(wide, "task-0")
    blocked(wide, "task-1")
    preview = inbox.preview_answers(wide, ListQuery(filter="state:open"))
    result = inbox.answer_all(wide, preview, "retry", by="anna")
    assert [item.title for item in result.done] == ["Draft the index"]
    assert "retry does not answer it" in result.skipped[0].why
    only_help = inbox.preview_answers(wide, ListQuery(filter="kind:documents"))
    assert [item.title for item in only_help.items] == ["Draft"]


# -- tasks and dead letters


def test_many_tasks_are_tried_again(wide: Project) -> None:
    """What changed since the preview is left out and named; the rest is done."""
    blocked(wide, "task-0", "task-1")
    query = ListQuery(filter=f"plan:{PLAN}")
    preview = bulk.preview_retries(wide, query)
    assert [item.id for item in preview.items] == ["task-0", "task-1"]
    assert preview.left_out == 4
    inbox.answer_question(wide, "1", PersonAnswer(by="ben", go_on=True))
    result = bulk.retry_all(wide, preview, by="anna", reason="the key is set")
    assert [(item.id, item.state) for item in result.done] == [("task-1", "READY")]
    assert [item.id for item in result.skipped] == ["task-0"]
    assert "changed meanwhile: it is READY now" in result.skipped[0].why
    with wide.ledger.read() as tx:
        why = tx.entries_of("task-1")[-1].payload
    assert (why["by"], why["reason"]) == ("anna", "the key is set")


def test_many_tasks_are_cancelled(wide: Project) -> None:
    """Also where others wait: each task as a whole, or not at all."""
    preview = bulk.preview_cancels(wide, ListQuery(filter="draft"))
    assert [item.title for item in preview.items] == ["Draft", "Draft the index"]
    cancel(wide, "task-0", by="ben")
    result = bulk.cancel_all(wide, preview, by="anna")
    assert [item.id for item in result.done] == ["task-1"]
    assert [item.id for item in result.skipped] == ["task-0"]


def test_dead_letters_by_filter(wide: Project) -> None:
    """Are requeued, or dropped."""
    for task in ("task-0", "task-2", "task-3"):
        asks(wide, task)
        inbox.answer_question(wide, task, PersonAnswer(by="ben", give_up=True))
    drafts = bulk.preview_dead_letters(wide, ListQuery(filter="draft"))
    requeued = bulk.requeue_all(wide, drafts, by="anna")
    assert [(item.id, item.state) for item in requeued.done] == [("task-0", "READY")]
    preview = bulk.preview_dead_letters(wide, ListQuery())
    dead_letters.requeue(wide, "Layout", by="ben")
    dropped = bulk.cancel_all(wide, preview, by="anna")
    assert [item.id for item in dropped.done] == ["task-3"]
    assert [item.id for item in dropped.skipped] == ["task-2"]


# -- completion


def test_names_for_a_shell(project: Project) -> None:
    """Of the file as it is; without a ledger there is nothing to say, and no error."""
    root = project.home.root
    assert names_like("tasks", "ro", home=root) == [("root", "Task root")]
    assert names_like("plans", PLAN[:3], home=root)[0][0] == PLAN
    submit(
        project.ledger, project.home, encoded(failing("a", "LLM_REFUSAL")), task_id="a"
    )
    assert [name for name, _ in names_like("questions", "1", home=root)] == ["1"]
    assert len(names_like("questions", "q-", home=root)) == 1
    assert names_like("tasks", "x' OR '1'='1", home=root) == []


@pytest.mark.parametrize("place", ["missing.db", "plan.json", "postgresql://nowhere/x"])
def test_nothing_to_complete(tmp_path: Path, place: str) -> None:
    """No ledger, another file, a database elsewhere: silence, and nothing is written."""
    (tmp_path / "plan.json").write_text("{}")
    before = sorted(tmp_path.iterdir())
    assert names_like("tasks", "", home=tmp_path, place=place) == []
    assert sorted(tmp_path.iterdir()) == before
