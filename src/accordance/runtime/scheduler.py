"""Which of a plan's ready tasks begin now: in their order, as far as their executors have room.

A task that is ready may still not begin here: its executor is busy or rests, it waits for an outside worker, another change
is under way. So the tasks behind it are offered, too, until no queue has room. With thousands of tasks that is slow. Hence
the whole line is gone through only now and then, and at most a tenth of the time; whenever an attempt is settled only the
first few are offered, and the few behind those that could not begin at the last full look.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.errors import NoExecutor
from accordance.runtime.offers import NoTaker, Offers, QueuedAttempt
from accordance.runtime.ports import LOCAL, QueueingTransaction, Router
from accordance.runtime.slots import Slots
from accordance.store.ledger import Transaction
from accordance.work.coding_tasks import allows_external, change_to_make
from accordance.work.tasks import take_up

_LEASE_SECONDS: Final = 24 * 3600  # what is left behind is taken over long before
_AHEAD: Final = 100  # tasks that every look of the runner offers
_FURTHER: Final = (
    4  # tasks beyond the free slots that are offered when an attempt was settled
)
_PAUSE: Final = (
    10  # after going through a long line, so many times as long nobody does it again
)
_NOT_ALLOWED: Final = "its route leads to somebody elsewhere, and its allowedExecutors leave out external: route it to one of those it allows"


@dataclass(frozen=True, slots=True)
class _FullLook:
    """The last time that all of a long line was gone through."""

    again_at: float = 0.0
    head: int = 0  # the plan's last event then


@dataclass
class Scheduler:
    """Takes up what can begin, for one process."""

    router: Router
    slots: Slots
    worker_id: str = LOCAL
    in_plan: int | None = None  # tasks of one plan at once, in all processes together
    _passed: dict[str, TaskRecord] = field(default_factory=dict)
    """By plan: the last of the tasks at the head of its line that could not begin."""
    _full_looks: dict[str, _FullLook] = field(default_factory=dict)
    """By plan whose line is long."""

    def take_up_all(self, unit: QueueingTransaction, plan_id: str) -> Offers:
        """Take up as much as there is room for; of a long line only its ends are offered, but for now and then."""
        offers = self._no_offers(unit.tx, plan_id)
        if self._is_full_look_due(unit.tx, plan_id):
            self._offer_all(unit, plan_id, offers)
            return offers
        for task in self._both_ends(unit.tx, plan_id, _AHEAD):
            self._offer(unit, task, offers)
        offers.waits_for_room = True  # as far as is known
        return offers

    def take_up_next(
        self, unit: QueueingTransaction, plan_id: str
    ) -> list[QueuedAttempt]:
        """The same when an attempt was settled: quickly, however long the line is."""
        offers = self._no_offers(unit.tx, plan_id)
        has_several_queues = len(self.slots.bounds) > 1
        most = self.slots.any_room + (_FURTHER if has_several_queues else 0)
        for task in self._both_ends(unit.tx, plan_id, most):
            if offers.is_full:
                break
            self._offer(unit, task, offers)
        return offers.queued

    def _no_offers(self, tx: Transaction, plan_id: str) -> Offers:
        return Offers(self._most(tx, plan_id), self.slots.roomy())

    def _most(self, tx: Transaction, plan_id: str) -> int | None:
        """How many tasks of a plan may be taken up; None: any number."""
        if self.in_plan is None:
            return None
        begun = tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK)
        in_work = [task for task in begun if task.lease]
        return max(0, self.in_plan - len(in_work))

    def _is_full_look_due(self, tx: Transaction, plan_id: str) -> bool:
        """Whether it is time to go through the whole line: at once if something has happened, and nothing is held up by it."""
        last = self._full_looks.get(plan_id, _FullLook())
        if time.monotonic() >= last.again_at:
            return True
        has_moved = tx.plan(plan_id).head.seq != last.head
        return has_moved and not self.slots.busy

    def _offer_all(
        self, unit: QueueingTransaction, plan_id: str, offers: Offers
    ) -> None:
        began = time.monotonic()
        passed = None
        offered = 0
        for task in unit.tx.all_turns(plan_id, first=_AHEAD):
            if offers.is_full and (offers.queued or offers.waits_for_room):
                break
            self._offer(unit, task, offers)
            offered += 1
            if not offers.queued:
                passed = task
        if offered > _AHEAD:
            now = time.monotonic()
            again_at = now + _PAUSE * (now - began)
            self._full_looks[plan_id] = _FullLook(
                again_at, unit.tx.plan(plan_id).head.seq
            )
        if passed is None:
            self._passed.pop(plan_id, None)
        else:
            self._passed[plan_id] = passed

    def _both_ends(
        self, tx: Transaction, plan_id: str, most: int
    ) -> Iterator[TaskRecord]:
        """The first few of the line, and the first few behind those that could not begin."""
        first = tx.turns(plan_id, most=most)
        yield from first
        passed = self._passed.get(plan_id)
        if passed is not None and len(first) == most:
            yield from tx.turns(plan_id, most=most, after=passed)

    def _offer(
        self, unit: QueueingTransaction, task: TaskRecord, offers: Offers
    ) -> None:
        """Take up a task, or note why not."""
        change = change_to_make(unit.tx, task)
        if change is not None and offers.others_change(unit.tx, task):
            return
        try:
            queue = self.router.queue_of(task, change)
        except NoExecutor as error:
            offers.without_taker[task.task_id] = NoTaker(Fault.NO_EXECUTOR, str(error))
            return
        if queue is None and not allows_external(change):
            offers.without_taker[task.task_id] = NoTaker(Fault.UNPREPARED, _NOT_ALLOWED)
        elif queue is None:
            offers.waits_elsewhere = True
        elif offers.is_full or queue not in offers.roomy:
            offers.waits_for_room = True
        else:
            self._take_up(unit, task, queue, offers)
            if change is not None and offers.changing is not None:
                offers.changing.add(task.task_id)

    def _take_up(
        self, unit: QueueingTransaction, task: TaskRecord, queue: str, offers: Offers
    ) -> None:
        taken = take_up(
            unit.tx, task, self.worker_id, _LEASE_SECONDS, self.router.holding
        )
        offers.queued.append(unit.enqueue(queue, taken))
        queues = [attempt.queue for attempt in offers.queued]
        offers.roomy = self.slots.roomy(queues)
