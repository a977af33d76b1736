"""Lists of tasks, page by page, as a client outside sees them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from accordance.domain.access import Identity, Right
from accordance.domain.client_tasks import (
    ClientTask,
)
from accordance.domain.filters import Term, Word
from accordance.errors import NotFound
from accordance.service import tasks
from accordance.service.client_tasks import client_task, current_name
from accordance.service.listing import ListQuery
from accordance.service.plans import list_plans
from accordance.service.project import Project
from accordance.service.task_records import list_tasks


class ClientTaskPage(NamedTuple):
    """A page of tasks, and how many there are in all."""

    tasks: tuple[ClientTask, ...]
    next: str | None
    total: int


def list_client_tasks(
    project: Project,
    identity: Identity,
    query: ListQuery,
    plan_id: str | None,
    *,
    with_artifacts: bool = False,
) -> ClientTaskPage:
    """Return a page of the tasks of a plan; without a plan, of all plans.

    Clients that may not read see the tasks they hold.
    """
    names, following, total = _listed(project, identity, query, plan_id)
    known = () if with_artifacts else None
    shown = [
        client_task(project, current_name(project, name), identity.name, known=known)
        for name in names
    ]
    return ClientTaskPage(tuple(shown), following, total)


def _listed(
    project: Project,
    identity: Identity,
    query: ListQuery,
    plan_id: str | None,
) -> tuple[list[str], str | None, int]:
    """Return the ids of a page, the cursor of the next, and how many there are."""
    if not identity.may(Right.READ):
        held = tasks.held_tasks(project, identity.name, plan_id)
        names = [
            taken.task.task_id
            for taken in held
            if identity.sees_task(taken.task.task_id, taken.task.plan_id)
        ]
        return names, None, len(names)
    if plan_id is None:
        plans = list_plans(project, query)
        with project.ledger.read() as tx:
            total = sum(plan.archived_at is None for plan in tx.plans())
            names = [tx.plan(plan.plan_id).root_task_id for plan in plans.items]
        return names, plans.next, total
    return _listed_in_plan(project, query, plan_id)


def _listed_in_plan(
    project: Project,
    query: ListQuery,
    plan_id: str,
) -> tuple[list[str], str | None, int]:
    with project.ledger.read() as tx:
        try:
            total = tx.plan(plan_id).nodes
        except NotFound:
            return [], None, 0
    of_plan = replace(query, filter=str(Term(Word.PLAN, plan_id)))
    page = list_tasks(project, of_plan)
    return [task.task_id for task in page.items], page.next, total
