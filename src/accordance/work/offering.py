"""Which tasks a worker who asks for work is offered."""

from __future__ import annotations

from accordance.domain.records import TaskRecord
from accordance.domain.routing import Kind, Routing
from accordance.errors import NoExecutor
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import EXTERNAL, wanted_in
from accordance.work.taking import Fits, anything, is_review


def kind_of(task: TaskRecord) -> Kind:
    """Return what the next worker on a task has to do."""
    return "review" if is_review(task) else "action"


def for_outside_workers(routing: Routing) -> Fits:
    """Return a filter for the tasks that are open to outside workers.

    Those are the tasks whose route leads to them, and those that no route fits. Without
    executors in the settings, all tasks are.
    """

    def fits(tx: Transaction, task: TaskRecord) -> bool:
        try:
            choice = routing.choose(wanted_in(tx, task, kind_of(task)))
        except NoExecutor:
            return True
        return choice.spec.kind == EXTERNAL

    return fits if routing.executors else anything
