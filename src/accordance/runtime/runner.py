"""Running plans: look for work, begin it, look again, until only a person can go on.

What happens to each attempt is in `attempt_path`. Attempts that end take up the next
ones by themselves; the looks here discover what comes from outside: new plans, answers,
inputs, and attempts that a dead worker has left behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final
from zlib import crc32

from accordance.domain.capabilities import Capabilities
from accordance.domain.lifecycle import State
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord
from accordance.errors import LedgerError
from accordance.project.home import Home
from accordance.project.settings import AtOnce
from accordance.runtime.attempt_path import AttemptPath
from accordance.runtime.observing import AttemptSpans
from accordance.runtime.pauses import share_pause
from accordance.runtime.ports import (
    LOCAL,
    Attempts,
    Branches,
    Listener,
    NoBranches,
    Silence,
    TaskAttempt,
    ThreadSignals,
)
from accordance.runtime.reconciling import Reconciler
from accordance.runtime.run_progress import Look, RunProgress, combined, resting
from accordance.runtime.scheduler import Scheduler
from accordance.runtime.slots import Slots
from accordance.runtime.unstartable import UnstartableTasks
from accordance.runtime.workers import (
    BEAT_SECONDS,
    DEAD_AFTER_SECONDS,
    Beat,
    Crew,
    Heart,
)
from accordance.runtime.workflow import WorkflowEngine
from accordance.store.failures import translated
from accordance.store.ledger import Transaction
from accordance.store.opening import make_engine, open_ledger
from accordance.work.input_files import InputUploads, look_at_inputs
from accordance.work.taking import NoTaskReason, why_no_look

_LOOK_SECONDS: Final = 0.5  # between looks for work from outside
_FULL_LOOK_SECONDS: Final = 3.0  # the same, while there is no room for more
_RECONCILE_SECONDS: Final = 5.0
_PATIENCE_SECONDS: Final = 300.0  # for a ledger that is away
_AWAY_SECONDS: Final = 1.0  # between looks at a ledger that is away
_DRAIN_LOOK_SECONDS: Final = 0.05
_OTHERS_SECONDS: Final = 5.0  # for other workers to begin what we cannot


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTerms:
    """What a worker says of itself, and how it ends."""

    can: Capabilities = field(default_factory=Capabilities)
    drain_seconds: float = 0.0  # for attempts to end by themselves
    alive_file: Path | None = None  # touched while the process lives


@dataclass
class Runner:
    """Runs a plan, or all plans."""

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
    stop_seconds: float = 10.0  # for running attempts, at the end
    terms: WorkerTerms = field(default_factory=WorkerTerms)
    patience_seconds: float = 60.0  # of a worker, for others that can do more
    is_clean: bool = True  # after the end: nothing was left behind

    def __post_init__(self) -> None:
        queues = self.attempts.queues()
        self.slots = Slots(queues, self.bounds.in_worker)
        blobs = self.home.blobs()
        silent_seconds = self.dead_after
        self.ledger = open_ledger(
            self.place, blobs=blobs, silent_seconds=silent_seconds
        )
        self.engine = WorkflowEngine(
            self.place,
            self.slots,
            self.worker_id,
            blobs=blobs,
            silent_seconds=silent_seconds,
        )
        self.scheduler = Scheduler(
            self.attempts,
            self.slots,
            self.worker_id,
            self.bounds.in_plan,
            self.home.settings().workspace.parallel_changes,
        )
        self.crew = Crew(frozenset(queues))
        self._signals = ThreadSignals()
        self._drains = threading.Event()
        self._path = AttemptPath(
            home=self.home,
            attempts=self.attempts,
            scheduler=self.scheduler,
            workflows=self.engine,
            slots=self.slots,
            listener=self.listener,
            branches=self.branches,
            signals=self._signals,
            share_pause=self._share_pause,
            watch=AttemptSpans(self.ledger),
        )
        self._reconciler = Reconciler(
            self.engine, self.ledger, self.crew, self.listener
        )
        self._unstartable = UnstartableTasks(self.ledger, self.listener)
        self._uploads = InputUploads(self.ledger)
        self._waits_for_budget: dict[str, str] = {}  # by plan: the fuse
        self._last_look = 0.0
        self._first_plan = (
            -1 if self.engine.is_alone else crc32(self.worker_id.encode())
        )
        self._rests_since: float | None = None
        self._lacks_since: float | None = None
        self._has_begun = False  # any attempt
        self._is_worker = False  # stays when there is nothing to do

    # -- from outside

    def until_it_rests(self, *, wait: bool = False) -> NoTaskReason | None:
        """Run until only a person can go on; return why, or None if it was stopped.

        With `wait`, it also waits for outside workers. Raises NoExecutor if there is no
        executor for any ready task.
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
        """Run as a worker, for all work that comes, until stopped."""
        self._is_worker = True
        with self._working():
            while not self._signals.stop.is_set():
                self._signals.wake.clear()
                self._patiently(self._look)
                self._signals.wake.wait(_LOOK_SECONDS)

    def stop(self) -> None:
        """Begin nothing more, and end. May be called from a signal handler."""
        self._signals.stop.set()
        self._signals.wake.set()

    def drain(self) -> None:
        """Take up nothing more, let what runs end for a while, and end.

        What has not ended by then is handed back, so that others begin it at once. May
        be called from a signal handler.
        """
        self._drains.set()
        self.stop()

    @property
    def is_draining(self) -> bool:
        """Whether nothing more is taken up, and what runs may end by itself."""
        return self._drains.is_set()

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
        self.is_clean = False  # also if stopping the engine fails
        if self._drains.is_set():
            self._let_end()
        self.is_clean = self.engine.stop(self.stop_seconds)

    def _let_end(self) -> None:
        """Wait for what runs, as long as a drain may take."""
        self.slots.refuse()
        if self.crew.heart is not None:
            self.crew.heart.drain()
        deadline = time.monotonic() + self.terms.drain_seconds
        while self.slots.running() and time.monotonic() < deadline:
            time.sleep(_DRAIN_LOOK_SECONDS)

    def _learn(self, beat: Beat) -> None:
        """Keep the pauses of other processes; drain if a person asks for it."""
        for queue, seconds in beat.pauses.items():
            self.slots.rest(queue, seconds)
        if beat.is_to_drain and not self._drains.is_set():
            self.drain()

    def _share_pause(self, queue: str, seconds: float) -> None:
        heart = self.crew.heart
        if heart is not None:
            share_pause(heart.engine, queue, seconds)

    def _new_heart(self) -> Heart | None:
        """Return a heart that has beaten once; None on a ledger of our own."""
        if self.engine.is_alone:
            return None

        heart = Heart(
            make_engine(self.place, connections=2, silent_seconds=self.dead_after),
            self.worker_id,
            tuple(self.slots.bounds),
            self.terms.can,
            self.terms.alive_file,
            self._learn,
            beat_seconds=self.beat_seconds,
            dead_after=self.dead_after,
        )
        heart.beat()
        for version, count in heart.other_versions().items():
            self.listener.notice(
                f"workers of engine version {version} are running, too ({count});"
                " each version resumes its own attempts"
            )
        return heart

    # -- looking for work

    def _patiently(self, look: Callable[[], Look]) -> Look:
        """Look, and look again while the ledger is busy or away."""
        started = time.monotonic()
        while not self._signals.stop.is_set():
            try:
                # The engine's own queries fail with the errors of its database.
                with translated(self.engine.engine):
                    return look()
            except LedgerError as error:
                if time.monotonic() - started > _PATIENCE_SECONDS:
                    raise
                self.listener.notice(f"{error}")
                self._signals.stop.wait(_AWAY_SECONDS)
        return Look(RunProgress.STOPPED)

    def _look_for_an_end(self, *, wait: bool) -> Look:
        """Look; the result is at rest only if the run is over.

        Before that, a person is asked about tasks that cannot begin.
        """
        under_way = Look(RunProgress.UNDER_WAY)
        look = self._look()
        if not look.is_at_rest or self.slots.busy:
            self._rests_since = None
            return under_way

        if self._unstartable:
            self._ask_unless_others_can(look)
            return under_way
        if wait and look.rest is NoTaskReason.ELSEWHERE:
            return under_way
        return look

    def _ask_unless_others_can(self, look: Look) -> None:
        """Give other workers, which may have the executor, some time; then ask."""
        if self._rests_since is None:
            self._rests_since = time.monotonic()

        others_until = self._rests_since + _OTHERS_SECONDS
        had_time = time.monotonic() >= others_until
        if not had_time and self.crew.has_company():
            return

        is_set_up = self._has_begun or look.rest is NoTaskReason.ELSEWHERE
        self._unstartable.ask_a_person(is_set_up=is_set_up)
        self._signals.wake.set()

    def _look(self) -> Look:
        """Stop unwanted attempts, take up tasks, and look after stranded attempts."""
        self._stop_unwanted()
        self.slots.forget(self.engine.queued)
        if self._is_too_full_to_look():
            return Look(RunProgress.FULL)

        self._last_look = time.monotonic()
        self.branches.catch_up()
        looks = self._look_at_plans()
        busy = [
            plan_id for plan_id, look in looks.items() if look.rest is NoTaskReason.BUSY
        ]
        self._reconcile(busy)
        is_stranded = self._reconciler.are_stranded(busy)
        return combined(list(looks.values()), is_stranded=is_stranded)

    def _is_too_full_to_look(self) -> bool:
        """Whether nothing could begin: an attempt that ends takes up the next.

        Now and then there is a look all the same.
        """
        next_look = self._last_look + _FULL_LOOK_SECONDS
        return self._is_full and time.monotonic() < next_look

    @property
    def _is_full(self) -> bool:
        return self.slots.busy and not self.slots.any_room

    def _look_at_plans(self) -> dict[str, Look]:
        """Take up what can begin, plan by plan, as long as there is room.

        Plans that rest are not locked.
        """
        had_room = not self._is_full
        files = look_at_inputs(
            self.ledger, self.home, self._uploads if self._is_worker else None
        )
        with self.ledger.read() as tx:
            rests = {
                plan.plan_id: why_no_look(tx, plan, files) for plan in self._plans(tx)
            }

        looks = {}
        for plan_id, rest in rests.items():
            self._unstartable.replace(plan_id, {})
            if rest:
                looks[plan_id] = self._heed(plan_id, resting(rest))

        active = [plan_id for plan_id, rest in rests.items() if not rest]
        for plan_id in self._in_turn(active):
            if had_room and self._is_full:
                looks[plan_id] = resting(NoTaskReason.BUSY)
            else:
                look = self._path.take_up(plan_id, files)
                looks[plan_id] = self._heed(plan_id, look)
        return looks

    def _plans(self, tx: Transaction) -> list[PlanRecord]:
        return [tx.plan(self.plan_id)] if self.plan_id else tx.plans()

    def _in_turn(self, plan_ids: list[str]) -> list[str]:
        """Return plans in the order in which this look takes them.

        Every look begins at another plan, and workers begin at different plans: they
        get into each other's way less, and no plan has to wait for all others.
        """
        self._first_plan += 1
        first = self._first_plan % max(1, len(plan_ids))
        return plan_ids[first:] + plan_ids[:first]

    def _heed(self, plan_id: str, look: Look) -> Look:
        """Report what could not begin in a plan, or leave it to others."""
        if look.progress is RunProgress.BEGAN:
            self._has_begun = True
        self._unstartable.replace(plan_id, look.unstartable)
        if self._are_left_to_others() and look.is_at_rest:
            look = resting(NoTaskReason.BUSY, look.unstartable)
        self._tell_of_waiting(plan_id, look.waits_for_budget)
        if self._is_worker:
            self._unstartable.announce()
            self._ask_where_nobody_can()
        return look

    def _are_left_to_others(self) -> bool:
        """Leave what cannot begin here to living workers that can; whether any did."""
        queues = self._unstartable.queues()
        served = frozenset(queue for queue in queues if self.crew.is_served(queue))
        return bool(served) and self._unstartable.leave_to_others(served)

    def _ask_where_nobody_can(self) -> None:
        """Ask a person about tasks that no living worker could begin for a while."""
        if not self._unstartable.queues():
            self._lacks_since = None
            return
        if self._lacks_since is None:
            self._lacks_since = time.monotonic()
        if time.monotonic() - self._lacks_since > self.patience_seconds:
            self._lacks_since = None
            self._unstartable.ask_a_person(is_set_up=True)

    def _tell_of_waiting(self, plan_id: str, why: str) -> None:
        """Report that tasks wait for the budget of their plan; once while they do."""
        fuse, _, _ = why.partition(":")
        if why and self._waits_for_budget.get(plan_id) != fuse:
            self.listener.notice(f"{plan_id}: tasks wait for others to end: {why}")
        self._waits_for_budget[plan_id] = fuse

    def _reconcile(self, busy: list[str]) -> None:
        """Check from time to time whether attempts in work will come to an end."""
        seconds = _RECONCILE_SECONDS if self.slots.busy else _LOOK_SECONDS
        if busy and self._reconciler.is_due(seconds):
            for plan_id in busy:
                self._reconciler.reconcile(plan_id)

    def _stop_unwanted(self) -> None:
        """Stop attempts that were cancelled or replaced, or whose plan is held."""
        running = self.engine.running()
        if not running:
            return
        with self.ledger.read() as tx:
            for attempt, slot in running:
                if not is_wanted(tx, attempt):
                    slot.stop.set()


def is_wanted(tx: Transaction, attempt: TaskAttempt) -> bool:
    """Whether the outcome of an attempt still counts. While its plan is held, no."""
    task = tx.task(attempt.task_id)
    if tx.plan(task.plan_id).state is PlanState.HELD:
        return False

    counters = task.progress.standing.counters
    if task.lease is None or counters.attempts != attempt.number:
        return False

    state = task.progress.state
    if state is State.READY_TO_CHECK:
        return task.lease.until == attempt.lease
    return state is State.IN_PROGRESS
