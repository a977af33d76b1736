"""Tasks that nobody here can begin. A worker says so once, for another one may have the executor; a run asks a person in the end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from accordance.domain.faults import Fault
from accordance.errors import NoExecutor
from accordance.runtime.offers import NoTaker
from accordance.runtime.ports import Listener
from accordance.store.ledger import Ledger
from accordance.work.faults import fail_unbegun
from accordance.work.tasks import may_not_begin


@dataclass
class Untaken:
    """What nobody here can begin, by plan and task, as of the last look at each plan."""

    ledger: Ledger
    listener: Listener
    _by_plan: dict[str, Mapping[str, NoTaker]] = field(default_factory=dict)
    _announced: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return any(self._by_plan.values())

    def replace(self, plan_id: str, tasks: Mapping[str, NoTaker]) -> None:
        """The last look at a plan has come to these."""
        self._by_plan[plan_id] = tasks

    def announce(self) -> None:
        """Say of each task, once, why it does not begin here."""
        for tasks in self._by_plan.values():
            for task_id, why in tasks.items():
                if task_id not in self._announced:
                    self._announced.add(task_id)
                    self.listener.notice(f"{task_id}: {why.text}")

    def ask_a_person(self, *, is_set_up: bool) -> None:
        """Let each of the tasks fail unbegun, so that a person is asked for it.

        Raises NoExecutor where no executor is missing but all of them: without `is_set_up` nothing has ever worked here, and
        the settings are what is wrong, not the tasks.
        """
        reasons = [why for tasks in self._by_plan.values() for why in tasks.values()]
        if not is_set_up and all(why.fault is Fault.NO_EXECUTOR for why in reasons):
            raise NoExecutor(reasons[0].text)
        for plan_id, tasks in self._by_plan.items():
            with self.ledger.write() as tx:
                if may_not_begin(tx, plan_id, None):
                    continue
                for task_id, why in tasks.items():
                    fail_unbegun(tx, task_id, why.fault, why.text)
        self._by_plan.clear()
