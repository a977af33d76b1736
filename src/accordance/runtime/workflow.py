"""The workflow engine: an attempt's two steps, and what survives a kill between them.

What an attempt does is in `attempt_path`; its row in the queue, in the ledger's own
database, is in `attempt_queue`. This module begins attempts in threads, keeps the
result of the first step, and lets the second commit together with the end of the row.
Another process resumes what a process has left behind, from what was kept.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from sqlalchemy import Connection

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.blobs import BlobConfig
from accordance.runtime.attempt_queue import (
    QUEUED,
    AttemptQueue,
    ClaimedAttempt,
    QueueRow,
    TakenOver,
    WantedAttempt,
    workflow_id,
)
from accordance.runtime.dispatching import Dispatcher, Threads
from accordance.runtime.earlier_release import has_old_queue, is_in_old_queue
from accordance.runtime.kept_run import KeptRun
from accordance.runtime.offers import QueuedAttempt, TakenUp
from accordance.runtime.outages import AWAY, OUTAGES, passes
from accordance.runtime.ports import (
    LOCAL,
    AttemptSteps,
    QueueingTransaction,
    Settled,
    TaskAttempt,
)
from accordance.runtime.settling import (
    EndedRun,
    Gather,
    Settle,
    Settling,
    TakeUp,
    settle_all,
)
from accordance.runtime.slots import Slot, Slots
from accordance.store.clock import time_on
from accordance.store.failures import translated
from accordance.store.looking import looking
from accordance.store.opening import make_engine, plan_once
from accordance.store.sql import SqlTransaction, within
from accordance.work.faults import hand_back_in

_POLL_SECONDS: Final = 1.0  # between looks for what other workers have left behind
_SOON_SECONDS: Final = 0.25  # the same, while something waits that may begin soon
_RETRY_SECONDS: Final = 0.5  # while the database is away
_CHECK_SECONDS: Final = 0.005  # between checks while stopping

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A ledger transaction that also writes the queue."""

    tx: SqlTransaction
    engine: WorkflowEngine
    settled: Container[str] = ()
    """The workflows that end with it."""

    def enqueue(self, taken_up: Sequence[TakenUp]) -> list[QueuedAttempt]:
        """Queue attempts that were just taken up, and begin them here if they may.

        A task is taken up where a slot is free for it. Only a rate, which counts what
        all processes begin, can be in its way.
        """
        bounds = self.engine.slots.bounds
        wanted = []
        for queue, taken in taken_up:
            has_rate = bounds[queue].per_minute is not None
            worker = None if has_rate else self.engine.worker_id
            wanted.append(WantedAttempt(queue, taken, worker))

        if any(workflow_id(each.taken) in self.settled for each in wanted):
            self.tx.act_now()  # a row goes before another with its name comes

        queued = []
        claims = self.engine.queue.enqueue(self.tx, wanted)
        for each, claimed in zip(wanted, claims, strict=True):
            begins_here = claimed if each.worker else None
            queued.append(QueuedAttempt(claimed.workflow, each.queue, begins_here))
        return queued


