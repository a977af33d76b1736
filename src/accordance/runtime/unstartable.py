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
        """Report why tasks do not begin here, once for all that lack the same."""
        by_text: dict[str, list[str]] = {}
        for tasks in self._by_plan.values():
            for task_id, obstacle in tasks.items():
                by_text.setdefault(obstacle.text, []).append(task_id)

        for text, task_ids in by_text.items():
            if text not in self._announced:
                self._announced.add(text)
                self.listener.notice(f"{_names(task_ids)}: {text}")

    def queues(self) -> frozenset[str]:
        """Return the queues in which other workers may begin these tasks."""
        obstacles = [
            obstacle for tasks in self._by_plan.values() for obstacle in tasks.values()
        ]
        return frozenset(obstacle.queue for obstacle in obstacles if obstacle.queue)

    def leave_to_others(self, served: frozenset[str]) -> bool:
        """Forget the tasks of queues that others serve; return whether there are any."""
        has_others = False
        for plan_id, tasks in self._by_plan.items():
            ours = {
                task_id: obstacle
                for task_id, obstacle in tasks.items()
                if obstacle.queue not in served
            }
            has_others = has_others or len(ours) < len(tasks)
            self._by_plan[plan_id] = ours
        return has_others

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


def _names(task_ids: list[str]) -> str:
    """Name a task, or the first of several."""
    if len(task_ids) == 1:
        return task_ids[0]
    return f"{len(task_ids):,} tasks ({task_ids[0]}, ...)"
