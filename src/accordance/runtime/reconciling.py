"""Comparing tasks in work with the queue of attempts, so that nothing waits for ever.

A task says who holds it, the queue whether its attempt is being carried on.
Reconciling twice changes nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.runtime.attempt_queue import (
    BROKEN,
    QUEUED,
    RUNNING,
    QueueRow,
    attempt_of,
    workflow_id,
)
from accordance.runtime.kept_run import KeptRun
from accordance.runtime.ports import VERSION, Listener
from accordance.runtime.workers import Crew
from accordance.runtime.workflow import WorkflowEngine
from accordance.store.ledger import Ledger, Transaction
from accordance.work.faults import fail_in, hand_back_in, report_of
from accordance.work.run_log import LEFT_ALONE, RunKey, keep_report
from accordance.work.taking import Taken


@dataclass
class Reconciler:
    """Looks after attempts that no worker is carrying on."""

    engine: WorkflowEngine
    ledger: Ledger
    crew: Crew
    listener: Listener
    _last: float = field(default_factory=time.monotonic)
    _stranded: set[str] = field(default_factory=set)
    """Plans in which only a worker of another version could make progress."""
    _reported: set[str] = field(default_factory=set)  # notices already given
    _missing: set[str] = field(default_factory=set)
    """Workflows that should run here, and did not at the last look."""

    def is_due(self, seconds: float) -> bool:
        """Whether the last look was so long ago. If so, the clock starts again."""
        now = time.monotonic()
        if now - self._last < seconds:
            return False
        self._last = now
        return True

    def are_stranded(self, plans: Iterable[str]) -> bool:
        """Whether everything in work in these plans waits for another version."""
        plan_ids = list(plans)
        return bool(plan_ids) and self._stranded.issuperset(plan_ids)

    def reconcile(self, plan_id: str) -> None:
        """Look at everything that is in work in a plan."""
        with self.ledger.read() as tx:
            in_work = {workflow_id(taken): taken for taken in _in_work(tx, plan_id)}
        rows = self.engine.of_plan(plan_id)

        moving = []
        for name, taken in in_work.items():
            row = rows.get(name)
            if row is None:
                self._take_back_from_earlier_release(name, taken)
            moving.append(row is None or self._is_moving(taken, row))

        if moving and not any(moving):
            self._stranded.add(plan_id)
        else:
            self._stranded.discard(plan_id)

    def _take_back_from_earlier_release(self, name: str, taken: Taken) -> None:
        """Hand back a task without a row in the queue, if an earlier release had it.

        Otherwise an outside worker has fetched it with `task next`.
        """
        if not self.engine.is_of_earlier_release(name):
            return
        if self.crew.is_alive(taken.lease.holder):
            return
        with self.ledger.write() as tx:
            hand_back_in(tx, taken.task.task_id, taken.attempt, taken.lease.until)

    def _is_moving(self, taken: Taken, row: QueueRow) -> bool:
        """Whether a task in work will come to an end.

        An attempt that stands still for good is settled here.
        """
        if row.state == BROKEN:
            self._give_up(taken, row)
            return True
        self._look_after(taken, row)
        return self._is_ours(taken, row)

    def _look_after(self, taken: Taken, row: QueueRow) -> None:
        """Restart what was assigned to us and lost; take back what no worker serves."""
        if row.state == RUNNING and row.worker == self.engine.worker_id:
            self._must_run_here(row.workflow)
        elif row.state == QUEUED and not self.crew.is_served(row.queue):
            # Its executor is no longer configured, or the worker that had it is gone.
            self.engine.take_back(row.workflow, attempt_of(row.queue, taken))

    def _must_run_here(self, name: str) -> None:
        """Restart a workflow that the queue says we have begun, if it does not run here.

        The database went away while it was begun. Since it may also be about to begin,
        two looks have to miss it.
        """
        if self.engine.has(name):
            self._missing.discard(name)
            return
        if name not in self._missing:
            self._missing.add(name)
            return
        self._missing.discard(name)
        self.engine.resume(name)

    def _is_ours(self, taken: Taken, row: QueueRow) -> bool:
        """Whether this version of the engine can carry an attempt on.

        An attempt of another version is left alone, and that is recorded.
        """
        if row.version == VERSION:
            return True

        task_id = taken.task.task_id
        text = (
            f"{task_id}: was begun by engine version {row.version}, this is"
            f" version {VERSION}; a worker of that version will resume it, or"
            f" `accordance task release {task_id}` hands it back"
        )
        if text not in self._reported:
            with self.ledger.write() as tx:
                leave_alone(tx, taken, row.version)
            self._reported.add(text)
            self.listener.notice(text)
        return False

    def _give_up(self, taken: Taken, row: QueueRow) -> None:
        """Settle an attempt that could not be carried on."""
        task_id = taken.task.task_id
        plan_id = taken.task.plan_id
        with self.engine.removing(row.workflow, BROKEN, plan_id) as removed:
            if removed is None:
                return
            tx, kept = removed
            if tx.task(task_id).lease != taken.lease:  # it was settled otherwise
                return
            if kept is not None:
                _keep_run(tx, taken, kept)
            report = report_of(Fault.CRASHED, row.error or "")
            fail_in(tx, task_id, taken.attempt, report, taken.lease.until)


def _keep_run(tx: Transaction, taken: Taken, kept: KeptRun) -> None:
    """Keep the message and the cost of a run that could not be settled."""
    run = RunKey(
        plan_id=taken.task.plan_id,
        task_id=taken.task.task_id,
        kind=taken.kind,
        attempt=taken.attempt,
    )
    keep_report(tx, run, kept.report)
    if kept.message is not None:
        tx.keep(kept.message)


def leave_alone(tx: Transaction, taken: Taken, version: str) -> None:
    """Record, once, that an attempt waits for another version of the engine."""
    task_id = taken.task.task_id
    plan_id = taken.task.plan_id
    tx.lock(plan_id)
    if tx.task(task_id).lease != taken.lease:
        return

    payload = {"attempt": taken.attempt, "version": version, "here": VERSION}
    recorded = [
        entry.payload for entry in tx.entries_of(task_id) if entry.kind == LEFT_ALONE
    ]
    if payload not in recorded:
        tx.record(plan_id, LEFT_ALONE, task_id, payload)


def _in_work(tx: Transaction, plan_id: str) -> Iterator[Taken]:
    for task in tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK):
        if task.lease is None:
            continue
        is_in_progress = task.progress.state is State.IN_PROGRESS
        is_action = is_in_progress and task.checks is None
        yield Taken(task, "action" if is_action else "review", task.lease)
