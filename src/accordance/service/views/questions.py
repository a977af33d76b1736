"""What only a person can say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from accordance.domain.answering import (
    AnswerChoice,
    is_about_pins,
    question_name,
    reason_of,
)
from accordance.domain.outside_causes import cause_from
from accordance.domain.records import QuestionRecord
from accordance.service.views.base import PageView, View


class ChoiceView(View):
    """A possible answer, and what it leads to."""

    answer: str  # its word; `text` and `file` stand for a text and a file
    leads_to: str
    options: tuple[str, ...]  # one of which has to be chosen, if there are any


class QuestionView(View):
    """A question, and its answer as soon as it has been given."""

    question_id: str
    number: int | None  # None: it was asked before questions had numbers
    plan_id: str
    task_id: str | None
    kind: str
    text: str
    details: dict[str, Any]
    asked_at: str
    answered_at: str | None
    answer: dict[str, Any] | None
    reason_code: str
    reason: str  # in a sentence, without the code
    cause: str | None  # outside the task; it goes on by itself once that is gone

    @property
    def is_open(self) -> bool:
        """Whether it waits for an answer."""
        return self.answered_at is None

    @property
    def name(self) -> str:
        """The shortest name it has for a person."""
        return question_name(self.question_id, self.number)

    @property
    def waits_for_key(self) -> bool:
        """Whether it waits for a key, and for nothing that a person could say."""
        return self.is_open and self.reason_code == "PERMISSION_DENIED"


class AskedView(QuestionView):
    """A question with everything that is needed to answer it."""

    task_title: str | None
    plan_title: str
    since: str
    alike: int  # further tasks of the plan that wait for the same cause
    mend: str | None  # what ends the cause, if it lies outside the task
    choices: tuple[ChoiceView, ...]

    @property
    def is_about_pins(self) -> bool:
        """Whether wider pins let its task go on."""
        return is_about_pins(self.reason_code)


class QuestionPageView(PageView):
    """A page of questions."""

    items: tuple[AskedView, ...]


class DocumentFieldView(View):
    """A document that a question asks for, as the field of a form."""

    name: str  # goes into `documents` of the upload
    help: str
    accepted_types: tuple[str, ...]  # suffixes; empty: any
    suggested_path: str | None
    is_required: bool
    min_count: int
    has_file: bool  # there is a file already


class QuestionFormView(View):
    """A question as a form: its documents, its choices, its options."""

    question_id: str
    kind: str
    is_open: bool
    documents: tuple[DocumentFieldView, ...]
    takes_files: bool
    takes_text: bool
    largest_upload: int  # bytes, all files together
    most_files: int
    choices: tuple[ChoiceView, ...]


class AnsweredView(View):
    """What an answer has brought about."""

    question_id: str
    answer: dict[str, Any] | None
    task_id: str | None
    plan_id: str
    state: str  # of the task, or of the plan where the question was about all of it


def question_view(question: QuestionRecord) -> QuestionView:
    """Show a question."""
    return QuestionView(**question_fields(question))


def question_fields(question: QuestionRecord) -> dict[str, Any]:
    """What every view of a question shows."""
    reason = reason_of(question.kind, question.text, question.details)
    return {
        "question_id": question.question_id,
        "number": question.number,
        "plan_id": question.plan_id,
        "task_id": question.task_id,
        "kind": question.kind,
        "text": question.text,
        "details": dict(question.details),
        "asked_at": question.asked_at,
        "answered_at": question.answered_at,
        "answer": None if question.answer is None else dict(question.answer),
        "reason_code": reason.code,
        "reason": reason.sentence,
        "cause": question.cause,
    }


def asked_view(
    question: QuestionRecord,
    *,
    task_title: str | None,
    plan_title: str,
    alike: int,
    choices: Iterable[AnswerChoice],
) -> AskedView:
    """Show a question with everything that is needed to answer it."""
    cause = cause_from(question.cause)
    return AskedView(
        **question_fields(question),
        task_title=task_title,
        plan_title=plan_title,
        since=question.asked_at,
        alike=alike,
        mend=None if cause is None else cause.mend,
        choices=tuple(
            ChoiceView(
                answer=choice.word,
                leads_to=choice.leads_to,
                options=choice.options,
            )
            for choice in choices
        ),
    )
