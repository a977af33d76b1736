"""What only a person can say: the questions, and their answers."""

from __future__ import annotations

from accordance.domain.filters import OPEN, Subject, Term, Word
from accordance.domain.lifecycle import State
from accordance.service.listing import ListQuery, filter_for
from accordance.service.project import Project
from accordance.service.views.questions import (
    AnsweredView,
    QuestionPageView,
    question_view,
)
from accordance.store.listings import QUESTION_LIST
from accordance.work.person_answers import PersonAnswer, Upload

__all__ = ["PersonAnswer", "Upload", "answer_question", "list_questions"]


def list_questions(
    project: Project, query: ListQuery | None = None, *, with_answered: bool = False
) -> QuestionPageView:
    """Return a page of the questions, the oldest first.

    Only the open ones, unless the filter names a state or all are wanted.
    """
    query = query or ListQuery()
    with project.ledger.read() as tx:
        wanted = filter_for(tx, query.filter, Subject.QUESTIONS)
        if not with_answered and not wanted.has(Word.STATE):
            wanted = wanted.plus(Term(Word.STATE, OPEN))
        page = tx.page(QUESTION_LIST, wanted, query.request)
    items = tuple(question_view(question) for question in page.items)
    return QuestionPageView(items=items, next=page.next)


def answer_question(
    project: Project, question_id: str, answer: PersonAnswer
) -> AnsweredView:
    """Answer a question.

    Raises NotFound, UnfitAnswer, and Conflict if it was answered before.
    """
    from accordance.work import inbox

    question = inbox.answer(project.ledger, project.home, question_id, answer)
    if answer.approve and question.task_id:
        _land(project, question.task_id)
    with project.ledger.read() as tx:
        if question.task_id:
            state: str = tx.progress(question.task_id).state
        else:
            state = tx.plan(question.plan_id).state.value
    return AnsweredView(
        question_id=question.question_id,
        answer=None if question.answer is None else dict(question.answer),
        task_id=question.task_id,
        plan_id=question.plan_id,
        state=state,
    )


def _land(project: Project, task_id: str) -> None:
    """Land an approved change that the plan has overtaken; others are left alone."""
    with project.ledger.read() as tx:
        is_ready = tx.progress(task_id).state is State.READY
    if is_ready:
        from accordance.changes.outside import land_task

        land_task(project.ledger, project.home, task_id)
