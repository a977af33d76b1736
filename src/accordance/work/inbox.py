"""What only a person can say, and what happens when they say it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

from accordance.domain.lifecycle import Event, State
from accordance.domain.naming import safe_name
from accordance.domain.plan_review import PlanEvent
from accordance.domain.records import UNSPENT, QuestionRecord, RequirementRecord
from accordance.domain.ruling import QuestionKind
from accordance.errors import AccordanceError, Conflict, NotFound
from accordance.project.home import Home, write_file
from accordance.store.ledger import Ledger, Transaction
from accordance.work.inputs import (
    bind_inputs,
    look_at_inputs,
    supply,
    supply_from_artifact,
)
from accordance.work.landing import is_behind
from accordance.work.reviewing import approve_product


class UnfitAnswer(AccordanceError):
    """An answer that does not fit its question."""

    code = "unfit-answer"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that somebody hands over: what it is called, and what is in it."""

    name: str
    content: bytes

    def __post_init__(self) -> None:
        is_path = "/" in self.name or "\0" in self.name
        if is_path or self.name in ("", ".", ".."):
            raise UnfitAnswer(f"{self.name!r}: is not the name of a file")


class NeedsConfirmation(UnfitAnswer):
    """The question asks for yes or no."""

    code = "needs-confirmation"


class NeedsChoice(UnfitAnswer):
    """The question asks for one of several things."""

    code = "needs-choice"


class GoalWaits(UnfitAnswer):
    """A goal whose part is dead is not answered; its part is."""

    code = "goal-waits"


class EmptyAnswer(UnfitAnswer):
    """The answer says nothing."""

    code = "empty-answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonAnswer:
    """What a person says."""

    by: str
    text: str | None = None
    files: tuple[Upload, ...] = ()
    yes: bool | None = None
    choose: str | None = None
    approve: bool = False
    give_up: bool = False


def answer(
    ledger: Ledger, home: Home, question_id: str, said: PersonAnswer
) -> QuestionRecord:
    """Answer a question. Raises NotFound, Conflict (somebody has answered it) or UnfitAnswer."""
    with ledger.read() as tx:
        question = _open(tx, question_id)
        _fits(question, said)
        wanted = tx.find(
            RequirementRecord, plan_id=question.plan_id, question_id=question_id
        )
    for upload in said.files:
        _keep_input(home, upload, wanted)
    files = look_at_inputs(ledger, home) if said.files else []
    with ledger.write() as tx:
        tx.lock(question.plan_id)
        question = _open(tx, question_id)
        if said.files and not (said.approve or said.give_up):
            bind_inputs(
                tx, question.plan_id, files
            )  # while the question is open: then they answer it
        _close(tx, question, said)
        _act(tx, question, said)
        return tx.find(QuestionRecord, question_id=question_id)[0]


def _open(tx: Transaction, question_id: str) -> QuestionRecord:
    found = tx.find(QuestionRecord, question_id=question_id)
    if not found:
        raise NotFound(
            "question", question_id, (one.question_id for one in tx.open_questions())
        )
    if found[0].answered_at is not None:
        raise Conflict(f"question {question_id} was answered at {found[0].answered_at}")
    return found[0]


def _fits(question: QuestionRecord, said: PersonAnswer) -> None:
    """Each kind of question has its kinds of answers."""
    match question.kind:
        case QuestionKind.CONFIRMATION:
            if said.yes is None:
                raise NeedsConfirmation(
                    f"{question.question_id} asks for a confirmation",
                    way_out="confirm or decline",
                )
        case QuestionKind.BINDING:
            options = question.details["options"]
            if (
                said.choose is None
                or not isinstance(options, list)
                or said.choose not in options
            ):
                raise NeedsChoice(
                    f"{question.question_id} asks for a choice",
                    way_out=f"choose one of {options}",
                )
        case QuestionKind.GOAL:
            if not said.give_up:
                raise GoalWaits(
                    f"{question.question_id}: the goal goes on by itself when its dead part is requeued or dropped",
                    way_out="look after that, or give the goal up",
                )
        case _:
            if not (said.text or said.files or said.give_up or said.approve):
                raise EmptyAnswer(
                    f"{question.question_id}: the answer is empty",
                    way_out="say something, add a file, approve or give up",
                )


