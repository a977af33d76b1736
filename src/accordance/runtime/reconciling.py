"""Holding what the ledger says is in work against what the engine knows of it, so that nothing waits for ever.

The ledger is the truth for where a task stands, the engine for whether somebody works on it. Looking twice changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.runtime.ports import VERSION, Listener
from accordance.runtime.workers import Crew
from accordance.runtime.workflow import WorkflowEngine, workflow_id
from accordance.store.ledger import Ledger, Transaction
from accordance.work.faults import fail_in, hand_back_in, report_of
from accordance.work.run_log import LEFT_ALONE, RunOf, keep_report
from accordance.work.tasks import Taken

if TYPE_CHECKING:
    from dbos import WorkflowStatus

_OPEN: Final = ("ENQUEUED", "PENDING", "DELAYED")
_BROKEN: Final = {
    "ERROR": "its outcome could not be settled: {error}",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "it took every worker down that tried it",
}


@dataclass
class Reconciler:
    """Looks after attempts that nobody goes on with."""

    engine: WorkflowEngine
    ledger: Ledger
    crew: Crew
    listener: Listener
    _last: float = field(default_factory=time.monotonic)
    _stranded: set[str] = field(
        default_factory=set
    )  # plans in which nothing moves but another version could
    _reported: set[str] = field(default_factory=set)  # notices that were given
    _unseen: set[str] = field(default_factory=set)
    """Workflows that should run here, and did not at the last look."""

    def is_due(self, seconds: float) -> bool:
        """Whether the last look was so long ago; then this is the next one."""
        if time.monotonic() - self._last < seconds:
            return False
        self._last = time.monotonic()
        return True

    def are_stranded(self, plans: Iterable[str]) -> bool:
        """Whether everything that is in work in these plans waits for another version of the engine."""
        names = list(plans)
        return bool(names) and self._stranded.issuperset(names)

    def reconcile(self, plan_id: str) -> None:
        """Look at everything that is in work in a plan."""
        with self.ledger.read() as tx:
            in_work = {workflow_id(taken): taken for taken in _in_work(tx, plan_id)}
        workflows = self.engine.known(list(in_work))
        moving = [
            self._is_moving(taken, workflows.get(name))
            for name, taken in in_work.items()
        ]
        if moving and not any(moving):
            self._stranded.add(plan_id)
        else:
            self._stranded.discard(plan_id)

    def _is_moving(self, taken: Taken, workflow: WorkflowStatus | None) -> bool:
        """Whether a task in work will come to an end; what stands still for good is settled here."""
        if workflow is None:
            return True  # somebody took it up with `task next`
        if workflow.status in _OPEN:
            self._look_after(taken, workflow)
            return self._is_ours(taken, workflow)
        with self.ledger.write() as tx:
            tx.lock(taken.task.plan_id)
            current = tx.task(taken.task.task_id)
            if current.lease == taken.lease:  # else it was settled while we looked
                self._give_up(tx, taken, workflow)
        return True

    def _look_after(self, taken: Taken, workflow: WorkflowStatus) -> None:
        """What was given to this worker and is not begun, or lies in a queue that nobody serves, is put right."""
        name, queue = workflow.workflow_id, workflow.queue_name or ""
        is_given_to_us = (
            workflow.status == "PENDING"
            and workflow.executor_id == self.engine.worker_id
        )
        if is_given_to_us:
            self._must_run_here(name, queue)
        elif workflow.status == "ENQUEUED" and not self.crew.is_served(queue):
            # its executor is no longer configured, or the worker that had it is gone
            self.engine.take_back(name, taken.task.task_id, taken.attempt)

    def _must_run_here(self, name: str, queue: str) -> None:
        """Begin a workflow again that the database says we have, and we do not.

        The database went away while it was given to us. It may also be about to begin: so only if two looks miss it.
        """
        if self.engine.has(name):
            self._unseen.discard(name)
        elif name not in self._unseen:
            self._unseen.add(name)
        else:
            self._unseen.discard(name)
            self.engine.resume(name, queue)

    def _is_ours(self, taken: Taken, workflow: WorkflowStatus) -> bool:
        """Whether this version of the engine goes on with an attempt. One of another version is left alone, and that is written down."""
        if workflow.app_version == VERSION:
            return True
        task = taken.task
        text = (
            f"{task.task_id}: was begun by engine version {workflow.app_version}, this is version {VERSION};"
            f" a worker of that version goes on with it, `accordance task release {task.task_id}` hands it back"
        )
        if text not in self._reported:
            with self.ledger.write() as tx:
                leave_alone(tx, taken, str(workflow.app_version))
            self._reported.add(text)
            self.listener.notice(text)
        return False

    def _give_up(self, tx: Transaction, taken: Taken, workflow: WorkflowStatus) -> None:
        """An attempt whose workflow has ended without settling it."""
        task_id = taken.task.task_id
        if workflow.status not in _BROKEN:
            hand_back_in(tx, task_id, taken.attempt, taken.lease.until)
            return
        kept = self.engine.kept_run(workflow.workflow_id)
        if (
            kept is not None
        ):  # the message and its cost are not lost because the settling failed
            run = RunOf(
                plan_id=taken.task.plan_id,
                task_id=task_id,
                kind=taken.kind,
                attempt=taken.attempt,
            )
            keep_report(tx, run, kept.report)
            if kept.message is not None:
                tx.keep(kept.message)
        text = _BROKEN[workflow.status].format(error=workflow.error)
        fail_in(
            tx,
            task_id,
            taken.attempt,
            report_of(Fault.CRASHED, text),
            taken.lease.until,
        )


def leave_alone(tx: Transaction, taken: Taken, version: str) -> None:
    """Write down, once, that an attempt waits for another version of the engine."""
    task_id, plan_id = taken.task.task_id, taken.task.plan_id
    tx.lock(plan_id)
    if tx.task(task_id).lease != taken.lease:
        return
    payload = {"attempt": taken.attempt, "version": version, "here": VERSION}
    is_written = any(
        entry.kind == LEFT_ALONE and entry.payload == payload
        for entry in tx.entries_of(task_id)
    )
    if not is_written:
        tx.record(plan_id, LEFT_ALONE, task_id, payload)


def _in_work(tx: Transaction, plan_id: str) -> Iterable[Taken]:
    for task in tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK):
        if task.lease is not None:
            is_action = task.progress.state is State.IN_PROGRESS and task.checks is None
            yield Taken(task, "action" if is_action else "review", task.lease)
