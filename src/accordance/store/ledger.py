"""The ledger as the engine sees it: transactions with the verbs of the domain.

A `Transaction` is all or nothing. What a verb means is written here, once; how rows are
kept is each store's own business (`storage`). Three ledgers implement it, and one suite
tests them all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Final

from accordance.domain.chain import ChainEntry, Payload
from accordance.domain.lifecycle import FORGIVES, Event, State, Waiting
from accordance.domain.plan_lifecycle import PlanEvent, PlanState, next_plan_state
from accordance.domain.progress import (
    NodeMove,
    NodeProgress,
    drop,
    inputs_changed,
    move,
)
from accordance.domain.records import (
    ArtifactRecord,
    Lease,
    QuestionRecord,
    TaskRecord,
)
from accordance.domain.task_ruling import Ask, QuestionKind, Ruling
from accordance.store.blobs.sources import KeptBlob
from accordance.store.chained import ChainedStorage
from accordance.store.storage import AmendedRows

INPUTS_CHANGED: Final = "INPUTS_CHANGED"
CANCELLED: Final = "CANCELLED"
RESERVED: Final = "RESERVED"
"""An attempt reserved a part of its plan's budget, until its lease ends."""
UNRESERVED: Final = "UNRESERVED"
"""A lease ended, with its reservation, while its task stayed in its state."""
_ASKED: Final = "ASKED_A_PERSON"
_MANY: Final = 1600  # tasks that are read at once
_ABOUT_A_BLOCK: Final = (
    QuestionKind.DOCUMENTS,
    QuestionKind.HELP,
    QuestionKind.DECISION,
    QuestionKind.GOAL,
)


