"""The workflow engine: each attempt is a workflow of DBOS, under an id of its own.

This module is all that talks to DBOS about attempts. What an attempt does is in
`attempt_path`; this module runs its two steps, keeps the result of the first, and lets
the second commit together with the ledger. A process resumes what an earlier process
has left behind, from the last mark.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    Queue,
    SQLAlchemyDatasource,
    WorkflowStatus,
)
from dbos._datasource import DatasourceOptions
from sqlalchemy import Connection

from accordance.contracts.jsonpath import JsonObject
from accordance.runtime.dispatching import Dispatch
from accordance.runtime.kept_run import KeptRun
from accordance.runtime.offers import QueuedAttempt
from accordance.runtime.ports import (
    LOCAL,
    VERSION,
    AttemptSteps,
    QueueingTransaction,
    TaskAttempt,
)
from accordance.runtime.slots import Bound, Slot, Slots
from accordance.store.clock import time_on
from accordance.store.failures import translated
from accordance.store.opening import engine_beside, make_engine
from accordance.store.sql import SqlTransaction, within
from accordance.work.faults import hand_back_in
from accordance.work.taking import Taken

_EXECUTE: Final = "execute"  # the names of the steps, as they are kept
_SETTLE: Final = "settle"
_RECOVERIES: Final = 5
_HIGHEST_PRIORITY: Final = 1_000_000
_POLL_SECONDS: Final = {"sqlite": 0.25, "postgresql": 0.1}
"""How often queues are polled for work of other processes, by dialect."""
_RETRY_SECONDS: Final = 0.5  # while the database is away
_MARKS_SECONDS: Final = 5.0  # for the last marks of attempts that have ended
_CHECK_SECONDS: Final = 0.005  # between checks while stopping
_SERIALIZER: Final = DBOSPortableJSONSerializer()


def workflow_id(taken: Taken) -> str:
    """Return the id of an attempt's workflow: the same attempt never begins twice.

    A product may be reviewed several times within an attempt, so the id of a review
    contains its lease.
    """
    task_id = taken.task.task_id
    if taken.kind == "action":
        return f"{task_id}:action:{taken.attempt}"
    return f"{task_id}:review:{taken.attempt}:{taken.lease.until}"


@dataclass(frozen=True, slots=True)
class _Unit:
    """A ledger transaction and its connection, on which queues are written as well."""

    tx: SqlTransaction
    connection: Connection
    client: DBOSClient

    def enqueue(self, queue: str, taken: Taken) -> QueuedAttempt:
        """Queue an attempt that was just taken up."""
        task = taken.task
        lease = taken.lease
        name = workflow_id(taken)
        options: EnqueueOptions = {
            "workflow_name": "attempt",
            "queue_name": queue,
            "workflow_id": name,
            "app_version": VERSION,
            "priority": max(1, _HIGHEST_PRIORITY - task.priority),
        }
        arguments = (
            task.task_id,
            taken.kind,
            taken.attempt,
            lease.product,
            task.plan_id,
            queue,
            lease.until,
        )
        self.client.enqueue_in_transaction(self.connection, options, *arguments)
        return QueuedAttempt(name, queue)


@dataclass
class WorkflowEngine:
    """The engine of this process. DBOS allows one at a time."""

    place: str
    slots: Slots
    worker_id: str = LOCAL
    stopping: threading.Event = field(default_factory=threading.Event)
    _attempts: dict[str, TaskAttempt] = field(default_factory=dict)
    """The attempts that run here, by workflow."""

    # -- starting

    def start(self, steps: AttemptSteps) -> None:
        """Launch the engine; work left behind under this worker's id is resumed."""
        global _current  # noqa: PLW0603 - a workflow is a function and finds its engine here
        self._steps = steps
        self._connect()
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        dbos = DBOS(config=self._config())
        _current = self
        try:
            queues = self._launch()
        except BaseException:
            # The database is away: leave nothing half-launched, so that the next start
            # can succeed.
            DBOS.destroy()
            _current = None
            raise
        self._dispatch = Dispatch(dbos, queues, self.slots)

    def _connect(self) -> None:
        """Open three pools: for taking up, for the tables of DBOS, and for settling.

        No pool waits for a connection of another.
        """
        runs = sum(bound.runs for bound in self.slots.bounds.values())
        connections = 8 + 2 * runs
        self.engine = make_engine(self.place, connections=connections)
        self._system = engine_beside(self.place, connections=connections)
        self._settling = engine_beside(self.place, connections=connections)

        self._dialect = self.engine.dialect.name
        # On PostgreSQL the lock on the plan's row is enough.
        is_postgresql = self._dialect == "postgresql"
        self._options: DatasourceOptions = {
            "name": _SETTLE,
            "isolation_level": "READ COMMITTED" if is_postgresql else "SERIALIZABLE",
        }

    @property
    def _url(self) -> str:
        return self.engine.url.render_as_string(hide_password=False)

    def _config(self) -> DBOSConfig:
        return {
            "name": "accordance",
            "system_database_url": self._url,
            "system_database_engine": self._system,
            "executor_id": self.worker_id,
            "application_version": VERSION,
            "log_level": "CRITICAL",
            "serializer": _SERIALIZER,
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.1,
        }

    def _launch(self) -> dict[str, Queue]:
        DBOS.listen_queues([])  # our own threads listen to the queues
        self._datasource = SQLAlchemyDatasource.create(
            self._url, engine=self._settling, serializer=_SERIALIZER
        )
        self._client = DBOSClient(
            system_database_engine=self._system,
            serializer=_SERIALIZER,
            application_name="accordance",
        )
        DBOS.launch()
        bounds = self.slots.bounds
        return {name: self._register(name, bound) for name, bound in bounds.items()}

    def _register(self, name: str, bound: Bound) -> Queue:
        limiter = None
        if bound.per_minute:
            limiter = {"limit": bound.per_minute, "period": 60.0}
        queue = DBOS.register_queue(
            name,
            worker_concurrency=bound.runs,
            limiter=limiter,  # type: ignore[arg-type]
            polling_interval_sec=_POLL_SECONDS[self._dialect],
            on_conflict="always_update",
        )
        queue.database_backed_queue = False  # each process keeps to its own bounds
        return queue

    # -- what an attempt uses

    @property
    def is_stopping(self) -> bool:
        """Whether nothing more may begin here."""
        return self.stopping.is_set()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[QueueingTransaction]:
        """Open a transaction in which attempts are taken up and queued."""
        with (
            translated(self.engine),
            self.engine.begin() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            yield _Unit(tx, connection, self._client)

    def announce(self, queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        """Wake the threads of queues with committed attempts, and of queue `freed`."""
        queues = {freed}
        for attempt in queued:
            self.slots.put(attempt.workflow, attempt.queue)
            queues.add(attempt.queue)
        for queue in queues:
            self._dispatch.ring(queue)

    def execute_once(self, execute: Callable[[], JsonObject]) -> JsonObject:
        """Do the first step; its result is kept."""
        return DBOS.run_step({"name": _EXECUTE}, execute)

    def settle_once(
        self, settle: Callable[[QueueingTransaction], JsonObject]
    ) -> JsonObject:
        """Do the second step, which commits together with its mark.

        After a conflict with another transaction it is repeated.
        """
        return self._datasource.run_tx_step(self._options, self._settle, settle)

    def _settle(
        self, settle: Callable[[QueueingTransaction], JsonObject]
    ) -> JsonObject:
        connection = self._datasource.sql_session().connection()
        if self._dialect == "sqlite":
            # Nothing may change between what is read and what is written.
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        with within(connection, time_on(connection)) as tx:
            return settle(_Unit(tx, connection, self._client))

    def await_ledger(self) -> None:
        """Wait while the database is away. A SQLite file is always there."""
        while self._dialect == "postgresql" and not self.stopping.is_set():
            with contextlib.suppress(Exception), self._system.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
                return
            self.stopping.wait(_RETRY_SECONDS)

    def carry_out(self, attempt: TaskAttempt) -> JsonObject:
        """Run the steps of an attempt, in the workflow that DBOS has just begun."""
        name = DBOS.workflow_id or ""
        self._attempts[name] = attempt
        try:
            return self._steps.carry_out(name, attempt)
        finally:
            self._attempts.pop(name, None)

    # -- what is known of workflows

    @property
    def is_alone(self) -> bool:
        """Whether no other process works on this ledger."""
        return self.worker_id == LOCAL

    def has(self, name: str) -> bool:
        """Whether a workflow runs here, or waits here for a slot."""
        return name in self._attempts

    def running(self) -> list[tuple[TaskAttempt, Slot]]:
        """Return the attempts that run here now."""
        running = []
        for slot in self.slots.running():
            attempt = self._attempts.get(slot.name)
            if attempt is not None:
                running.append((attempt, slot))
        return running

    def known(self, names: list[str]) -> dict[str, WorkflowStatus]:
        """Return those of these workflows that exist, by id."""
        workflows = DBOS.list_workflows(
            workflow_ids=names, load_input=False, load_output=True
        )
        return {workflow.workflow_id: workflow for workflow in workflows}

    def queued(self, names: list[str]) -> Iterator[str]:
        """Yield those of these workflows that have not begun anywhere."""
        workflows = DBOS.list_workflows(
            workflow_ids=names, status="ENQUEUED", load_input=False, load_output=False
        )
        for workflow in workflows:
            yield workflow.workflow_id

    def kept_run(self, name: str) -> KeptRun | None:
        """Return the outcome of an attempt's run, if it was kept."""
        for step in DBOS.list_workflow_steps(name):
            if step["function_name"] == _EXECUTE and step["output"] is not None:
                return KeptRun.from_json(step["output"])
        return None

    def resume(self, name: str, queue: str) -> None:
        """Put a workflow that no process carries on into its queue again."""
        DBOS.resume_workflows([name], queue_name=queue)

    def take_back(self, name: str, task_id: str, attempt: int) -> None:
        """Remove an attempt that has not begun from its queue; hand its task back."""
        DBOS.cancel_workflow(name)
        with self.transaction() as unit:
            hand_back_in(unit.tx, task_id, attempt)

    # -- stopping

    def stop(self, seconds: float = 10) -> bool:
        """Begin nothing more, and stop the running executors.

        What they have is settled or handed back. Returns whether nothing was left
        behind; the next process resumes what was.
        """
        global _current  # noqa: PLW0603
        self.stopping.set()
        self._dispatch.stop()
        self.slots.close()
        if self.is_alone:  # on a shared ledger, other workers begin it
            self._hand_back_queued()

        has_ended = _wait_until(lambda: not self.slots.running(), seconds)
        is_clean = has_ended and _wait_until(self._has_nothing_pending, _MARKS_SECONDS)

        DBOS.destroy()
        _current = None
        for engine in (self.engine, self._system, self._settling):
            engine.dispose()
        return is_clean

    def _hand_back_queued(self) -> None:
        """Hand back attempts that have never begun; interrupted ones stay queued."""
        # If the ledger is away, the next process resumes them.
        with contextlib.suppress(Exception):
            workflows = DBOS.list_workflows(
                status="ENQUEUED", app_version=VERSION, load_output=False
            )
            for workflow in workflows:
                if workflow.recovery_attempts or not workflow.input:
                    continue
                attempt = TaskAttempt(*workflow.input["args"])
                self.take_back(workflow.workflow_id, attempt.task_id, attempt.number)

    def _has_nothing_pending(self) -> bool:
        """Whether nothing that was begun here is unfinished."""
        try:
            pending = DBOS.list_workflows(
                status="PENDING",
                executor_id=self.worker_id,
                limit=1,
                load_input=False,
                load_output=False,
            )
        except Exception:  # noqa: BLE001 - the ledger is away: unknown
            return False
        return not pending


def _wait_until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait until a condition holds, for so many seconds; whether it does."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(_CHECK_SECONDS)
    return True


_current: WorkflowEngine | None = None


@DBOS.workflow(name="attempt", max_recovery_attempts=_RECOVERIES)
def attempt(*arguments: Any) -> JsonObject:
    """Carry out an attempt as it was queued, in whichever process it begins."""
    engine = _current
    if engine is None:  # pragma: no cover - DBOS must be launched to run workflows
        raise RuntimeError("no engine runs in this process")
    return engine.carry_out(TaskAttempt(*arguments))
