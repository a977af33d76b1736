"""The dead letters: what was given up, and what a person makes of it."""

from __future__ import annotations

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord, VerdictRecord
from accordance.errors import Conflict
from accordance.service.listing import ListQuery, page_of
from accordance.service.project import Project, find_task, task_id_of
from accordance.service.views.dead_letters import (
    CancelledTaskView,
    DeadLetterPageView,
    DeadLetterView,
    MovedTaskView,
    dead_letter_view,
)
from accordance.store.ledger import Transaction
from accordance.store.listings import DEAD_LETTER_LIST


class NotADeadLetter(Conflict):
    """The task was not given up; it can be cancelled, but not dropped."""

    code = "not-a-dead-letter"


def list_dead_letters(
    project: Project, query: ListQuery | None = None
) -> DeadLetterPageView:
    """Return a page of what was given up, each task with the reason."""
    with project.ledger.read() as tx:
        page = page_of(tx, DEAD_LETTER_LIST, query or ListQuery())
        items = [_dead_letter(tx, task) for task in page.items]
    return DeadLetterPageView(items=tuple(items), next=page.next)


def _dead_letter(tx: Transaction, task: TaskRecord) -> DeadLetterView:
    verdicts = tx.find(VerdictRecord, subject=task.task_id)
    last = verdicts[-1] if verdicts else None
    return dead_letter_view(task, last)


def requeue(
    project: Project,
    name: str,
    *,
    by: str,
    reason: str | None = None,
) -> MovedTaskView:
    """Take a task out of the dead letters.

    It gets a new chance, and what waited for it goes on.
    """
    from accordance.work import tasks

    task_id = task_id_of(project, name)
    task = tasks.requeue(project.ledger, task_id, by=by, reason=reason)
    return MovedTaskView(task_id=task.task_id, state=task.progress.state)


def drop(
    project: Project,
    name: str,
    *,
    by: str,
    excuse: bool = False,
    cascade: bool = False,
    reason: str | None = None,
) -> CancelledTaskView:
    """Accept that a dead letter will not be done.

    Raises NotADeadLetter, and Conflict while other tasks wait for it.
    """
    with project.ledger.read() as tx:
        task = find_task(tx, name)
    state = task.progress.state
    if state is not State.DEAD_LETTER:
        raise NotADeadLetter(f"task {task.task_id} is {state}, not a dead letter")

    from accordance.work import tasks

    along = tasks.cancel(
        project.ledger,
        task.task_id,
        by=by,
        excuse=excuse,
        cascade=cascade,
        reason=reason,
    )
    return CancelledTaskView(
        task_id=task.task_id,
        state=State.ABANDONED,
        along=along,
    )
