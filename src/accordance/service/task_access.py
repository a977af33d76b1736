"""Which tasks a caller may look at, and work on: by their rights, and what a key is bound to."""

from __future__ import annotations

from accordance.domain.access import Identity, Right
from accordance.domain.records import TaskRecord
from accordance.errors import NotAllowed, NotFound
from accordance.service.project import (
    Project,
    exact_task,
    find_exact_task,
    find_task,
    task_id_of,
)
from accordance.store.ledger import Transaction


def seen_task_id(project: Project, identity: Identity, task: str) -> str:
    """Return the id of a task that the caller may look at. Raises NotFound, NotAllowed.

    An agent that is bound to other tasks hears that there is none.
    """
    if identity.may(Right.READ):
        return task_id_of(project, task)
    if not identity.may(Right.WORK):
        identity.must(Right.READ)
    record = exact_task(project, task)
    if not identity.sees_task(record.task_id, record.plan_id):
        raise NotFound("task", task)
    return record.task_id


def worked_task_id(project: Project, identity: Identity, task: str) -> str:
    """Return the id of a task that somebody may work on; see `worked_task`."""
    with project.ledger.read() as tx:
        return worked_task(identity, tx, task).task_id


def worked_task(identity: Identity, tx: Transaction, name: str) -> TaskRecord:
    """Return a task that somebody may work on. Raises NotFound, NotAllowed.

    Who may read may name it as in lists. An agent that is bound to other tasks is told
    that there is none.
    """
    can_read = identity.may(Right.READ)
    task = find_task(tx, name) if can_read else find_exact_task(tx, name)
    if identity.is_bound_elsewhere(task.task_id, task.plan_id):
        if can_read:
            raise NotAllowed(f"{identity.name} is bound to other tasks than {name}")
        raise NotFound("task", name)
    return task
