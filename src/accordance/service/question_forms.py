"""A question as a form: what can be handed in, and what each choice leads to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accordance.domain.answering import AnswerWord
from accordance.domain.records import QuestionRecord, RequirementRecord
from accordance.service.inbox import show_question
from accordance.service.project import Project, find_question
from accordance.service.views.questions import DocumentFieldView, QuestionFormView
from accordance.store.ledger import Transaction
from accordance.work.inputs import is_met

MOST_FILES: Final = 50
_MEGABYTE: Final = 1 << 20


def form_of(project: Project, name: str, largest_mb: int) -> QuestionFormView:
    """Return the form of a question. Raises NotFound or AmbiguousName."""
    asked = show_question(project, name)
    with project.ledger.read() as tx:
        question = find_question(tx, asked.question_id)
        documents = _documents(tx, question)
    words = {choice.answer for choice in asked.choices}
    return QuestionFormView(
        question_id=asked.question_id,
        kind=asked.kind,
        is_open=asked.is_open,
        documents=documents,
        takes_files=AnswerWord.FILE in words,
        takes_text=AnswerWord.TEXT in words,
        largest_upload=largest_mb * _MEGABYTE,
        most_files=MOST_FILES,
        choices=asked.choices,
    )


def _documents(
    tx: Transaction, question: QuestionRecord
) -> tuple[DocumentFieldView, ...]:
    needs = tx.find(
        RequirementRecord,
        plan_id=question.plan_id,
        question_id=question.question_id,
    )
    help_for = _descriptions(question.details)
    return tuple(
        DocumentFieldView(
            name=need.name,
            help=help_for.get(need.name, ""),
            accepted_types=need.allowed_types,
            suggested_path=need.suggested_path,
            is_required=need.required,
            min_count=need.min_count,
            has_file=is_met(tx, need),
        )
        for need in needs
    )


def _descriptions(details: Mapping[str, Any]) -> Mapping[str, str]:
    documents = details.get("required_docs")
    if not isinstance(documents, list | tuple):
        return {}
    descriptions = {}
    for document in documents:
        if isinstance(document, Mapping):
            name = str(document.get("name", ""))
            descriptions[name] = str(document.get("description", ""))
    return descriptions
