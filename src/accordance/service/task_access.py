"""Which tasks a caller may look at, and work on: by their rights, and what a key is bound to."""

from __future__ import annotations

from accordance.domain.access import Identity, Right
from accordance.errors import NotAllowed, NotFound
from accordance.service.project import Project, exact_task, task_id_of


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
    """Return the id of a task that the caller may work on. Raises NotFound, NotAllowed."""
    can_read = identity.may(Right.READ)
    task_id = task_id_of(project, task) if can_read else task
    record = exact_task(project, task_id)
    if identity.is_bound_elsewhere(record.task_id, record.plan_id):
        if can_read:
            raise NotAllowed(f"{identity.name} is bound to other tasks than {task}")
        raise NotFound("task", task)
    return record.task_id
