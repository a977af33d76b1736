"""Comparing the ledger with the workflow engine, so that nothing waits for ever.

The ledger is the truth about the state of a task, the engine about whether it is being
worked on. Reconciling twice changes nothing more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.runtime.ports import VERSION, Listener
from accordance.runtime.workers import Crew
from accordance.runtime.workflow import WorkflowEngine, workflow_id
from accordance.store.ledger import Ledger, Transaction
from accordance.work.faults import fail_in, hand_back_in, report_of
from accordance.work.run_log import LEFT_ALONE, RunKey, keep_report
from accordance.work.taking import Taken

if TYPE_CHECKING:
    from dbos import WorkflowStatus

_OPEN: Final = ("ENQUEUED", "PENDING", "DELAYED")
_BROKEN: Final = {
    "ERROR": "its outcome could not be settled: {error}",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "every worker that tried it crashed",
}


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
        workflows = self.engine.known(list(in_work))

        moving = []
        for name, taken in in_work.items():
            workflow = workflows.get(name)
            moving.append(self._is_moving(taken, workflow))

        if moving and not any(moving):
            self._stranded.add(plan_id)
        else:
            self._stranded.discard(plan_id)

    def _is_moving(self, taken: Taken, workflow: WorkflowStatus | None) -> bool:
        """Whether a task in work will come to an end.

        An attempt that stands still for good is settled here.
        """
        if workflow is None:
            return True  # an outside worker fetched it with `task next`
        if workflow.status in _OPEN:
            self._look_after(taken, workflow)
            return self._is_ours(taken, workflow)

        with self.ledger.write() as tx:
            tx.lock(taken.task.plan_id)
            current = tx.task(taken.task.task_id)
            if current.lease == taken.lease:  # otherwise it was settled meanwhile
                self._give_up(tx, taken, workflow)
        return True

    def _look_after(self, taken: Taken, workflow: WorkflowStatus) -> None:
        """Restart what was assigned to us and lost; take back what no worker serves."""
        name = workflow.workflow_id
        queue = workflow.queue_name or ""

        is_assigned_here = workflow.executor_id == self.engine.worker_id
        if workflow.status == "PENDING" and is_assigned_here:
            self._must_run_here(name, queue)
        elif workflow.status == "ENQUEUED" and not self.crew.is_served(queue):
            # Its executor is no longer configured, or the worker that had it is gone.
            self.engine.take_back(name, taken.task.task_id, taken.attempt)

    def _must_run_here(self, name: str, queue: str) -> None:
        """Restart a workflow that the database assigns to us, if it does not run here.

        The database went away while it was assigned. Since it may also be about to
        begin, two looks have to miss it.
        """
        if self.engine.has(name):
            self._missing.discard(name)
            return
        if name not in self._missing:
            self._missing.add(name)
            return
        self._missing.discard(name)
        self.engine.resume(name, queue)

    def _is_ours(self, taken: Taken, workflow: WorkflowStatus) -> bool:
        """Whether this version of the engine can carry an attempt on.

        An attempt of another version is left alone, and that is recorded.
        """
        if workflow.app_version == VERSION:
            return True

        task_id = taken.task.task_id
        text = (
            f"{task_id}: was begun by engine version {workflow.app_version}, this is"
            f" version {VERSION}; a worker of that version will resume it, or"
            f" `accordance task release {task_id}` hands it back"
        )
        if text not in self._reported:
            with self.ledger.write() as tx:
                leave_alone(tx, taken, str(workflow.app_version))
            self._reported.add(text)
            self.listener.notice(text)
        return False

    def _give_up(self, tx: Transaction, taken: Taken, workflow: WorkflowStatus) -> None:
        """Settle an attempt whose workflow has ended without settling it."""
        task_id = taken.task.task_id
        if workflow.status not in _BROKEN:
            hand_back_in(tx, task_id, taken.attempt, taken.lease.until)
            return

        self._keep_run(tx, taken, workflow.workflow_id)
        text = _BROKEN[workflow.status].format(error=workflow.error)
        report = report_of(Fault.CRASHED, text)
        fail_in(tx, task_id, taken.attempt, report, taken.lease.until)

    def _keep_run(self, tx: Transaction, taken: Taken, name: str) -> None:
        """Keep the message and the cost of a run that could not be settled."""
        kept = self.engine.kept_run(name)
        if kept is None:
            return

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
