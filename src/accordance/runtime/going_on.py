"""Blocked tasks go on when what they lacked is there again.

A run or a worker that starts looks at every question whose cause lies outside its task.
Where the cause is gone, the task goes on, and its chain says who saw that. Where it is
not, nothing is tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from accordance.domain.outside_causes import (
    OutsideCause,
    cause_from,
    event_of_going_on,
    is_of_review,
)
from accordance.domain.records import QuestionRecord, TaskRecord
from accordance.store.ledger import Ledger, Transaction


class Probe(Protocol):
    """Looks for what keeps tasks from beginning."""

    def obstacle(
        self, tx: Transaction, task: TaskRecord, cause: OutsideCause, *, of_review: bool
    ) -> str | None:
        """Say what keeps a task from beginning; None if nothing does."""


@dataclass(frozen=True, slots=True)
class WaitingCause:
    """A cause, the tasks that have it, and what still stands in their way, if anything."""

    cause: OutsideCause
    tasks: tuple[str, ...]
    obstacle: str | None

    @property
    def is_gone(self) -> bool:
        """Whether the tasks went on."""
        return self.obstacle is None


@dataclass(slots=True)
class _Waiting:
    """The open questions of a cause, by what still stands in their way."""

    by_cause: dict[tuple[str, str | None], list[QuestionRecord]] = field(
        default_factory=dict
    )

    def add(self, question: QuestionRecord, obstacle: str | None) -> None:
        key = (question.cause or "", obstacle)
        self.by_cause.setdefault(key, []).append(question)


def go_on(
    ledger: Ledger, probe: Probe, plan_id: str | None, *, by: str
) -> tuple[WaitingCause, ...]:
    """Let the tasks of a plan, or of all, go on whose cause is gone.

    Return every cause that tasks had waited for, those that are gone first.
    """
    with ledger.read() as tx:
        waiting = _probed(tx, probe, plan_id)

    causes = []
    for (key, obstacle), questions in waiting.by_cause.items():
        tasks = _task_ids(questions)
        if obstacle is None:
            tasks = _go_on(ledger, questions, by)
        cause = cause_from(key)
        if cause is not None and tasks:
            causes.append(WaitingCause(cause, tasks, obstacle))
    causes.sort(key=lambda cause: not cause.is_gone)
    return tuple(causes)


def _probed(tx: Transaction, probe: Probe, plan_id: str | None) -> _Waiting:
    waiting = _Waiting()
    where = {"plan_id": plan_id} if plan_id else {}
    for question in tx.open_questions(**where):
        cause = cause_from(question.cause)
        if cause is None or question.task_id is None:
            continue
        task = tx.task(question.task_id)
        of_review = is_of_review(question)
        obstacle = probe.obstacle(tx, task, cause, of_review=of_review)
        waiting.add(question, obstacle)
    return waiting


def _task_ids(questions: Iterable[QuestionRecord]) -> tuple[str, ...]:
    task_ids = [question.task_id for question in questions if question.task_id]
    return tuple(dict.fromkeys(task_ids))


def _go_on(ledger: Ledger, questions: list[QuestionRecord], by: str) -> tuple[str, ...]:
    """Let tasks go on, plan by plan; those that moved meanwhile are left alone."""
    by_plan: dict[str, list[QuestionRecord]] = {}
    for question in questions:
        by_plan.setdefault(question.plan_id, []).append(question)

    gone_on = []
    for plan_id, of_plan in by_plan.items():
        with ledger.write() as tx:
            tx.lock(plan_id)
            for question in of_plan:
                if _goes_on(tx, question, by):
                    gone_on.append(question)
    return _task_ids(gone_on)


def _goes_on(tx: Transaction, seen: QuestionRecord, by: str) -> bool:
    questions = tx.find(QuestionRecord, question_id=seen.question_id)
    if not questions or seen.task_id is None:
        return False

    question = questions[0]
    state = tx.progress(seen.task_id).state
    event = event_of_going_on(question, state, obstacle=None)
    if event is None:
        return False
    why = {"by": by, "question": question.question_id, "cause": question.cause}
    tx.happen(seen.task_id, event, why=why)
    return True
