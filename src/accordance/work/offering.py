"""Whom a task is for: what somebody who asks for work is given."""

from __future__ import annotations

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.domain.routing import Kind, Routing
from accordance.errors import NoExecutor
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import EXTERNAL, wanted_in
from accordance.work.tasks import Fits, anything


def kind_of(task: TaskRecord) -> Kind:
    """What whoever takes up a task now has to do."""
    return (
        "review"
        if task.checks or task.progress.state is State.READY_TO_CHECK
        else "action"
    )


def for_whoever_asks(routing: Routing) -> Fits:
    """Tasks whose route leads elsewhere, and those no route fits; all, where no executors are configured."""

    def fits(tx: Transaction, task: TaskRecord) -> bool:
        try:
            return (
                routing.choose(wanted_in(tx, task, kind_of(task))).spec.kind == EXTERNAL
            )
        except NoExecutor:
            return True

    return fits if routing.executors else anything
