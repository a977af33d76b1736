"""Whom a task is for: what somebody who asks for work is given."""

from __future__ import annotations

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Kind, Routing, wanted
from accordance.errors import NoExecutor
from accordance.work.tasks import Fits, anything


def kind_of(task: TaskRecord) -> Kind:
    """What whoever takes up a task now has to do."""
    return "review" if task.checks or task.progress.state is State.READY_TO_CHECK else "action"


def for_whoever_asks(routing: Routing) -> Fits:
    """Tasks whose route leads elsewhere, and those no route fits; all, where no executors are configured."""

    def fits(task: TaskRecord) -> bool:
        try:
            return routing.choose(wanted(task, kind_of(task))).spec.kind == "external"
        except NoExecutor:
            return True

    return fits if routing.executors else anything
