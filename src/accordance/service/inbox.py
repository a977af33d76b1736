"""What only a person can say: the questions, and their answers."""

from __future__ import annotations

from accordance.domain.records import QuestionRecord
from accordance.service.project import Project, find_plan
from accordance.service.views.questions import AnsweredView, QuestionView, question_view
from accordance.store.ledger import Transaction
from accordance.work import inbox
from accordance.work.inbox import PersonAnswer, Upload

__all__ = ["PersonAnswer", "Upload", "answer_question", "list_questions"]


def list_questions(
    project: Project, plan: str | None = None, *, with_answered: bool = False
) -> list[QuestionView]:
    """The open questions, of one plan or of all; those that were answered, too, if wanted."""
    with project.ledger.read() as tx:
        return [
            question_view(question)
            for question in _questions(tx, plan, with_answered=with_answered)
        ]


def _questions(
    tx: Transaction, plan: str | None, *, with_answered: bool
) -> list[QuestionRecord]:
    only = {"plan_id": find_plan(tx, plan).plan_id} if plan else {}
    return (
        tx.find(QuestionRecord, **only) if with_answered else tx.open_questions(**only)
    )


def answer_question(
    project: Project, question_id: str, said: PersonAnswer
) -> AnsweredView:
    """Answer a question. Raises NotFound, Conflict (somebody has answered it) or UnfitAnswer."""
    question = inbox.answer(project.ledger, project.home, question_id, said)
    with project.ledger.read() as tx:
        state = (
            tx.progress(question.task_id).state
            if question.task_id
            else tx.plan(question.plan_id).state.value
        )
    return AnsweredView(
        question_id=question.question_id,
        answer=None if question.answer is None else dict(question.answer),
        task_id=question.task_id,
        plan_id=question.plan_id,
        state=state,
    )
