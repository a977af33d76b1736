"""How many changes of a plan are made at once, and which of them goes first.

    [workspace]
    parallel_changes = 4

Two changes of the same files may be made at once, too: which of them fits is decided
where they land. With 1, a change begins when the last has landed, or waits for a person.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.store.ledger import Transaction
from accordance.work.coding_keys import TAG
from accordance.work.coding_tasks import changes_under_way
from accordance.work.landing import has_right_of_way, landing_of

_AHEAD: Final = 100
"""Ready tasks among which a change with the right of way is looked for."""


@dataclass
class ChangeBounds:
    """The room for changes of a plan, within a transaction."""

    most: int  # changes at once
    _under_way: set[str] | None = None  # None: not looked up yet
    _first: set[str] = field(default_factory=set)  # those with the right of way

    def leave_room_for(self, tx: Transaction, task: TaskRecord) -> bool:
        """Whether a change may begin beside those that are under way.

        A good change that only has to land takes no room: it needs no agent.
        """
        if self._under_way is None:
            self._look_up(tx, task.plan_id)
        if self._first - {task.task_id}:
            return False

        others = (self._under_way or set()) - {task.task_id}
        return len(others) < self.most or landing_of(tx, task) is not None

    def take(self, task: TaskRecord) -> None:
        """Note that a change was taken up."""
        if self._under_way is not None:
            self._under_way.add(task.task_id)

    def _look_up(self, tx: Transaction, plan_id: str) -> None:
        # those under review keep no other change waiting
        in_progress = tx.tasks(plan_id, State.IN_PROGRESS)
        being_made = [task for task in in_progress if TAG in task.tags]
        if self.most == 1:
            self._under_way = changes_under_way(tx, plan_id)
        else:
            self._under_way = {task.task_id for task in being_made}

        next_tasks = tx.turns(plan_id, most=_AHEAD)
        ready = [task for task in next_tasks if TAG in task.tags]
        self._first = {
            task.task_id for task in (*being_made, *ready) if has_right_of_way(tx, task)
        }
