"""Which of a plan's ready tasks begin now: in their order, as far as their executors have room.

Much that is ready may not begin here: its executor is busy or rests, it waits for somebody elsewhere, another change is under
way. So the whole line is looked at until no queue has room. That takes time where the line is long; so it is done
now and then, and whenever an attempt is settled only the first few are looked at, and the few behind what could not begin.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.errors import NoExecutor
from accordance.runtime.workflow import Durable, Put
from accordance.store.ledger import Transaction
from accordance.store.sql import SqlTransaction
from accordance.work.coding_tasks import allows_external, changes_under_way, is_change
from accordance.work.contracts_for import Holding, to_actions
from accordance.work.tasks import take_up

Queue = Callable[[Transaction, TaskRecord], str | None]

_LEASE_SECONDS: Final = 24 * 3600  # the engine takes over what is left behind, long before
_AHEAD: Final = 100  # turns that every look looks at
_FURTHER: Final = (
    4  # turns beyond the free slots, when an attempt was settled and the next one is wanted quickly
)
_PAUSE: Final = 10  # looking at the whole of a long line takes at most every so much part of the time


_NOT_ALLOWED: Final = "its route leads to somebody elsewhere, and its allowedExecutors leave out external: route it to one of those it allows"


@dataclass(frozen=True, slots=True)
class Nobody:
    """Why nobody can begin a task, as far as is known here."""

    fault: Fault
    text: str


@dataclass
class Found:
    """What a look at a plan's line has found."""

    most: int | None  # how many may be taken up; None: as many as there is room for
    roomy: frozenset[str]  # queues that have room
    put: list[Put] = field(default_factory=list)
    is_left: bool = False  # something waits for room here
    is_elsewhere: bool = False  # something waits for somebody who asks for it
    nobodys: dict[str, Nobody] = field(default_factory=dict)  # by task
    changing: set[str] | None = None  # changes that are under way; None: nobody has looked

    @property
    def is_full(self) -> bool:
        """Whether nothing more can be taken up."""
        return not self.roomy or len(self.put) == self.most

    def others_change(self, tx: Transaction, task: TaskRecord) -> bool:
        """Whether another change of the plan is under way: each is judged on exactly the tree it lands on."""
        if self.changing is None:
            self.changing = changes_under_way(tx, task.plan_id)
        return bool(self.changing - {task.task_id})


@dataclass
class TakingUp:
    """Takes up what can begin, for one process."""

    durable: Durable
    queue_of: Queue  # of a task; None: somebody elsewhere asks for it. Raises NoExecutor
    in_plan: int | None = None  # tasks of one plan at once, in all processes together
    holding: Holding = to_actions  # which contracts attempts are held to
    _passed: dict[str, TaskRecord] = field(
        default_factory=dict
    )  # by plan: the last of those at the head of its line that could not begin
    _looked: dict[str, tuple[float, int]] = field(
        default_factory=dict
    )  # by plan whose line is long: when all of it is looked at again, and its last event at the last look

    def all(self, tx: SqlTransaction, connection: Connection, plan_id: str) -> Found:
        """Take up as much as there is room for; of a long line only its ends are looked at, but for now and then."""
        found = self._look(tx, plan_id)
        if self._is_due(tx, plan_id):
            self._whole(tx, connection, plan_id, found)
            return found
        for task in self._both_ends(tx, plan_id, _AHEAD):
            self._offer(tx, connection, task, found)
        found.is_left = True  # as far as is known
        return found

    def _is_due(self, tx: Transaction, plan_id: str) -> bool:
        """Whether it is time to look at the whole line; at once if something has happened, and nobody is held up by it."""
        again_at, head = self._looked.get(plan_id, (0.0, 0))
        has_moved = tx.plan(plan_id).head.seq != head
        return time.monotonic() >= again_at or (has_moved and not self.durable.slots.busy)

    def _whole(self, tx: SqlTransaction, connection: Connection, plan_id: str, found: Found) -> None:
        began, passed, seen = time.monotonic(), None, 0
        for task in tx.all_turns(plan_id, first=_AHEAD):
            if found.is_full and (found.put or found.is_left):
                break
            self._offer(tx, connection, task, found)
            seen += 1
            passed = passed if found.put else task
        if seen > _AHEAD:
            again_at = time.monotonic() + _PAUSE * (time.monotonic() - began)
            self._looked[plan_id] = again_at, tx.plan(plan_id).head.seq
        if passed is None:
            self._passed.pop(plan_id, None)
        else:
            self._passed[plan_id] = passed

    def few(self, tx: SqlTransaction, connection: Connection, plan_id: str) -> list[Put]:
        """The same, quickly, however long the line is."""
        found = self._look(tx, plan_id)
        further = _FURTHER if len(self.durable.slots.bounds) > 1 else 0
        for task in self._both_ends(tx, plan_id, self.durable.slots.any_room + further):
            if found.is_full:
                break
            self._offer(tx, connection, task, found)
        return found.put

    def _look(self, tx: Transaction, plan_id: str) -> Found:
        return Found(self._most(tx, plan_id), self.durable.slots.roomy())

    def _most(self, tx: Transaction, plan_id: str) -> int | None:
        if self.in_plan is None:
            return None
        in_work = sum(1 for task in tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK) if task.lease)
        return max(0, self.in_plan - in_work)

    def _both_ends(self, tx: Transaction, plan_id: str, most: int) -> Iterator[TaskRecord]:
        first = tx.turns(plan_id, most=most)
        yield from first
        if len(first) == most and (passed := self._passed.get(plan_id)):
            yield from tx.turns(plan_id, most=most, after=passed)

    def _offer(self, tx: SqlTransaction, connection: Connection, task: TaskRecord, found: Found) -> None:
        """Take up a task, or note why not."""
        changes = is_change(tx, task)
        if changes and found.others_change(tx, task):
            return
        try:
            queue = self.queue_of(tx, task)
        except NoExecutor as error:
            found.nobodys[task.task_id] = Nobody(Fault.NO_EXECUTOR, str(error))
            return
        if queue is None and not allows_external(tx, task):
            found.nobodys[task.task_id] = Nobody(Fault.UNPREPARED, _NOT_ALLOWED)
        elif queue is None:
            found.is_elsewhere = True
        elif found.is_full or queue not in found.roomy:
            found.is_left = True
        else:
            taken = take_up(tx, task, self.durable.executor_id, _LEASE_SECONDS, self.holding)
            found.put.append(self.durable.enqueue(connection, queue, taken))
            found.roomy = self.durable.slots.roomy([queue for _, queue in found.put])
            if found.changing is not None and changes:
                found.changing.add(task.task_id)
