"""Holding what the ledger says is in work against what the engine knows of it, so that nothing waits for ever.

The ledger is the truth for where a task stands, the engine for whether somebody works on it. Looking twice changes nothing.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from dbos import DBOS, WorkflowStatus

from accordance.domain.faults import Fault
from accordance.domain.lifecycle import State
from accordance.runtime.workflow import VERSION, Durable, workflow_id
from accordance.store.ledger import Ledger, Transaction
from accordance.work.faults import fail_in, hand_back_in, report_of
from accordance.work.run_log import LEFT_ALONE, RunOf, keep_report
from accordance.work.tasks import Nothing, Taken

_OPEN: Final = ("ENQUEUED", "PENDING", "DELAYED")
_BROKEN: Final = {
    "ERROR": "its outcome could not be settled: {error}",
    "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "it took every worker down that tried it",
}


@dataclass
class Reconciling:
    """Looks after attempts that nobody goes on with."""

    durable: Durable
    ledger: Ledger
    told: Callable[[str], None]
    is_served: Callable[[str], bool]  # whether somebody begins what is put into a queue
    _last: float = field(default_factory=time.monotonic)
    _stranded: set[str] = field(default_factory=set)  # plans in which nothing moves but another version could
    _said: set[str] = field(default_factory=set)
    _unseen: set[str] = field(
        default_factory=set
    )  # workflows that should run here, and did not when we looked

    def is_due(self, seconds: float) -> bool:
        """Whether the last look was so long ago; then this is the next one."""
        if time.monotonic() - self._last < seconds:
            return False
        self._last = time.monotonic()
        return True

    def stranded(self, plans: Iterable[str]) -> Nothing | None:
        """A reason to rest, if everything that is in work in these plans waits for another version of the engine."""
        names = list(plans)
        return Nothing.BUSY if names and self._stranded.issuperset(names) else None

    def reconcile(self, plan_id: str) -> None:
        """Look at everything that is in work in a plan."""
        with self.ledger.read() as tx:
            taken = {workflow_id(one): one for one in _in_work(tx, plan_id)}
        known = {
            one.workflow_id: one
            for one in DBOS.list_workflows(workflow_ids=list(taken), load_input=False, load_output=True)
        }
        moving = 0
        for name, one in taken.items():
            moving += self._is_moving(one, known.get(name))
        if taken and not moving:
            self._stranded.add(plan_id)
        else:
            self._stranded.discard(plan_id)

    def _is_moving(self, one: Taken, workflow: WorkflowStatus | None) -> bool:
        """Whether a task in work will come to an end; what stands still for good is settled here."""
        if workflow is None:
            return True  # somebody took it up with `task next`
        if workflow.status in _OPEN:
            self._look_after(one, workflow)
            return self._is_ours(one, workflow)
        with self.ledger.write() as tx:
            tx.lock(one.task.plan_id)
            now = tx.task(one.task.task_id)
            if now.lease == one.lease:  # else it was settled while we looked
                self._give_up(tx, one, workflow)
        return True

    def _look_after(self, one: Taken, workflow: WorkflowStatus) -> None:
        """What is given to us and not begun, or lies where nobody looks, is put right."""
        name, queue = workflow.workflow_id, workflow.queue_name or ""
        if workflow.status == "PENDING" and workflow.executor_id == self.durable.executor_id:
            if self.durable.has(name):
                self._unseen.discard(name)
            elif name not in self._unseen:
                self._unseen.add(name)  # it may be about to begin: the next look will tell
            else:  # the database went away while it was given to us: nobody knew whether it was
                self._unseen.discard(name)
                DBOS.resume_workflows([name], queue_name=queue)
        elif workflow.status == "ENQUEUED" and not self.is_served(queue):
            # its executor is no longer configured, or whoever had it is gone
            self.durable.take_back(name, one.task.task_id, one.attempt)

    def _is_ours(self, one: Taken, workflow: WorkflowStatus) -> bool:
        """Whether this version of the engine goes on with an attempt. One of another version is left alone, and that is written down."""
        if workflow.app_version == VERSION:
            return True
        task = one.task
        text = (
            f"{task.task_id}: was begun by engine version {workflow.app_version}, this is version {VERSION};"
            f" a worker of that version goes on with it, `accordance task release {task.task_id}` hands it back"
        )
        if text not in self._said:
            with self.ledger.write() as tx:
                leave_alone(tx, one, str(workflow.app_version))
            self._said.add(text)
            self.told(text)
        return False

    def _give_up(self, tx: Transaction, one: Taken, workflow: WorkflowStatus) -> None:
        if workflow.status not in _BROKEN:
            hand_back_in(tx, one.task.task_id, one.attempt, one.lease.until)
            return
        kept = self.durable.outcome_of(workflow.workflow_id)
        if kept is not None:  # what was said and what it cost is not lost because its settling failed
            run = RunOf(
                plan_id=one.task.plan_id, task_id=one.task.task_id, kind=one.kind, attempt=one.attempt
            )
            keep_report(tx, run, kept["seen"])
            if kept["raw"] is not None:
                tx.keep(base64.b64decode(kept["raw"]))
        text = _BROKEN[workflow.status].format(error=workflow.error)
        fail_in(tx, one.task.task_id, one.attempt, report_of(Fault.CRASHED, text), one.lease.until)


def leave_alone(tx: Transaction, one: Taken, version: str) -> None:
    """Write down, once, that an attempt waits for another version of the engine."""
    task_id = one.task.task_id
    tx.lock(one.task.plan_id)
    said = {"attempt": one.attempt, "version": version, "here": VERSION}
    if tx.task(task_id).lease == one.lease and not any(
        entry.kind == LEFT_ALONE and entry.payload == said for entry in tx.entries_of(task_id)
    ):
        tx.record(one.task.plan_id, LEFT_ALONE, task_id, said)


def _in_work(tx: Transaction, plan_id: str) -> Iterable[Taken]:
    for task in tx.tasks(plan_id, State.IN_PROGRESS, State.READY_TO_CHECK):
        if task.lease is not None:
            is_action = task.progress.state is State.IN_PROGRESS and task.checks is None
            yield Taken(task, "action" if is_action else "review", task.lease)
