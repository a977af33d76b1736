"""What only a person can say."""

from __future__ import annotations

from typing import Any

from accordance.domain.records import QuestionRecord
from accordance.service.views.base import PageView, View


class QuestionView(View):
    """A question, and its answer once there is one."""

    question_id: str
    plan_id: str
    task_id: str | None
    kind: str
    text: str
    details: dict[str, Any]
    asked_at: str
    answered_at: str | None
    answer: dict[str, Any] | None

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer."""
        return self.answered_at is None


class QuestionPageView(PageView):
    """A page of questions."""

    items: tuple[QuestionView, ...]


class AnsweredView(View):
    """What an answer has brought about."""

    question_id: str
    answer: dict[str, Any] | None
    task_id: str | None
    plan_id: str
    state: str  # of the task, or of the plan where the question was about all of it


def question_view(question: QuestionRecord) -> QuestionView:
    """Show a question."""
    return QuestionView(
        question_id=question.question_id,
        plan_id=question.plan_id,
        task_id=question.task_id,
        kind=question.kind,
        text=question.text,
        details=dict(question.details),
        asked_at=question.asked_at,
        answered_at=question.answered_at,
        answer=None if question.answer is None else dict(question.answer),
    )
