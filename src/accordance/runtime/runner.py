"""Carrying plans out: look for work, begin it, look again, until nothing moves without a person.

What happens to each attempt is written in `attempt_path`. Attempts that end take up the next ones by themselves; the looks
here find what others have brought: new plans, answers, inputs, attempts that a dead worker has left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from accordance.domain.input_binding import InputFile
from accordance.domain.lifecycle import State
from accordance.domain.plan_review import PlanState
from accordance.domain.records import PlanRecord
from accordance.errors import LedgerError
from accordance.project.home import Home
from accordance.project.settings import AtOnce
from accordance.runtime.attempt_path import AttemptPath
from accordance.runtime.ports import (
    LOCAL,
    Attempts,
    Branches,
    Listener,
    NoBranches,
    Signals,
    Silence,
    TaskAttempt,
)
from accordance.runtime.reconciling import Reconciler
from accordance.runtime.run_progress import Look, RunProgress, combined, resting
from accordance.runtime.scheduler import Scheduler
from accordance.runtime.slots import Slots
from accordance.runtime.untaken import Untaken
from accordance.runtime.workers import BEAT_SECONDS, DEAD_AFTER_SECONDS, Crew, Heart
from accordance.runtime.workflow import WorkflowEngine
from accordance.store.failures import translated
from accordance.store.ledger import Transaction
from accordance.store.opening import make_engine, open_ledger
from accordance.work.inputs import look_at_inputs
from accordance.work.tasks import NoTaskReason, at_rest

_LOOK_SECONDS: Final = 0.5  # how often others' doings are looked for
_FULL_LOOK_SECONDS: Final = 3.0  # the same, while there is no room for more
_RECONCILE_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 300.0  # a ledger may be away for so long
_OTHERS_SECONDS: Final = (
    5.0  # other workers that live are given so long to begin what nobody here can
)


@dataclass
class Runner:
    """Carries out one plan, or all, for as long as it runs."""

    place: str
    home: Home
    attempts: Attempts
    plan_id: str | None = None
    worker_id: str = LOCAL
    listener: Listener = field(default_factory=Silence)
    branches: Branches = field(default_factory=NoBranches)
    bounds: AtOnce = field(default_factory=AtOnce)
    beat_seconds: float = BEAT_SECONDS
    dead_after: float = DEAD_AFTER_SECONDS
    stop_seconds: float = 10.0  # so long what runs is waited for, at the end
    is_clean: bool = True  # after the end: nothing was left behind

    def __post_init__(self) -> None:
        queues = self.attempts.queues()
        self.slots = Slots(queues, self.bounds.in_worker)
        self.ledger = open_ledger(self.place)
        self.engine = WorkflowEngine(self.place, self.slots, self.worker_id)
        self.scheduler = Scheduler(
            self.attempts, self.slots, self.worker_id, self.bounds.in_plan
        )
        self.crew = Crew(frozenset(queues))
        self._signals = Signals()
        self._path = AttemptPath(
            home=self.home,
            attempts=self.attempts,
            scheduler=self.scheduler,
            workflows=self.engine,
            slots=self.slots,
            listener=self.listener,
            branches=self.branches,
            signals=self._signals,
        )
        self._reconciler = Reconciler(
            self.engine, self.ledger, self.crew, self.listener
        )
        self._untaken = Untaken(self.ledger, self.listener)
        self._looked = 0.0
        self._rests_since: float | None = None
        self._has_begun = False  # something
        self._is_worker = False  # it goes on when there is nothing to do

    # -- from outside

    def until_it_rests(self, *, wait: bool = False) -> NoTaskReason | None:
        """Run until nothing moves without a person. Why it rests; None if it was stopped.

        With `wait`, tasks for outside workers are waited for, too. Raises NoExecutor if there is no executor for anything that
        is ready.
        """
        with self._working():
            while not self._signals.stop.is_set():
                self._signals.wake.clear()
                look = self._patiently(partial(self._look_for_an_end, wait=wait))
                if look.is_at_rest:
                    return look.rest
                self._signals.wake.wait(_LOOK_SECONDS)
        return None

    def until_stopped(self) -> None:
        """Run for whoever brings work, until it is stopped."""
        self._is_worker = True
        with self._working():
            while not self._signals.stop.is_set():
                self._signals.wake.clear()
                self._patiently(self._look)
                self._signals.wake.wait(_LOOK_SECONDS)

    def stop(self) -> None:
        """Begin nothing more, and come to an end. May be called from a signal's handler."""
        self._signals.stop.set()
        self._signals.wake.set()

    # -- beginning and ending

    @contextmanager
    def _working(self) -> Iterator[None]:
        with ExitStack() as end:
            end.callback(self.ledger.close)
            with translated(self.ledger.engine):
                heart = self.crew.heart = self._new_heart()
            if heart is not None:
                end.callback(lambda: heart.stop(is_clean=self.is_clean))
            with translated(self.ledger.engine):
                self.engine.start(self._path)
            end.callback(self._end)
            if heart is not None:
                heart.start()
            yield

    def _end(self) -> None:
        self.is_clean = False  # unless the engine says otherwise
        self.is_clean = self.engine.stop(self.stop_seconds)

    def _new_heart(self) -> Heart | None:
        """Beats once before anything is taken up."""
        if self.engine.is_alone:
            return None
        heart = Heart(
            make_engine(self.place, connections=2),
            self.worker_id,
            tuple(self.slots.bounds),
            beat_seconds=self.beat_seconds,
            dead_after=self.dead_after,
        )
        heart.beat()
        for version, count in heart.other_versions().items():
            self.listener.notice(
                f"{count} workers of engine version {version} are here too: each version goes on with its own attempts"
            )
        return heart

    # -- looking for work

    def _patiently(self, look: Callable[[], Look]) -> Look:
        """Look, and look again while the ledger is busy or away."""
        away_since = time.monotonic()
        while not self._signals.stop.is_set():
            try:
                with translated(
                    self.engine.engine
                ):  # the engine's own looks fail in its own words
                    return look()
            except LedgerError as error:
                if time.monotonic() - away_since > _PATIENCE_SECONDS:
                    raise
                self.listener.notice(f"{error}")
                self._signals.stop.wait(1.0)
        return Look(RunProgress.STOPPED)

    def _look_for_an_end(self, *, wait: bool) -> Look:
        """A look that is at rest only if the run is over: a person is asked for what nobody can begin, before it is."""
        look = self._look()
        if not look.is_at_rest or self.slots.busy:
            self._rests_since = None
            return Look(RunProgress.UNDER_WAY)
        if self._untaken:
            self._ask_unless_others_can(look)
            return Look(RunProgress.UNDER_WAY)
        if wait and look.rest is NoTaskReason.ELSEWHERE:
            return Look(RunProgress.UNDER_WAY)
        return look

    def _ask_unless_others_can(self, look: Look) -> None:
        """Give other workers, who may have an executor that is not here, some time; then ask a person."""
        self._rests_since = self._rests_since or time.monotonic()
        had_time = time.monotonic() >= self._rests_since + _OTHERS_SECONDS
        if had_time or not self.crew.has_company():
            is_set_up = self._has_begun or look.rest is NoTaskReason.ELSEWHERE
            self._untaken.ask_a_person(is_set_up=is_set_up)
            self._signals.wake.set()

    def _look(self) -> Look:
        """Stop what is no longer wanted, take up what can be taken up, look after what nobody goes on with."""
        self._stop_what_is_unwanted()
        self.slots.forget(self.engine.queued)
        if self._is_too_full_to_look():
            return Look(RunProgress.FULL)
        self._looked = time.monotonic()
        self.branches.catch_up()
        looks = self._look_at_plans()
        busy = [
            plan_id for plan_id, look in looks.items() if look.rest is NoTaskReason.BUSY
        ]
        self._reconcile(busy)
        return combined(
            list(looks.values()), is_stranded=self._reconciler.are_stranded(busy)
        )

    def _is_too_full_to_look(self) -> bool:
        """Whether nothing could be begun: whatever ends takes up what comes next. Now and then there is a look all the same."""
        is_full = self.slots.busy and not self.slots.any_room
        return is_full and time.monotonic() < self._looked + _FULL_LOOK_SECONDS

    def _look_at_plans(self) -> dict[str, Look]:
        """Take up what can begin, plan by plan."""
        files = look_at_inputs(self.ledger, self.home)
        with self.ledger.read() as tx:
            plans = self._plans(tx)
            rests = {plan.plan_id: at_rest(tx, plan) for plan in plans}
        looks = {}
        for (
            plan_id,
            why,
        ) in rests.items():  # a plan at rest is not worth a transaction of its own
            looks[plan_id] = resting(why) if why else self._take_up_in(plan_id, files)
        return looks

    def _plans(self, tx: Transaction) -> list[PlanRecord]:
        return [tx.plan(self.plan_id)] if self.plan_id else tx.plans()

    def _take_up_in(self, plan_id: str, files: list[InputFile]) -> Look:
        self._untaken.replace(plan_id, {})
        look = self._path.take_up(plan_id, files)
        self._has_begun = self._has_begun or look.progress is RunProgress.BEGAN
        self._untaken.replace(plan_id, look.without_taker)
        if self._is_worker:
            self._untaken.announce()
        return look

    def _reconcile(self, busy: list[str]) -> None:
        """Now and then, see whether what is in work will come to an end."""
        seconds = _RECONCILE_SECONDS if self.slots.busy else _LOOK_SECONDS
        if busy and self._reconciler.is_due(seconds):
            for plan_id in busy:
                self._reconciler.reconcile(plan_id)

    def _stop_what_is_unwanted(self) -> None:
        """An attempt that was cancelled, is no longer the task's current one, or whose plan is held is told to stop."""
        running = self.engine.running()
        if not running:
            return
        with self.ledger.read() as tx:
            for attempt, slot in running:
                if not is_wanted(tx, attempt):
                    slot.stop.set()


def is_wanted(tx: Transaction, attempt: TaskAttempt) -> bool:
    """Whether what an attempt will bring still counts. While its plan is held, it does not."""
    task = tx.task(attempt.task_id)
    if tx.plan(task.plan_id).state is PlanState.HELD:
        return False
    if task.lease is None or task.progress.standing.counters.attempts != attempt.number:
        return False
    is_reviewed = (
        task.progress.state is State.READY_TO_CHECK
        and task.lease.until == attempt.lease
    )
    return is_reviewed or task.progress.state is State.IN_PROGRESS
