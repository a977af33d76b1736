"""The dead letters: what was given up, and what a person makes of it."""

from __future__ import annotations

from accordance.domain.lifecycle import State
from accordance.domain.records import VerdictRecord
from accordance.errors import Conflict
from accordance.service.project import Project, find_task, task_id_of
from accordance.service.views.dead_letters import (
    CancelledTaskView,
    DeadLetterView,
    MovedTaskView,
    dead_letter_view,
)
from accordance.work import tasks


class NotADeadLetter(Conflict):
    """The task was not given up, so that there is nothing to drop; it may be cancelled."""

    code = "not-a-dead-letter"


def list_dead_letters(project: Project) -> list[DeadLetterView]:
    """Everything that was given up, and why."""
    letters = []
    with project.ledger.read() as tx:
        for task in tasks.dead_letters(tx, tx.plans()):
            verdicts = tx.find(VerdictRecord, subject=task.task_id)
            last = verdicts[-1] if verdicts else None
            letters.append(dead_letter_view(task, last))
    return letters


def requeue(project: Project, name: str, *, by: str) -> MovedTaskView:
    """Take a task out of the dead letters: it gets a new chance, and what waited for it goes on."""
    task = tasks.requeue(project.ledger, task_id_of(project, name), by=by)
    return MovedTaskView(task_id=task.task_id, state=task.progress.state)


def drop(
    project: Project, name: str, *, by: str, excuse: bool = False, cascade: bool = False
) -> CancelledTaskView:
    """Accept that a dead letter will not be done. Raises NotADeadLetter, or Conflict while others wait for it."""
    with project.ledger.read() as tx:
        task = find_task(tx, name)
    state = task.progress.state
    if state is not State.DEAD_LETTER:
        raise NotADeadLetter(f"task {task.task_id} is {state}, not a dead letter")
    along = tasks.cancel(
        project.ledger, task.task_id, by=by, excuse=excuse, cascade=cascade
    )
    return CancelledTaskView(task_id=task.task_id, state=State.ABANDONED, along=along)