class Transaction(ChainedStorage, ABC):
    """One transaction. Everything in it happens, or nothing."""

    def __init__(self, now: str) -> None:
        super().__init__(now)
        self._asked: list[str] = []  # questions that have no number yet
        self._afterwards: list[Callable[[], None]] = []

    # -- what waits for the commit

    def afterwards(self, act: Callable[[], None]) -> None:
        """Do something outside the ledger once this transaction has committed.

        Whatever takes time there would hold up all others that wait for the plan.
        """
        self._afterwards.append(act)

    def take_afterwards(self) -> list[Callable[[], None]]:
        """Return what is to be done afterwards; the caller does it."""
        acts = self._afterwards
        self._afterwards = []
        return acts

    def do_afterwards(self) -> None:
        """Do what has waited for the commit."""
        for act in self.take_afterwards():
            act()

    # -- what comes next

    def next_turn(self, plan_id: str, kinds: tuple[str, ...] = ()) -> TaskRecord | None:
        """Return the task that should be taken up next."""
        turns = self.turns(plan_id, kinds, most=1)
        return turns[0] if turns else None

    def all_turns(
        self, plan_id: str, kinds: tuple[str, ...] = (), *, first: int = 1
    ) -> Iterator[TaskRecord]:
        """Yield all that could be taken up, in its order.

        The first so many are read at once, then ever more.
        """
        most = first
        last = None
        while page := self.turns(plan_id, kinds, most=most, after=last):
            yield from page
            if len(page) < most:
                return
            last = page[-1]
            most = min(most * 4, _MANY)

    def progress(self, task: str) -> NodeProgress:
        """Return where a task stands."""
        return self.task(task).progress

    # -- what happens to a task

    def happen(
        self,
        task: str,
        event: Event,
        *,
        waiting: Waiting | None = None,
        why: Payload | None = None,
    ) -> tuple[NodeMove, ...]:
        """Let an event happen to a task, with all that follows from it.

        Raises IllegalTransition; then nothing has changed.
        """
        changes = move(self, task, event, waiting=waiting)
        self.apply(changes)

        details = dict(why or {})
        if waiting:
            details["waiting"] = waiting
        first, *rest = changes
        entry = self._write_down(first, event, details)
        self._follow(rest, entry)
        return changes

    def inputs_missing(self, task: str, missing: int) -> tuple[NodeMove, ...]:
        """Note how many required inputs of a task are missing now."""
        changes = inputs_changed(self, task, missing)
        if changes:
            self.apply(changes)
            plan_id = self.task(task).plan_id
            entry = self.record(plan_id, INPUTS_CHANGED, task, {"missing": missing})
            self._follow(changes, entry)
        return changes

    def cancel(
        self,
        task: str,
        *,
        excuse: bool = False,
        along: Iterable[str] = (),
        why: Payload,
    ) -> None:
        """Cancel a task that a person no longer wants."""
        others = tuple(along)
        changes = drop(self, task, excuse=excuse, along=others)
        self.apply(changes)

        plan_id = self.task(task).plan_id
        details = {**why, "excuse": excuse, "along": list(others)}
        entry = self.record(plan_id, CANCELLED, task, details)
        self._follow(changes, entry)

    def rule(self, task: str, ruling: Ruling, why: Payload) -> None:
        """Let a ruling take effect on a task."""
        for event, waiting in ruling.steps:
            self.happen(task, event, waiting=waiting, why=why)

        record = self.task(task)
        if ruling.error is not None:
            is_same = ruling.error == record.last_error
            same_errors = record.same_errors + 1 if is_same else 1
            self.save_task(task, last_error=ruling.error, same_errors=same_errors)
        elif record.same_errors:
            self.save_task(task, same_errors=0)

        if ruling.ask is not None:
            details = {"reason": ruling.reason, **ruling.ask.details}
            ask = replace(ruling.ask, details=details)
            self.ask(record.plan_id, task, ask)

    def take(self, task: str, lease: Lease) -> None:
        """Note who works on a task now."""
        self.save_task(task, lease=lease)

    def put_down(self, task: str) -> None:
        """End the lease of a task that stays in its state, with its reservation."""
        record = self.task(task)
        if record.lease is not None and record.lease.reserved is not None:
            self.record(record.plan_id, UNRESERVED, task, {})
        self.save_task(task, lease=None)

    def products(self, task: str) -> list[ArtifactRecord]:
        """Return all versions of a task's product, the oldest first."""
        return self.find(ArtifactRecord, task_id=task)

    # -- what happens to a plan

    def move_plan(
        self, plan_id: str, event: PlanEvent, payload: Payload | None = None
    ) -> PlanState:
        """Let an event happen to a plan as a whole.

        Raises IllegalTransition; then nothing has changed.
        """
        before = self.plan(plan_id).state
        state = next_plan_state(before, event)
        self.save_plan(plan_id, state=state)
        self.record(plan_id, event, None, payload)
        self._keep_in_step_with_review(plan_id, before, event)
        return state

    def _keep_in_step_with_review(
        self, plan_id: str, before: PlanState, event: PlanEvent
    ) -> None:
        """A plan that waits for its review asks for it, and no other plan does."""
        was_in_review = before is PlanState.IN_REVIEW
        is_in_review = self.plan(plan_id).state is PlanState.IN_REVIEW
        if is_in_review and not was_in_review:
            self.ask_for_review(plan_id)
        elif was_in_review and not is_in_review:
            self.close_questions_of_plan(plan_id, event, QuestionKind.APPROVAL)

    def amend_plan(
        self,
        rows: AmendedRows,
        changes: Iterable[NodeMove],
        payload: Payload,
        **fields: object,
    ) -> None:
        """Let an amendment happen to a plan, with all that follows from it.

        `rows` are as they are then, `fields` those of the plan that change. Raises
        IllegalTransition; then nothing has changed.
        """
        plan_id = rows.plan_id
        before = self.plan(plan_id).state
        state = next_plan_state(before, PlanEvent.AMENDED)
        self.write_amended(rows)
        self.save_plan(plan_id, state=state, **fields)
        entry = self.record(plan_id, PlanEvent.AMENDED, None, payload)
        self._follow(changes, entry)
        self._keep_in_step_with_review(plan_id, before, PlanEvent.AMENDED)

    # -- questions to people

    def ask(self, plan_id: str, task: str | None, ask: Ask) -> QuestionRecord:
        """Ask a person."""
        payload = {"kind": ask.kind, "text": ask.text}
        entry = self.record(plan_id, _ASKED, task, payload)
        question = QuestionRecord(
            question_id=f"q-{entry.hash[:10]}",
            plan_id=plan_id,
            task_id=task,
            kind=ask.kind,
            text=ask.text,
            details=ask.details,
            asked_at=self.now,
            cause=ask.cause,
        )
        self.add(question)
        self._asked.append(question.question_id)
        return question

    def ask_for_review(self, plan_id: str) -> None:
        """Ask a person to approve or return a plan."""
        text = "the plan waits for its review"
        self.ask(plan_id, None, Ask(kind=QuestionKind.APPROVAL, text=text))

    def seal(self) -> None:
        """Write the seals of everything written, new questions with their numbers."""
        self._number_questions()
        super().seal()

    def _number_questions(self) -> None:
        """Number the new questions.

        That comes last, because other transactions wait for the counter from then on.
        """
        asked = self._asked
        self._asked = []
        if not asked:
            return

        questions = []
        for question_id in asked:
            questions += self.find(QuestionRecord, question_id=question_id)
        first = self.take_question_numbers(len(questions))
        for number, question in enumerate(questions, first):
            self.replace(replace(question, number=number))

    def open_questions(self, **where: object) -> list[QuestionRecord]:
        """Return the questions without an answer."""
        return self.find(QuestionRecord, answered_at=None, **where)

    def close_questions(self, task: str, answer: Payload) -> None:
        """Close the questions that were asked because a task was blocked."""
        for question in self.open_questions(task_id=task):
            if question.kind in _ABOUT_A_BLOCK:
                self.replace(replace(question, answered_at=self.now, answer=answer))

    def close_questions_of_plan(
        self, plan_id: str, event: PlanEvent, *kinds: QuestionKind
    ) -> None:
        """Close the questions of a plan that need no answer after an event.

        Without kinds, all of them.
        """
        answer = {"closed_by": event}
        for question in self.open_questions(plan_id=plan_id):
            if not kinds or question.kind in kinds:
                self.replace(replace(question, answered_at=self.now, answer=answer))

    # -- how a move is written down

    def _write_down(
        self, change: NodeMove, event: Event, details: Payload
    ) -> ChainEntry:
        plan_id = self.task(change.task_id).plan_id
        states = {"from": change.before.state, "to": change.after.state}
        entry = self.record(plan_id, event, change.task_id, {**states, **details})
        self._notice(change)
        return entry

    def _follow(self, changes: Iterable[NodeMove], cause: ChainEntry) -> None:
        """Write down the moves that followed from an event."""
        for change in changes:
            if change.event is not None:
                self._write_down(change, change.event, {"because": cause.seq})

    def _notice(self, change: NodeMove) -> None:
        """Keep questions and counters in step with a move.

        A goal that is stuck asks a person; the questions of a task that is no longer
        blocked need no answer any more.
        """
        was_blocked = change.before.state is State.BLOCKED
        is_blocked = change.after.state is State.BLOCKED
        task = self.task(change.task_id)
        if is_blocked and not was_blocked and not task.is_work:
            text = (
                f"{task.title}: cannot finish, a part of it is in the dead letters or"
                " was cancelled"
            )
            self.ask(task.plan_id, task.task_id, Ask(kind=QuestionKind.GOAL, text=text))
        if was_blocked and not is_blocked:
            self.close_questions(change.task_id, {"closed_by": change.event})
        if change.event in FORGIVES and task.same_errors:
            self.save_task(task.task_id, same_errors=0)


class Ledger(ABC):
    """Where everything is kept."""

    @abstractmethod
    def write(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that may change things.

        Leaving it by an exception undoes everything.
        """

    @abstractmethod
    def read(self) -> AbstractContextManager[Transaction]:
        """Begin a transaction that only looks."""

    @abstractmethod
    def put(self, content: bytes | Path) -> KeptBlob:
        """Put bytes or a file where a transaction can keep them.

        To be called outside of transactions: large blobs go into the blob store. Raises
        BlobError, and OSError if the file cannot be read.
        """

    @abstractmethod
    def stage(self, content: bytes) -> None:
        """Put bytes that a transaction of this process keeps next. Raises BlobError."""

    @abstractmethod
    def check_store(self) -> str:
        """Return where large blobs lie, if that place can be used. Raises BlobError."""

    @abstractmethod
    def wait_for_change(self, *, after: int, seconds: float) -> int:
        """Wait until there is an event with a higher number, or the time is over.

        Return the number of the newest event. A reader that has read everything up to
        it waits with it again, and misses nothing.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""
