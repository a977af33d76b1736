"""The inbox: questions that only a person can answer, and what an answer does."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from accordance.domain.answering import CHOICES, AnswerWord, question_name
from accordance.domain.lifecycle import Event, State
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.records import UNSPENT, QuestionRecord, RequirementRecord
from accordance.domain.ruling import QuestionKind
from accordance.errors import Conflict, NotFound
from accordance.project.home import Home, write_file
from accordance.store.ledger import Ledger, Transaction
from accordance.work.handed_documents import placed_uploads
from accordance.work.input_files import look_at_inputs
from accordance.work.inputs import (
    bind_inputs,
    supply,
    supply_from_artifact,
)
from accordance.work.landing import is_overtaken
from accordance.work.person_answers import (
    AlreadyAnswered,
    EmptyAnswer,
    GoalWaits,
    NeedsChoice,
    NeedsConfirmation,
    PersonAnswer,
    UnfitAnswer,
)
from accordance.work.plan_approval import approve_in, return_in
from accordance.work.plan_life import cancel_in
from accordance.work.reviewing import approve_product

_WORDS: Final[Mapping[str, str]] = {
    "approve": "approved",
    "give_up": "given up",
    "go_on": "go on",
}
"""The parts of an answer that say all by being there."""


def answer(
    ledger: Ledger, home: Home, question_id: str, reply: PersonAnswer
) -> QuestionRecord:
    """Answer a question.

    Raises NotFound, Conflict (it is answered already) or UnfitAnswer.
    """
    with ledger.read() as tx:
        question = _open_question(tx, question_id)
        _check_fits(question, reply)
        needs = tx.find(
            RequirementRecord, plan_id=question.plan_id, question_id=question_id
        )

    for place, upload in placed_uploads(reply.files, needs):
        write_file(home.inputs / place, upload.content)
    files = look_at_inputs(ledger, home) if reply.files else []

    with ledger.write() as tx:
        tx.lock(question.plan_id)
        question = _open_question(tx, question_id)
        if reply.files and not (reply.approve or reply.give_up):
            # while the question is open, so that the files can answer it
            bind_inputs(tx, question.plan_id, files)
        _close(tx, question, reply)
        _act(tx, question, reply)
        return tx.find(QuestionRecord, question_id=question_id)[0]


def _open_question(tx: Transaction, question_id: str) -> QuestionRecord:
    questions = tx.find(QuestionRecord, question_id=question_id)
    if not questions:
        known = (question.question_id for question in tx.open_questions())
        raise NotFound("question", question_id, known)

    question = questions[0]
    if question.answered_at is not None:
        raise AlreadyAnswered(how_answered(question))
    return question


def how_answered(question: QuestionRecord) -> str:
    """Say who answered a question, when, and what."""
    name = question_name(question.question_id, question.number)
    answer = dict(question.answer or {})
    by = answer.pop("by", None)
    closed_by = answer.pop("closed_by", None)
    at = (question.answered_at or "")[:19].replace("T", " ")
    moment = f"on {at} UTC"
    if closed_by is not None:
        return f"question {name} was closed {moment} ({closed_by})"

    parts = [_in_words(name, value) for name, value in answer.items()]
    who = by or "a person"
    what = f": {', '.join(parts)}" if parts else ""
    return f"question {name} was answered by {who} {moment}{what}"


def _in_words(name: str, value: object) -> str:
    """A part of an answer, in words."""
    if name == "yes":
        return "yes" if value else "no"
    if value is True:
        return _WORDS.get(name, name)
    if isinstance(value, list):
        return ", ".join(str(each) for each in value)
    return str(value)


def _check_fits(question: QuestionRecord, reply: PersonAnswer) -> None:
    """Refuse an answer of the wrong kind for its question. Raises UnfitAnswer."""
    question_id = question.question_id
    match question.kind:
        case QuestionKind.CONFIRMATION:
            if reply.yes is None:
                raise NeedsConfirmation(
                    f"{question_id} asks for a confirmation",
                    way_out="confirm or decline",
                )
        case QuestionKind.BINDING:
            _check_choice(question, reply)
        case QuestionKind.GOAL:
            if not reply.give_up:
                raise GoalWaits(
                    f"{question_id}: the goal goes on by itself when its dead part is"
                    " requeued or dropped",
                    way_out="requeue or drop that part, or give the goal up",
                )
        case QuestionKind.APPROVAL:
            if not (reply.text or reply.give_up or reply.approve):
                raise EmptyAnswer(
                    f"{question_id} asks for the review of a plan",
                    way_out="answer with approve, give-up, or what has to change",
                )
        case _:
            _check_word(question, reply)


def _check_word(question: QuestionRecord, reply: PersonAnswer) -> None:
    """Refuse an answer that the table of choices does not have."""
    words = [choice.word for choice in CHOICES[question.kind]]
    way_out = f"answer with one of: {', '.join(dict.fromkeys(words))}"
    word = reply.word
    if word is None:
        raise EmptyAnswer(
            f"{question.question_id}: the answer is empty", way_out=way_out
        )

    is_to_go_on = word is AnswerWord.RETRY and AnswerWord.RESUME in words
    if word not in words and not is_to_go_on:
        raise UnfitAnswer(
            f"{question.question_id}: {word} does not answer it", way_out=way_out
        )


def _check_choice(question: QuestionRecord, reply: PersonAnswer) -> None:
    options = question.details["options"]
    is_option = isinstance(options, list) and reply.choose in options
    if reply.choose is None or not is_option:
        raise NeedsChoice(
            f"{question.question_id} asks for a choice",
            way_out=f"choose one of {options}",
        )


def _close(tx: Transaction, question: QuestionRecord, reply: PersonAnswer) -> None:
    """Write down the answer, without what it leaves open."""
    content = {
        "by": reply.by,
        "text": reply.text,
        "files": [upload.name for upload in reply.files],
        "yes": reply.yes,
        "choose": reply.choose,
        "approve": reply.approve,
        "give_up": reply.give_up,
        "go_on": reply.go_on,
    }
    written = {
        key: value for key, value in content.items() if value not in (None, False, [])
    }
    if reply.yes is False:
        written["yes"] = False

    tx.replace(replace(question, answered_at=tx.now, answer=written))
    payload = {"question": question.question_id, **written}
    tx.record(question.plan_id, "QUESTION_ANSWERED", question.task_id, payload)


def _act(tx: Transaction, question: QuestionRecord, reply: PersonAnswer) -> None:
    match question.kind:
        case QuestionKind.CONFIRMATION:
            _confirm(tx, question, reply)
        case QuestionKind.BINDING:
            # the file is bound when the inputs are looked at next
            tx.save_plan(question.plan_id, inputs_seen=None)
        case QuestionKind.PLAN:
            _answer_for_plan(tx, question, reply)
        case QuestionKind.APPROVAL:
            _review_plan(tx, question, reply)
        case _:
            _answer_for_task(tx, question, reply)


def _why(question: QuestionRecord, reply: PersonAnswer) -> dict[str, str]:
    return {"by": reply.by, "question": question.question_id}


def _confirm(tx: Transaction, question: QuestionRecord, reply: PersonAnswer) -> None:
    if not reply.yes:
        _decline(tx, question, reply)
        return

    needs = tx.find(
        RequirementRecord,
        plan_id=question.plan_id,
        requirement_id=question.details["requirement_id"],
    )
    signature = f"{question.question_id}:{reply.by}"
    proof = hashlib.sha256(signature.encode()).hexdigest()
    supply(tx, needs[0], f"confirmed by {reply.by}", proof)


def _decline(tx: Transaction, question: QuestionRecord, reply: PersonAnswer) -> None:
    task_id = question.task_id or ""
    if tx.progress(task_id).state is State.ABANDONED:
        raise Conflict(
            f"task {task_id} is not in use now: the question counts once it is chosen"
        )
    tx.happen(task_id, Event.BURIED, why=_why(question, reply))


def _review_plan(
    tx: Transaction, question: QuestionRecord, reply: PersonAnswer
) -> None:
    """Approve the plan, cancel it, or return it for what the answer says."""
    plan_id = question.plan_id
    if reply.give_up:
        cancel_in(tx, tx.plan(plan_id), by=reply.by, reason=reply.text)
    elif reply.approve:
        approve_in(tx, plan_id, by=reply.by, note=reply.text)
    else:
        return_in(tx, plan_id, by=reply.by, reasons=[reply.text or ""])


def _answer_for_plan(
    tx: Transaction, question: QuestionRecord, reply: PersonAnswer
) -> None:
    why = _why(question, reply)
    plan = tx.plan(question.plan_id)
    has_begun = plan.run_started_at is not None

    if reply.give_up:
        cancel_in(tx, plan, by=reply.by, reason=reply.text)
    elif reply.approve:
        tx.move_plan(plan.plan_id, PlanEvent.WAIVED, why)
        run_started_at = tx.now if has_begun else None
        tx.save_plan(plan.plan_id, **UNSPENT, run_started_at=run_started_at)
    elif has_begun:
        tx.move_plan(plan.plan_id, PlanEvent.RESUMED, why)
        tx.save_plan(plan.plan_id, **UNSPENT, run_started_at=tx.now)
    else:
        tx.move_plan(plan.plan_id, PlanEvent.ANSWERED, why)
        tx.save_plan(plan.plan_id, rounds=0, review_failures=0)


def _answer_for_task(
    tx: Transaction, question: QuestionRecord, reply: PersonAnswer
) -> None:
    task_id = question.task_id or ""
    why = _why(question, reply)

    if reply.give_up:
        tx.happen(task_id, Event.BURIED, why=why)
    elif reply.approve:
        _vouch(tx, task_id, why)
    elif tx.progress(task_id).state is State.BLOCKED:
        tx.happen(task_id, Event.ANSWERED, why=why)


def _vouch(tx: Transaction, task_id: str, why: dict[str, str]) -> None:
    """Let a person approve the product of a task. Raises UnfitAnswer.

    A change that the plan has overtaken is applied to its new head first.
    """
    task = tx.task(task_id)
    if task.product is None:
        raise UnfitAnswer(f"task {task_id} has no product to approve")
    if is_overtaken(tx, task):
        tx.happen(task_id, Event.ANSWERED, why=why)
        return

    approve_product(tx, task)
    tx.happen(task_id, Event.VOUCHED, why=why)
    supply_from_artifact(tx, tx.task(task_id))
