"""What only a person can say: the questions, and their answers."""

from __future__ import annotations

from dataclasses import replace

from accordance.domain.answering import (
    AnswerChoice,
    AnswerWord,
    Circumstance,
    ReadAnswer,
    choices_for,
    misspelt_word,
    read_answer,
)
from accordance.domain.filters import ANSWERED, OPEN, Filter, Subject, Term, Word
from accordance.domain.lifecycle import State
from accordance.domain.records import QuestionRecord
from accordance.domain.uploads import plain_name, why_unfit
from accordance.errors import AccordanceError
from accordance.service.bulk import carry_out
from accordance.service.listing import ListQuery, all_of, filter_for
from accordance.service.project import Project, find_question
from accordance.service.views.bulk import BulkItemView, BulkPreviewView, BulkResultView
from accordance.service.views.questions import (
    AnsweredView,
    AskedView,
    QuestionPageView,
    asked_view,
)
from accordance.store.ledger import Transaction
from accordance.store.listings import QUESTION_LIST
from accordance.work.person_answers import (
    MisspeltAnswer,
    PersonAnswer,
    Upload,
    person_answer,
)

__all__ = ["AnswerWord", "PersonAnswer", "ReadAnswer", "Upload"]


class UnfitUpload(AccordanceError):
    """A file that is not what its name says, or that is a program."""

    code = "unfit-upload"


def list_questions(
    project: Project,
    query: ListQuery | None = None,
    *,
    with_answered: bool = False,
    by_cause: bool = True,
) -> QuestionPageView:
    """Return a page of the questions, the oldest first.

    Only the open ones, unless the filter names a state or all are wanted. Of open
    questions with the same cause only the first is shown, with the number of the
    others, unless all are wanted (not `by_cause`).
    """
    query = query or ListQuery()
    with project.ledger.read() as tx:
        wanted = _wanted(tx, query, with_answered=with_answered, by_cause=by_cause)
        page = tx.page(QUESTION_LIST, wanted, query.request)
        items = tuple(asked_in(tx, question) for question in page.items)
    return QuestionPageView(items=items, next=page.next)


def _wanted(
    tx: Transaction,
    query: ListQuery,
    *,
    with_answered: bool,
    by_cause: bool,
) -> Filter:
    wanted = filter_for(tx, query.filter, Subject.QUESTIONS)
    if with_answered or wanted.has(Word.STATE):
        return wanted
    only_open = wanted.plus(Term(Word.STATE, OPEN))
    return replace(only_open, first_of_cause=by_cause)


def show_question(project: Project, name: str) -> AskedView:
    """Return a question. Raises NotFound or AmbiguousName."""
    with project.ledger.read() as tx:
        return asked_in(tx, find_question(tx, name))


def asked_in(tx: Transaction, question: QuestionRecord) -> AskedView:
    """Return a question of the ledger with everything that is needed to answer it."""
    task_title = tx.task(question.task_id).title if question.task_id else None
    return asked_view(
        question,
        task_title=task_title,
        plan_title=tx.plan(question.plan_id).title,
        alike=_count_alike(tx, question),
        choices=_choices(tx, question),
    )


def _count_alike(tx: Transaction, question: QuestionRecord) -> int:
    """How many further open questions of its plan have the same cause."""
    if question.cause is None or question.answered_at is not None:
        return 0
    alike = tx.count(
        QuestionRecord,
        plan_id=question.plan_id,
        cause=question.cause,
        answered_at=None,
    )
    return alike - 1


def _choices(tx: Transaction, question: QuestionRecord) -> tuple[AnswerChoice, ...]:
    """The possible answers, as things stand in the ledger."""
    circumstances = set()
    if question.task_id and tx.task(question.task_id).product is not None:
        circumstances.add(Circumstance.HAS_PRODUCT)
    has_begun = tx.plan(question.plan_id).run_started_at is not None
    circumstances.add(Circumstance.HAS_BEGUN if has_begun else Circumstance.NOT_BEGUN)
    options = question.details.get("options")
    listed = options if isinstance(options, list) else ()
    return choices_for(question.kind, circumstances, [str(each) for each in listed])


def read_line(project: Project, name: str, line: str, *, by: str) -> PersonAnswer:
    """Read what a person wrote as an answer to a question: a choice, or a text.

    Raises MisspeltAnswer.
    """
    with project.ledger.read() as tx:
        question = find_question(tx, name)
        choices = _choices(tx, question)
    word = misspelt_word(line, choices)
    if word is not None:
        raise MisspeltAnswer(
            f"{line!r} is not an answer of {question.question_id}",
            way_out=f"did you mean {word}?",
        )
    read = read_answer(line, choices)
    return person_answer(read, by=by)


def answer_question(project: Project, name: str, answer: PersonAnswer) -> AnsweredView:
    """Answer a question.

    Raises NotFound, AmbiguousName, UnfitAnswer, and AlreadyAnswered.
    """
    from accordance.work import inbox

    with project.ledger.read() as tx:
        question_id = find_question(tx, name).question_id
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


# -- many at once


def preview_answers(project: Project, query: ListQuery) -> BulkPreviewView:
    """Return the open questions that a filter fits, without a change."""
    with project.ledger.read() as tx:
        wanted = _wanted(tx, query, with_answered=False, by_cause=False)
        questions = all_of(tx, QUESTION_LIST, wanted)
        items = tuple(_item(tx, question) for question in questions)
    return BulkPreviewView(items=items, left_out=0)


def preview_alike(project: Project, name: str) -> BulkPreviewView:
    """Return a question and those with the same cause, without a change."""
    with project.ledger.read() as tx:
        question = find_question(tx, name)
        alike = [question]
        if question.cause is not None and question.answered_at is None:
            alike = tx.open_questions(plan_id=question.plan_id, cause=question.cause)
        items = tuple(_item(tx, asked) for asked in alike)
    return BulkPreviewView(items=items, left_out=0)


def answer_all(
    project: Project,
    seen: BulkPreviewView,
    line: str,
    *,
    by: str,
) -> BulkResultView:
    """Answer the questions of a preview with a line, each in its own transaction.

    What was answered meanwhile, or takes no such answer, is left out and named.
    """

    def act(item: BulkItemView) -> str:
        answer = read_line(project, item.id, line, by=by)
        return answer_question(project, item.id, answer).state

    return carry_out(seen, act)


def _item(tx: Transaction, question: QuestionRecord) -> BulkItemView:
    if question.task_id:
        title = tx.task(question.task_id).title
    else:
        title = tx.plan(question.plan_id).title
    state = OPEN if question.answered_at is None else ANSWERED
    return BulkItemView(
        id=question.question_id,
        title=title,
        state=state,
        seen_at=question.asked_at,
    )


# -- files from outside


def upload_from(name: str, content: bytes, document: str | None = None) -> Upload:
    """Return a file that came from outside. Raises UnfitUpload.

    Only the last part of its name is taken, and of that what is safe in a file name.
    """
    fault = why_unfit(name, content)
    if fault is not None:
        raise UnfitUpload(fault, way_out="send the document itself")
    return Upload(plain_name(name), content, document or None)
