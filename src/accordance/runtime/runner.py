"""Carrying plans out: what can begin is taken up and given to its executor, until nothing moves without a person."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection

from accordance.domain.evidence import InputFile
from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.domain.plan_review import PlanState
from accordance.errors import LedgerError, NoExecutor
from accordance.project.home import Home
from accordance.project.settings import AtOnce
from accordance.runtime.reconciling import Reconciling
from accordance.runtime.scheduler import Found, Nobody, Queue, TakingUp
from accordance.runtime.slots import Bound, Slots
from accordance.runtime.workers import BEAT_SECONDS, DEAD_AFTER_SECONDS, Heart
from accordance.runtime.workflow import LOCAL, Attempt, Durable, Put, Run
from accordance.store.failures import translated
from accordance.store.ledger import Transaction
from accordance.store.opening import make_engine, now, open_ledger
from accordance.store.sql import SqlTransaction, within
from accordance.work.contracts_for import Holding, to_actions
from accordance.work.faults import fail_unbegun
from accordance.work.inputs import look_at_inputs
from accordance.work.tasks import Nothing, at_rest, may_not_begin, why_nothing

_LOOK_SECONDS: Final = 0.5  # how often somebody else's doings are looked for
_FULL_LOOK_SECONDS: Final = 3.0  # the same, while there is no room for more
_RECONCILE_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 300.0  # a ledger may be away for so long
_OTHERS_SECONDS: Final = 5.0  # other workers that live are given so long to begin what nobody here can


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
    holding: Holding = to_actions  # which contracts attempts are held to
    heard: Callable[[Attempt, Mapping[str, Any]], None] = lambda *_: None
    told: Callable[[str], None] = lambda _: None  # what whoever watches should know
    catch_up: Callable[[], None] = lambda: None  # done now and then, whether or not something runs
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
        self._reconciling = Reconciling(self.durable, self.ledger, self.told, self._is_served)
        self._taking = TakingUp(self.durable, self.queue_of, self.bounds.in_plan, self.holding)
        self._heart: Heart | None = None
        self._nobodys: dict[str, dict[str, Nobody]] = {}  # by plan: what nobody here can begin
        self._left_alone: set[str] = set()
        self._looked = 0.0
        self._rests_since: float | None = None
        self._has_begun = False  # something
        self._goes_on = False  # also when there is nothing to do

    # -- from outside

    def until_it_rests(self, *, wait: bool = False) -> Nothing | None:
        """Run until nothing moves without a person. Why it rests; None if it was stopped.

        With `wait`, what somebody elsewhere has to ask for is waited for, too. Raises NoExecutor if there is nobody for
        anything that is ready.
        """
        with self._working():
            while not self._stopped.is_set():
                self._wake.clear()
                if rests := self._patiently(partial(self._look_for_an_end, wait=wait)):
                    return rests
                self._wake.wait(_LOOK_SECONDS)
        return None

    def _look_for_an_end(self, *, wait: bool) -> Nothing | None:
        """Why the run is over, if so. A person is asked for what nobody can begin, before it is."""
        rests = self._look()
        if rests is None or self.slots.busy:
            self._rests_since = None
        elif not any(self._nobodys.values()):
            return None if wait and rests is Nothing.ELSEWHERE else rests
        else:
            self._rests_since = self._rests_since or time.monotonic()
            if not self._others_live() or time.monotonic() >= self._rests_since + _OTHERS_SECONDS:
                self._stall(rests)
                self._wake.set()
        return None

    def _others_live(self) -> bool:
        """Whether other workers live, who may have an executor that is not here."""
        return self._heart is not None and self._heart.has_company()

    def _is_served(self, queue: str) -> bool:
        """Whether somebody begins what is put into a queue: here, or in another process that lives."""
        return queue in self.queues or (self._heart is not None and self._heart.is_served(queue))

    def _stall(self, rests: Nothing) -> None:
        """Ask a person for what nobody can begin. Raises NoExecutor if that is all there is: then nothing is set up."""
        found = [one for nobodys in self._nobodys.values() for one in nobodys.values()]
        is_set_up = self._has_begun or rests is Nothing.ELSEWHERE
        if not is_set_up and all(one.fault is Fault.NO_EXECUTOR for one in found):
            raise NoExecutor(found[0].text)
        for plan_id, nobodys in self._nobodys.items():
            with self.ledger.write() as tx:
                if not may_not_begin(tx, plan_id, None):
                    for task_id, one in nobodys.items():
                        fail_unbegun(tx, task_id, one.fault, one.text)
        self._nobodys.clear()

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
        with ExitStack() as end:
            end.callback(self.ledger.close)
            with translated(self.ledger.engine):
                heart = self._heart = self._new_heart()
            if heart is not None:
                end.callback(lambda: heart.stop(is_clean=self.is_clean))
            with translated(self.ledger.engine):
                self.durable.start()
            end.callback(self._end)
            if heart is not None:
                heart.start()
            yield

    def _end(self) -> None:
        self.is_clean = False  # unless we hear otherwise
        self.is_clean = self.durable.stop(self.stop_seconds)

    def _new_heart(self) -> Heart | None:
        """Beats once before anything is taken up."""
        if self.durable.is_alone:
            return None
        heart = Heart(
            make_engine(self.place, connections=2),
            self.executor_id,
            tuple(self.queues),
            beat_seconds=self.beat_seconds,
            dead_after=self.dead_after,
        )
        heart.beat()
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
                with translated(self.durable.engine):  # the engine's own looks fail in its own words
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
        self._looked = time.monotonic()
        self.catch_up()
        files = look_at_inputs(self.ledger, self.home)
        with self.ledger.read() as tx:
            plans = [tx.plan(self.plan_id)] if self.plan_id else tx.plans()
            rests = [at_rest(tx, plan) for plan in plans]  # those are not worth a transaction each
        pairs = zip(plans, rests, strict=True)
        reasons = [why or self._take_in_plan(plan.plan_id, files) for plan, why in pairs]
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
        self._nobodys.pop(plan_id, None)
        with translated(engine), engine.begin() as connection, within(connection, now()) as tx:
            if rests := may_not_begin(tx, plan_id, files):
                return rests
            found = self._taking.all(tx, connection, plan_id)
            why = self._why_nothing(tx, plan_id, found)
        self.durable.committed(found.put)
        self._has_begun = self._has_begun or bool(found.put)
        self._nobodys[plan_id] = found.nobodys
        self._say_who_is_missing(found.nobodys)
        return why

    def _why_nothing(self, tx: Transaction, plan_id: str, found: Found) -> Nothing | None:
        """Why nothing was taken up; None if something was."""
        if found.put:
            return None
        why = Nothing.BUSY if found.is_left else why_nothing(tx, plan_id)
        return Nothing.ELSEWHERE if found.is_elsewhere and why is not Nothing.BUSY else why

    def _go_on(self, tx: SqlTransaction, connection: Connection, plan_id: str) -> list[Put]:
        """What can begin because an attempt was settled, in the same transaction."""
        if self._stopped.is_set() or may_not_begin(tx, plan_id, None):
            return []
        return self._taking.few(tx, connection, plan_id)

    def _say_who_is_missing(self, nobodys: Mapping[str, Nobody]) -> None:
        """A worker only says so, for somebody else may have an executor; a run asks a person when nothing else is left."""
        for task_id, one in nobodys.items():
            if self._goes_on and task_id not in self._left_alone:
                self._left_alone.add(task_id)
                self.told(f"{task_id}: {one.text}")


def is_wanted(tx: Transaction, one: Attempt) -> bool:
    """Whether somebody still waits for what an attempt will bring. While its plan is held, nobody does."""
    task = tx.task(one.task_id)
    if tx.plan(task.plan_id).state is PlanState.HELD:
        return False
    if task.lease is None or task.progress.standing.counters.attempts != one.number:
        return False
    return task.progress.state is State.IN_PROGRESS or (
        task.progress.state is State.READY_TO_CHECK and task.lease.until == one.lease
    )