def _close(tx: Transaction, question: QuestionRecord, said: PersonAnswer) -> None:
    content = {
        "by": said.by,
        "text": said.text,
        "files": [upload.name for upload in said.files],
        "yes": said.yes,
        "choose": said.choose,
        "approve": said.approve,
        "give_up": said.give_up,
    }
    told = {
        key: value for key, value in content.items() if value not in (None, False, [])
    }
    if said.yes is False:
        told["yes"] = False
    tx.replace(replace(question, answered_at=tx.now, answer=told))
    tx.record(
        question.plan_id,
        "QUESTION_ANSWERED",
        question.task_id,
        {"question": question.question_id, **told},
    )


def _act(tx: Transaction, question: QuestionRecord, said: PersonAnswer) -> None:
    match question.kind:
        case QuestionKind.CONFIRMATION:
            _confirm(tx, question, said)
        case QuestionKind.BINDING:
            tx.save_plan(
                question.plan_id, inputs_seen=None
            )  # it is bound when inputs are looked at next
        case QuestionKind.PLAN:
            _answer_for_plan(tx, question, said)
        case _:
            _answer_for_task(tx, question, said)


def _confirm(tx: Transaction, question: QuestionRecord, said: PersonAnswer) -> None:
    task = question.task_id or ""
    if not said.yes:
        if tx.progress(task).state is State.ABANDONED:
            raise Conflict(
                f"task {task} is not wanted now: the question counts when it is chosen"
            )
        tx.happen(
            task, Event.BURIED, why={"by": said.by, "question": question.question_id}
        )
        return
    wanted = question.details["requirement_id"]
    need = tx.find(RequirementRecord, plan_id=question.plan_id, requirement_id=wanted)[
        0
    ]
    proof = hashlib.sha256(f"{question.question_id}:{said.by}".encode()).hexdigest()
    supply(tx, need, f"confirmed by {said.by}", proof)


def _answer_for_plan(
    tx: Transaction, question: QuestionRecord, said: PersonAnswer
) -> None:
    why = {"by": said.by, "question": question.question_id}
    plan = tx.plan(question.plan_id)
    if said.give_up:
        tx.cancel(plan.root_task_id, why=why)
    elif said.approve:
        tx.move_plan(plan.plan_id, PlanEvent.WAIVED, why)
        tx.save_plan(
            plan.plan_id, **UNSPENT, run_started_at=plan.run_started_at and tx.now
        )
    elif plan.run_started_at is not None:
        tx.move_plan(plan.plan_id, PlanEvent.RESUMED, why)
        tx.save_plan(plan.plan_id, **UNSPENT, run_started_at=tx.now)
    else:
        tx.move_plan(plan.plan_id, PlanEvent.ANSWERED, why)
        tx.save_plan(plan.plan_id, rounds=0, review_failures=0)


def _answer_for_task(
    tx: Transaction, question: QuestionRecord, said: PersonAnswer
) -> None:
    task, why = (
        question.task_id or "",
        {"by": said.by, "question": question.question_id},
    )
    if said.give_up:
        tx.happen(task, Event.BURIED, why=why)
    elif said.approve:
        record = tx.task(task)
        if record.product is None:
            raise UnfitAnswer(f"task {task} has no product to approve")
        if is_behind(tx, record):
            raise Conflict(
                f"the plan's branch has moved on since task {task} was done: let it be tried again"
            )
        approve_product(tx, record)
        tx.happen(task, Event.VOUCHED, why=why)
        supply_from_artifact(tx, tx.task(task))
    elif tx.progress(task).state is State.BLOCKED:
        tx.happen(task, Event.ANSWERED, why=why)


def _keep_input(home: Home, upload: Upload, wanted: list[RequirementRecord]) -> None:
    """Put a file where it was asked to be put, so that the rule for all inputs binds it."""
    kind = Path(upload.name).suffix.lstrip(".").casefold()
    fitting = [need for need in wanted if _takes(need, kind)]
    if wanted and not fitting:
        kinds = sorted({allowed for need in wanted for allowed in need.allowed_types})
        raise UnfitAnswer(
            f"{upload.name}: is none of the wanted types ({', '.join(kinds)})"
        )
    place = _place(fitting[0], upload.name) if fitting else f"answers/{upload.name}"
    write_file(home.inputs / place, upload.content)


def _takes(need: RequirementRecord, kind: str) -> bool:
    """Whether a file of that kind can answer a requirement."""
    allowed = {name.lstrip(".").casefold() for name in need.allowed_types}
    return not allowed or kind in allowed


def _place(need: RequirementRecord, name: str) -> str:
    asked = need.suggested_path
    if not asked:
        return f"{safe_name(need.name)}/{name}"
    folder, _, last = asked.rpartition("/")
    is_exact = bool(last) and Path(last).suffix == Path(name).suffix
    return asked if is_exact else f"{folder}/{name}".lstrip("/")
