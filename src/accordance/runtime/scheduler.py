"""Which of a plan's ready tasks begin now: in order, as far as there is room.

A ready task may still be unable to begin here: its executor is busy or resting, it
waits for an outside worker, or enough changes are under way. So the tasks behind it are
offered, too, until no queue has room.

With thousands of ready tasks that is slow. The whole line is therefore walked only now
and then, for at most a tenth of the time. When an attempt is settled, only the first few
tasks are offered, and the few behind those that could not begin at the last walk.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.errors import NoExecutor, NotServedHere
from accordance.project.settings import PARALLEL_CHANGES
from accordance.runtime.offers import Obstacle, Offers, QueuedAttempt, TakenUp
from accordance.runtime.ports import LOCAL, QueueingTransaction, Router
from accordance.runtime.slots import Slots
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import allows_external, change_to_make
from accordance.work.landing import landing_of
from accordance.work.parallel_changes import ChangeBounds
from accordance.work.taking import take_up

_LEASE_SECONDS: Final = 24 * 3600  # a dead worker's tasks are taken over long before
_AHEAD: Final = 100  # tasks that every look of the runner offers
_FURTHER: Final = 4  # tasks beyond the free slots, offered when an attempt was settled
_PAUSE: Final = 10  # the next walk begins after so many times the duration of the last
EXTERNAL_NOT_ALLOWED: Final = (
    "its route leads to an outside worker, but its allowedExecutors do not include"
    " external: route it to an executor they allow"
)


@dataclass(frozen=True, slots=True)
class _Walk:
    """The last walk through a long line of ready tasks."""

    next_at: float = 0.0
    head: int = 0  # the plan's last event at that time


@dataclass
class Scheduler:
    """Takes up what can begin, for a process."""

    router: Router
    slots: Slots
    worker_id: str = LOCAL
    in_plan: int | None = None  # tasks of a plan at once, in all processes together
    parallel_changes: int = PARALLEL_CHANGES  # of a plan at once, in all processes
    _passed: dict[str, TaskRecord] = field(default_factory=dict)
    """By plan: the last of the tasks at the head of its line that could not begin."""
    _walks: dict[str, _Walk] = field(default_factory=dict)
    """By plan, if its line is long."""

    def take_up_all(self, unit: QueueingTransaction, plan_id: str) -> Offers:
        """Take up as many tasks as there is room for.

        Of a long line, only both ends are offered most of the time.
        """
        offers = self._no_offers(unit.tx, plan_id)
        if self._is_walk_due(unit.tx, plan_id):
            self._walk(unit, plan_id, offers)
        else:
            for task in self._both_ends(unit.tx, plan_id, _AHEAD):
                self._offer(unit, task, offers)
            offers.waits_for_room = True  # as far as is known
        offers.queued = unit.enqueue(offers.taken_up)
        return offers

    def take_up_next(
        self, unit: QueueingTransaction, plan_id: str
    ) -> list[QueuedAttempt]:
        """Do the same after an attempt was settled: fast, however long the line is."""
        offers = self._no_offers(unit.tx, plan_id)
        count = self.slots.any_room
        has_several_queues = len(self.slots.bounds) > 1
        if has_several_queues:
            count += _FURTHER

        for task in self._both_ends(unit.tx, plan_id, count):
            if offers.is_full:
                break
            self._offer(unit, task, offers)
        return unit.enqueue(offers.taken_up)

    def _no_offers(self, tx: Transaction, plan_id: str) -> Offers:
        most = self._most(tx, plan_id)
        changes = ChangeBounds(self.parallel_changes)
        return Offers(most, self.slots.roomy(), changes=changes)

    def _most(self, tx: Transaction, plan_id: str) -> int | None:
        """Return how many tasks of a plan may be taken up; None: any number."""
        if self.in_plan is None:
            return None
        begun = tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK)
        in_work = [task for task in begun if task.lease]
        return max(0, self.in_plan - len(in_work))

    # -- which tasks are offered

    def _is_walk_due(self, tx: Transaction, plan_id: str) -> bool:
        """Whether to walk the whole line.

        At once if something has happened, provided that no running attempt waits for
        it.
        """
        last = self._walks.get(plan_id, _Walk())
        if time.monotonic() >= last.next_at:
            return True

        plan = tx.plan(plan_id)
        has_moved = plan.head.seq != last.head
        return has_moved and not self.slots.busy

    def _walk(self, unit: QueueingTransaction, plan_id: str, offers: Offers) -> None:
        """Offer the whole line, until no queue has room."""
        started = time.monotonic()
        passed = None
        offered = 0

        for task in unit.tx.all_turns(plan_id, first=_AHEAD):
            if offers.is_full and (offers.taken_up or offers.waits_for_room):
                break
            self._offer(unit, task, offers)
            offered += 1
            if not offers.taken_up:
                passed = task

        if offered > _AHEAD:
            now = time.monotonic()
            duration = now - started
            plan = unit.tx.plan(plan_id)
            self._walks[plan_id] = _Walk(now + _PAUSE * duration, plan.head.seq)

        if passed is None:
            self._passed.pop(plan_id, None)
        else:
            self._passed[plan_id] = passed

    def _both_ends(
        self, tx: Transaction, plan_id: str, count: int
    ) -> Iterator[TaskRecord]:
        """Yield the first few tasks, and the first few behind those passed over."""
        first = tx.turns(plan_id, most=count)
        yield from first

        passed = self._passed.get(plan_id)
        if passed is not None and len(first) == count:
            yield from tx.turns(plan_id, most=count, after=passed)

    # -- a single offer

    def _offer(
        self, unit: QueueingTransaction, task: TaskRecord, offers: Offers
    ) -> None:
        """Take up a task, or note why it cannot begin."""
        change = change_to_make(unit.tx, task)
        if change is not None and not offers.changes.leave_room_for(unit.tx, task):
            return

        try:
            queue = self.router.queue_of(task, change)
        except NoExecutor as error:
            obstacle = _obstacle_of(error)
            offers.unstartable[task.task_id] = obstacle
            return

        if queue is None and landing_of(unit.tx, task) is not None:
            # it needs no outside worker, only a slot
            queue = min(offers.roomy, default=None)
        if queue is None:
            self._leave_to_outside_worker(task, change, offers)
        elif offers.is_full or queue not in offers.roomy:
            offers.waits_for_room = True
        elif self._take_up(unit, task, queue, change, offers) and change is not None:
            offers.changes.take(task)

    def _leave_to_outside_worker(
        self, task: TaskRecord, change: bytes | None, offers: Offers
    ) -> None:
        if allows_external(change):
            offers.waits_elsewhere = True
            return
        text = EXTERNAL_NOT_ALLOWED
        obstacle = Obstacle(Fault.UNPREPARED, text, lacks=text)
        offers.unstartable[task.task_id] = obstacle

    def _take_up(
        self,
        unit: QueueingTransaction,
        task: TaskRecord,
        queue: str,
        change: bytes | None,
        offers: Offers,
    ) -> bool:
        """Take a task up, unless it must wait for the budget that others reserve."""
        if queue in offers.short_queues:
            return False
        share = self.router.share(unit.tx, task, queue, change)
        if isinstance(share, str):
            offers.waits_for_budget = offers.waits_for_budget or share
            offers.short_queues.add(queue)  # what comes behind it waits as well
            return False

        taken = take_up(
            unit.tx, task, self.worker_id, _LEASE_SECONDS, self.router.holding, share
        )
        offers.taken_up.append(TakenUp(queue, taken))
        queues = [each.queue for each in offers.taken_up]
        offers.roomy = self.slots.roomy(queues)
        return True


def _obstacle_of(error: NoExecutor) -> Obstacle:
    """Say why a task cannot begin here, and in which queue others may begin it."""
    if isinstance(error, NotServedHere):
        fault = Fault(error.fault or Fault.NO_EXECUTOR)
        return Obstacle(fault, str(error), lacks=error.text, queue=error.queue)
    return Obstacle(Fault.NO_EXECUTOR, str(error), lacks=error.text)
