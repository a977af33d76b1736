"""Carrying plans out: what can begin is taken up and given to its executor, until nothing moves without a person."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection

from accordance.domain.evidence import InputFile
from accordance.domain.lifecycle import State
from accordance.domain.plan_review import PlanState
from accordance.domain.records import TaskRecord
from accordance.engine.coding_tasks import waits_its_turn
from accordance.engine.durable import LOCAL, Attempt, Durable, Put, Run
from accordance.engine.home import Home
from accordance.engine.inputs import look_at_inputs
from accordance.engine.reconciling import Reconciling
from accordance.engine.settings import AtOnce
from accordance.engine.slots import Bound, Slots
from accordance.engine.workers import BEAT_SECONDS, DEAD_AFTER_SECONDS, Heart
from accordance.engine.working import Nothing, may_not_begin, take_up, why_nothing
from accordance.errors import LedgerError, NoExecutor
from accordance.store.failures import translated
from accordance.store.ledger import Transaction
from accordance.store.opening import make_engine, now, open_ledger
from accordance.store.sql import SqlTransaction, within

_LOOK_SECONDS: Final = 0.5  # how often somebody else's doings are looked for
_FULL_LOOK_SECONDS: Final = 3.0  # the same, while there is no room for more
_RECONCILE_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 300.0  # a ledger may be away for so long
_LEASE_SECONDS: Final = 24 * 3600  # the engine takes over what is left behind, long before
_AHEAD: Final = 100  # ready tasks that are looked at for one whose executor is free
_FURTHER: Final = 4  # the same, when an attempt was settled and the next one is wanted quickly
Queue = Callable[[TaskRecord], str | None]


@dataclass
class Runner:
    """Takes up tasks of one plan, or of all, for as long as it runs."""

    place: str
    home: Home
    run: Run
    queue_of: Queue  # of a task; None: somebody elsewhere asks for it. Raises NoExecutor
    queues: Mapping[str, Bound]
    plan_id: str | None = None
    executor_id: str = LOCAL
    heard: Callable[[Attempt, Mapping[str, Any]], None] = lambda *_: None
    told: Callable[[str], None] = lambda _: None  # what whoever watches should know
    bounds: AtOnce = field(default_factory=AtOnce)
    beat_seconds: float = BEAT_SECONDS
    dead_after: float = DEAD_AFTER_SECONDS
    stop_seconds: float = 10.0  # so long what runs is waited for, at the end
    is_clean: bool = True  # after the end: nothing was left behind
    _wake: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.slots = Slots(self.queues, self.bounds.in_worker)
        self.durable = Durable(
            self.place,
            self.home,
            self.run,
            self.slots,
            self.executor_id,
            settled=self._settled,
            go_on=self._go_on,
            told=self.told,
        )
        self.ledger = open_ledger(self.place)
        self._reconciling = Reconciling(self.durable, self.ledger, self.told)
        self._no_executor: NoExecutor | None = None
        self._left_alone: set[str] = set()
        self._looked = 0.0
        self._goes_on = False  # also when there is nothing to do

    # -- from outside

    def until_it_rests(self) -> Nothing | None:
        """Run until nothing moves without a person. Why it rests; None if it was stopped."""
        with self._working():
            while not self._stopped.is_set():
                self._wake.clear()
                rests = self._patiently(self._look)
                if rests is not None and not self.slots.busy:
                    return self._resting(rests)
                self._wake.wait(_LOOK_SECONDS)
        return None

    def _resting(self, why: Nothing) -> Nothing:
        """The reason, unless what is left has nobody to do it."""
        if why is not Nothing.FINISHED and self._no_executor is not None:
            raise self._no_executor
        return why

    def until_stopped(self) -> None:
        """Run for whoever brings work, until it is stopped."""
        self._goes_on = True
        with self._working():
            while not self._stopped.is_set():
                self._wake.clear()
                self._patiently(self._look)
                self._wake.wait(_LOOK_SECONDS)

    def stop(self) -> None:
        """Begin nothing more, and come to an end. May be called from a signal's handler."""
        self._stopped.set()
        self._wake.set()

    # -- one look after the other

    @contextmanager
    def _working(self) -> Iterator[None]:
        self.durable.start()
        heart = self._heart()
        try:
            yield
        finally:
            self.is_clean = self.durable.stop(self.stop_seconds)
            if heart is not None:
                heart.stop(is_clean=self.is_clean)
            self.ledger.close()

    def _heart(self) -> Heart | None:
        if self.durable.is_alone:
            return None
        heart = Heart(
            make_engine(self.place, connections=2),
            self.executor_id,
            beat_seconds=self.beat_seconds,
            dead_after=self.dead_after,
        )
        heart.start()
        for version, count in heart.other_versions().items():
            self.told(
                f"{count} workers of engine version {version} are here too: each version goes on with its own attempts"
            )
        return heart

    def _settled(self, one: Attempt, answer: Mapping[str, Any]) -> None:
        try:
            self.heard(one, answer)
        except Exception as error:  # noqa: BLE001 - the attempt is settled, whatever its listener makes of it
            self.told(f"{one.task_id}: {error}")
        if not self.slots.busy:  # otherwise the settling itself has taken up what could be
            self._wake.set()

    def _patiently(self, look: Callable[[], Nothing | None]) -> Nothing | None:
        """Look, and look again while the ledger is busy or away."""
        gone_since = time.monotonic()
        while not self._stopped.is_set():
            try:
                return look()
            except LedgerError as error:
                if time.monotonic() - gone_since > _PATIENCE_SECONDS:
                    raise
                self.told(f"{error}")
                self._stopped.wait(1.0)
        return None

    def _look(self) -> Nothing | None:
        """Stop what is no longer wanted, take up what can be. A reason if nothing is left to do."""
        self._stop_what_is_unwanted()
        self.slots.forget(self.durable.queued)
        if (
            not self.slots.any_room
            and self.slots.busy
            and time.monotonic() < self._looked + _FULL_LOOK_SECONDS
        ):
            return None  # whatever ends takes up what comes next
        self._looked, self._no_executor = time.monotonic(), None
        files = look_at_inputs(self.ledger, self.home)
        with self.ledger.read() as tx:
            plans = [tx.plan(self.plan_id)] if self.plan_id else tx.plans()
        reasons = [self._take_in_plan(plan.plan_id, files) for plan in plans]
        busy = [plan.plan_id for plan, why in zip(plans, reasons, strict=True) if why is Nothing.BUSY]
        if busy and self._reconciling.is_due(_RECONCILE_SECONDS if self.slots.busy else _LOOK_SECONDS):
            for plan_id in busy:
                self._reconciling.reconcile(plan_id)
        if any(reason in (None, Nothing.BUSY) for reason in reasons):
            return self._reconciling.stranded(busy) if None not in reasons else None
        return next((one for one in reasons if one is not Nothing.FINISHED), Nothing.FINISHED)

    def _stop_what_is_unwanted(self) -> None:
        """An attempt that was cancelled, is no longer the task's current one, or whose plan is held is told to stop."""
        running = self.durable.running()
        if running:
            with self.ledger.read() as tx:
                for one, slot in running:
                    if not is_wanted(tx, one):
                        slot.stop.set()

    # -- taking up

    def _take_in_plan(self, plan_id: str, files: list[InputFile]) -> Nothing | None:
        engine = self.durable.engine
        with translated(engine), engine.begin() as connection, within(connection, now()) as tx:
            if rests := may_not_begin(tx, plan_id, files):
                return rests
            put, left = self._take_some(tx, connection, plan_id, _AHEAD)
            why = None if put else Nothing.BUSY if left else why_nothing(tx, plan_id)
        self.durable.committed(put)
        return why

    def _go_on(self, tx: SqlTransaction, connection: Connection, plan_id: str) -> list[Put]:
        """What can begin because an attempt was settled, in the same transaction."""
        if self._stopped.is_set() or may_not_begin(tx, plan_id, None):
            return []
        further = _FURTHER if len(self.queues) > 1 else 0
        put, _ = self._take_some(tx, connection, plan_id, self.slots.any_room + further)
        return put

    def _take_some(
        self, tx: SqlTransaction, connection: Connection, plan_id: str, ahead: int
    ) -> tuple[list[Put], bool]:
        """Take up as much as there are free slots for; whether something that is ready was left for later, or for others."""
        room = {queue: self.slots.room(queue) for queue in self.queues}
        most = self._most_now(tx, plan_id)
        put: list[Put] = []
        left = False
        for task in tx.turns(plan_id, most=ahead):
            if waits_its_turn(tx, task):
                continue
            try:
                queue = self.queue_of(task)
            except NoExecutor as error:
                self._nobody_for(task, error)
                continue
            if queue is None or not most or not room.get(queue):
                left = True
                continue
            put.append(
                self.durable.enqueue(connection, queue, take_up(tx, task, self.executor_id, _LEASE_SECONDS))
            )
            room = {one: free - (one == queue) for one, free in room.items()}
            if len(put) == most:
                break
        return put, left

    def _most_now(self, tx: Transaction, plan_id: str) -> int:
        free = self.slots.any_room
        if self.bounds.in_plan is None:
            return free
        in_work = sum(1 for task in tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK) if task.lease)
        return max(0, min(free, self.bounds.in_plan - in_work))

    def _nobody_for(self, task: TaskRecord, error: NoExecutor) -> None:
        """Somebody else may have an executor for it; a run that ends says so at its end, a worker at once."""
        self._no_executor = error
        if self._goes_on and task.task_id not in self._left_alone:
            self._left_alone.add(task.task_id)
            self.told(f"{task.task_id}: {error}")


def is_wanted(tx: Transaction, one: Attempt) -> bool:
    """Whether somebody still waits for what an attempt will bring. While its plan is held, nobody does."""
    task = tx.task(one.task_id)
    if tx.plan(task.plan_id).state is PlanState.HELD:
        return False
    if task.lease is None or task.progress.standing.counters.attempts != one.number:
        return False
    return task.progress.state is State.IN_PROGRESS or (
        task.progress.state is State.READY_TO_CHECK and task.lease.product == one.product
    )