@dataclass
class WorkflowEngine:
    """The engine of this process."""

    place: str
    slots: Slots
    worker_id: str = LOCAL
    stopping: threading.Event = field(default_factory=threading.Event)
    blobs: BlobConfig = field(default_factory=BlobConfig)
    silent_seconds: float = 15.0  # within a transaction, then the database ends it
    _here: dict[str, ClaimedAttempt] = field(default_factory=dict)
    """The attempts that this process carries out, by workflow."""
    _has_stopped: bool = False

    # -- starting

    def start(self, steps: AttemptSteps) -> None:
        """Begin; work left behind under this worker's name is queued again."""
        self._steps = steps
        runs = sum(bound.runs for bound in self.slots.bounds.values())
        connections = 8 + runs
        self.engine = make_engine(
            self.place,
            connections=connections,
            blobs=self.blobs,
            silent_seconds=self.silent_seconds,
        )
        plan_once(self.engine)
        self._settling = Settling(self._settle)
        self.queue = AttemptQueue(self.engine.dialect.name)
        self._threads = Threads()
        try:
            with self._connected() as connection:
                self.queue.requeue_own(connection, self.worker_id)
                self._has_old_queue = has_old_queue(connection)
        except BaseException:
            self.engine.dispose()  # the database is away: leave nothing behind
            raise
        self._dispatcher = Dispatcher(self._begin_queued, self._pause)
        self._dispatcher.start()

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        with translated(self.engine), self.engine.begin() as connection:
            yield connection

    # -- beginning attempts

    def expect(self, queued: Sequence[QueuedAttempt]) -> None:
        """Count attempts that were queued, so that nothing else gets their room."""
        for attempt in queued:
            is_ours = attempt.claimed is not None
            self.slots.put(attempt.workflow, attempt.queue, is_ours=is_ours)

    def announce(self, queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        """Begin attempts that were queued, and whatever waits for a slot of `freed`."""
        self.expect(queued)
        for attempt in queued:
            if attempt.claimed is not None:
                self._begin(attempt.claimed)
        if (queued or freed) and self.slots.any_waits:
            self._dispatcher.ring()

    def _pause(self) -> float:
        return _SOON_SECONDS if self.slots.any_waits else _POLL_SECONDS

    def _begin_queued(self) -> None:
        """Begin what waits in the queue, as far as there are slots for it.

        What still waits is noted, so that nothing new is taken up in its place.
        """
        with looking(self.engine) as connection:
            waiting = self.queue.waiting(connection)

        begun = set()
        for queue in dict.fromkeys(row.queue for row in waiting):
            for claimed in self._claim(queue):
                begun.add(claimed.workflow)
                self.slots.put(claimed.workflow, queue, is_ours=True)
                self._begin(claimed)

        for row in waiting:
            if row.queue in self.slots.bounds and row.workflow not in begun:
                self.slots.put(row.workflow, row.queue)

    def _claim(self, queue: str) -> list[ClaimedAttempt]:
        bound = self.slots.bounds.get(queue)
        free = self.slots.free(queue) if bound else 0
        if bound is None or not free:
            return []
        with self._connected() as connection:
            return self.queue.claim(
                connection, queue, self.worker_id, free, bound.per_minute
            )

    def _begin(self, claimed: ClaimedAttempt) -> None:
        """Carry an attempt out in a thread.

        A workflow that still runs here, because this worker was taken for dead, goes on
        under its new claim.
        """
        runs_here = claimed.workflow in self._here
        self._here[claimed.workflow] = claimed
        if runs_here:
            self.slots.withdraw(claimed.workflow)  # it has its slot already
        else:
            self._threads.begin(partial(self._carry_out, claimed))

    def _carry_out(self, claimed: ClaimedAttempt) -> None:
        try:
            self._steps.carry_out(claimed.workflow, claimed.attempt)
        except TakenOver:
            pass  # another worker carries it on
        except AWAY:
            pass  # this process stops while the database is away: others carry it on
        except Exception as error:  # noqa: BLE001 - whatever it is, the attempt has failed
            self._mark_broken(claimed.workflow, error)
        finally:
            self._here.pop(claimed.workflow, None)

    def _mark_broken(self, workflow: str, error: Exception) -> None:
        text = str(error) or type(error).__name__
        with contextlib.suppress(TakenOver, *AWAY):
            self._insistently(
                lambda connection: self.queue.mark_broken(
                    connection, self._here[workflow], text
                )
            )

    # -- what an attempt uses

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more may begin here."""
        return self.stopping.is_set()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[QueueingTransaction]:
        """Open a transaction in which attempts are taken up and queued."""
        with (
            self._connected() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            yield _Unit(tx, self)
        tx.do_afterwards()

    def execute_once(
        self, workflow: str, execute: Callable[[], JsonObject]
    ) -> JsonObject:
        """Do the first step; its result is kept, once the database takes it.

        A paid run is not lost while the database is away. Raises TakenOver.
        """
        kept = self._here[workflow].kept
        if kept is not None:
            return kept

        produced = execute()
        self._insistently(
            lambda connection: self.queue.keep(
                connection, self._here[workflow], produced
            )
        )
        return produced

    def settle_once(self, workflow: str, settle: Settle, take_up: TakeUp) -> Settled:
        """Do the second step, which commits together with the end of the workflow.

        After a conflict with another transaction it is repeated. Raises TakenOver.
        """
        plan_id = self._here[workflow].attempt.plan_id
        return self._settling.settle(plan_id, EndedRun(workflow, settle, take_up))

    def _settle(self, plan_id: str, gather: Gather) -> list[Settled]:
        """Lock a plan, then settle the attempts that are gathered."""

        def settle_on(connection: Connection) -> list[Settled]:
            with within(connection, time_on(connection)) as tx:
                tx.lock(plan_id)
                runs = gather()
                claimed = [self._here[ended.workflow] for ended in runs]
                _read_ahead(tx, plan_id, claimed)

                self.queue.settle(tx, claimed)
                unit = _Unit(tx, self, {each.workflow for each in claimed})
                return settle_all(unit, runs)

        return self._insistently(settle_on)

    def _insistently(self, act: Callable[[Connection], Result]) -> Result:
        """Do it in a transaction, again and again while the database is away or busy.

        While the engine stops it is tried once more; when it has stopped, an attempt
        that still runs is not its own any more. Raises TakenOver.
        """
        while True:
            if self._has_stopped:
                raise TakenOver
            is_last_try = self.stopping.is_set()
            try:
                with self.engine.begin() as connection:
                    return act(connection)
            except OUTAGES as error:
                if is_last_try or not passes(error):
                    raise
                self.stopping.wait(_RETRY_SECONDS)

    # -- what is known of workflows

    @property
    def is_alone(self) -> bool:
        """Whether no other process works on this ledger."""
        return self.worker_id == LOCAL

    def has(self, name: str) -> bool:
        """Whether a workflow runs here, or waits here for a slot."""
        return name in self._here

    def running(self) -> list[tuple[TaskAttempt, Slot]]:
        """Return the attempts that run here now."""
        running = []
        for slot in self.slots.running():
            claimed = self._here.get(slot.name)
            if claimed is not None:
                running.append((claimed.attempt, slot))
        return running

    def of_plan(self, plan_id: str) -> dict[str, QueueRow]:
        """Return the attempts of a plan that are queued or in work, by workflow."""
        with looking(self.engine) as connection:
            return self.queue.of_plan(connection, plan_id)

    def queued(self, names: list[str]) -> Iterator[str]:
        """Yield those of these workflows that have not begun anywhere."""
        with looking(self.engine) as connection:
            waiting = self.queue.waiting(connection)
        wanted = set(names)
        for row in waiting:
            if row.workflow in wanted:
                yield row.workflow

    def is_of_earlier_release(self, workflow: str) -> bool:
        """Whether an attempt was begun by a release that kept its queue elsewhere."""
        if not self._has_old_queue:
            return False
        with looking(self.engine) as connection:
            return is_in_old_queue(connection, workflow)

    def resume(self, workflow: str) -> None:
        """Queue a workflow again that was begun here and does not run."""
        with self._connected() as connection:
            self.queue.resume(connection, workflow, self.worker_id)
        self._dispatcher.ring()

    @contextlib.contextmanager
    def removing(
        self, workflow: str, state: str, plan_id: str
    ) -> Iterator[tuple[SqlTransaction, KeptRun | None] | None]:
        """Remove a workflow in a state, in one transaction with what its end means.

        Yields that transaction and what was kept of its run; None if the workflow has
        changed meanwhile.
        """
        with (
            self._connected() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            tx.lock(plan_id)
            kept = self.queue.kept(connection, workflow)
            if not self.queue.remove(connection, workflow, state):
                yield None
                return
            yield tx, None if kept is None else KeptRun.from_json(kept)
        tx.do_afterwards()

    def take_back(self, workflow: str, attempt: TaskAttempt) -> None:
        """Remove an attempt that has not begun from its queue; hand its task back."""
        with self.removing(workflow, QUEUED, attempt.plan_id) as removed:
            if removed is not None:
                tx, _ = removed
                hand_back_in(tx, attempt.task_id, attempt.number, attempt.lease)

    # -- stopping

    def stop(self, seconds: float = 10) -> bool:
        """Begin nothing more, and stop the running executors.

        What they have is settled or handed back. Returns whether nothing was left
        behind; the next process resumes what was.
        """
        self.stopping.set()
        self._dispatcher.stop()
        self.slots.close()
        if self.is_alone:  # on a shared ledger, other workers begin it
            self._hand_back_queued()

        has_ended = _wait_until(lambda: not self._here, seconds)
        is_clean = has_ended and self._has_nothing_in_work()
        self._has_stopped = True
        self._threads.stop()
        self.engine.dispose()
        return is_clean

    def _hand_back_queued(self) -> None:
        """Hand back attempts that have never begun; interrupted ones stay queued."""
        # If the ledger is away, the next process resumes them.
        with contextlib.suppress(Exception):
            with looking(self.engine) as connection:
                never_begun = list(self.queue.never_begun(connection))
            for workflow, attempt in never_begun:
                self.take_back(workflow, attempt)

    def _has_nothing_in_work(self) -> bool:
        """Whether nothing that was begun here is unfinished."""
        try:
            with looking(self.engine) as connection:
                return not self.queue.has_in_work(connection, self.worker_id)
        except Exception:  # noqa: BLE001 - the ledger is away: unknown
            return False


def _read_ahead(
    tx: SqlTransaction, plan_id: str, claimed: Sequence[ClaimedAttempt]
) -> None:
    """Read together what settling attempts will ask for."""
    attempts = [each.attempt for each in claimed]
    tasks = list(dict.fromkeys(attempt.task_id for attempt in attempts))
    reviewed = [each.task_id for each in attempts if each.kind == "review"]
    tx.read_ahead(plan_id, tasks, ended=reviewed)


def _wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds, for so many seconds; whether it does."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_CHECK_SECONDS)
    return True
