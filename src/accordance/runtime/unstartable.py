"""Tasks that no executor here can begin.

A worker reports each of them once, because another worker may have the executor. A run
asks a person in the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accordance.domain.faults import Fault
from accordance.errors import NoExecutor
from accordance.runtime.offers import Obstacle
from accordance.runtime.ports import Listener
from accordance.store.ledger import Ledger
from accordance.work.faults import fail_unbegun
from accordance.work.taking import why_not_begin


@dataclass
class UnstartableTasks:
    """The tasks that cannot begin here, as of the last look at each plan."""

    ledger: Ledger
    listener: Listener
    _by_plan: dict[str, Mapping[str, Obstacle]] = field(default_factory=dict)
    _announced: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return any(self._by_plan.values())

    def replace(self, plan_id: str, tasks: Mapping[str, Obstacle]) -> None:
        """Set the tasks of a plan, as of the last look at it."""
        self._by_plan[plan_id] = tasks

    def announce(self) -> None:
        """Report why each task does not begin here, once."""
        for tasks in self._by_plan.values():
            for task_id, obstacle in tasks.items():
                if task_id in self._announced:
                    continue
                self._announced.add(task_id)
                self.listener.notice(f"{task_id}: {obstacle.text}")

    def ask_a_person(self, *, is_set_up: bool) -> None:
        """Fail each of the tasks before it begins, so that a person is asked about it.

        Raises NoExecutor if there is no executor for any of them and nothing has ever
        worked here (not `is_set_up`): then the settings are wrong, not the tasks.
        """
        if not is_set_up:
            self._require_an_executor()

        for plan_id, tasks in self._by_plan.items():
            with self.ledger.write() as tx:
                if why_not_begin(tx, plan_id, None):
                    continue
                for task_id, obstacle in tasks.items():
                    fail_unbegun(
                        tx, task_id, obstacle.fault, obstacle.text, obstacle.lacks
                    )
        self._by_plan.clear()

    def _require_an_executor(self) -> None:
        obstacles: list[Obstacle] = []
        for tasks in self._by_plan.values():
            obstacles += tasks.values()

        if all(obstacle.fault is Fault.NO_EXECUTOR for obstacle in obstacles):
            raise NoExecutor(obstacles[0].text)
