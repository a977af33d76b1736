"""Whom a task is for: what routes look at, and what somebody who asks for work is given."""

from __future__ import annotations

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Kind, Routing, Wanted
from accordance.engine.working import Fits, anything
from accordance.errors import NoExecutor


def kind_of(task: TaskRecord) -> Kind:
    """What whoever takes up a task now has to do."""
    return "review" if task.checks or task.progress.state is State.READY_TO_CHECK else "action"


def wanted(task: TaskRecord, kind: Kind | None = None) -> Wanted:
    """What routes look at."""
    return Wanted(
        kind=kind or kind_of(task),
        role=task.owner_agent_id,
        node_type=task.node_type,
        tags=frozenset(task.tags),
    )


def for_whoever_asks(routing: Routing) -> Fits:
    """Tasks whose route leads elsewhere, and those no route fits; all, where no executors are configured."""

    def fits(task: TaskRecord) -> bool:
        try:
            return routing.choose(wanted(task)).spec.kind == "external"
        except NoExecutor:
            return True

    return fits if routing.executors else anything
