"""The workflow engine: attempts as workflows of DBOS, one for each, under an id that says which.

Here is all that DBOS has to be told. What an attempt does is written in `attempt_path`; this module runs its two steps, keeps
what the first one returned, and lets the second one commit together with the ledger. What a process leaves behind is gone on
with by the next one, from the last mark.
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
from accordance.store.failures import translated
from accordance.store.opening import engine_beside, make_engine, now
from accordance.store.sql import SqlTransaction, within
from accordance.work.faults import hand_back_in
from accordance.work.tasks import Taken

_EXECUTE: Final = "execute"  # the names of the steps, as they are kept
_SETTLE: Final = "settle"
_RECOVERIES: Final = 5
_HIGHEST: Final = 1_000_000
_POLL_SECONDS: Final = {
    "sqlite": 0.25,
    "postgresql": 0.1,
}  # how often queues are looked at for others' work
_AGAIN_SECONDS: Final = 0.5
_TAIL_SECONDS: Final = 5.0  # the last marks of what has ended are waited for so long
_SERIALIZER: Final = DBOSPortableJSONSerializer()


def workflow_id(taken: Taken) -> str:
    """The id of its workflow: the same attempt is never begun twice.

    A product may be reviewed several times within one attempt, so a review is named by its lease.
    """
    if taken.kind == "action":
        return f"{taken.task.task_id}:action:{taken.attempt}"
    return f"{taken.task.task_id}:review:{taken.attempt}:{taken.lease.until}"


@dataclass(frozen=True, slots=True)
class _Unit:
    """A transaction of the ledger and the connection it runs on, which the queues write to as well."""

    tx: SqlTransaction
    connection: Connection
    client: DBOSClient

    def enqueue(self, queue: str, taken: Taken) -> QueuedAttempt:
        """Queue an attempt that was just taken up."""
        name = workflow_id(taken)
        options: EnqueueOptions = {
            "workflow_name": "attempt",
            "queue_name": queue,
            "workflow_id": name,
            "app_version": VERSION,
            "priority": max(1, _HIGHEST - taken.task.priority),
        }
        task = taken.task
        lease = taken.lease
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
    """The engine of this process. There is one at a time, as DBOS wants it."""

    place: str
    slots: Slots
    worker_id: str = LOCAL
    stopping: threading.Event = field(default_factory=threading.Event)
    _attempts: dict[str, TaskAttempt] = field(
        default_factory=dict
    )  # by workflow, while they run here

    def start(self, steps: AttemptSteps) -> None:
        """Launch; work that was left behind under this worker's id is gone on with."""
        global _current  # noqa: PLW0603 - a workflow is a function and finds its engine here
        self._steps = steps
        self._connect()
        url = self.engine.url.render_as_string(hide_password=False)
        config: DBOSConfig = {
            "name": "accordance",
            "system_database_url": url,
            "system_database_engine": self._system,
            "executor_id": self.worker_id,
            "application_version": VERSION,
            "log_level": "CRITICAL",
            "serializer": _SERIALIZER,
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.1,
        }
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        dbos = DBOS(config=config)
        _current = self
        try:
            DBOS.listen_queues([])  # the queues are listened to by our own threads
            self._datasource = SQLAlchemyDatasource.create(
                url, engine=self._settling, serializer=_SERIALIZER
            )
            self._client = DBOSClient(
                system_database_engine=self._system,
                serializer=_SERIALIZER,
                application_name="accordance",
            )
            DBOS.launch()
            queues = {
                name: self._register(name, bound)
                for name, bound in self.slots.bounds.items()
            }
        except BaseException:  # the database is away: nothing half-launched is left, and the next start may succeed
            DBOS.destroy()
            _current = None
            raise
        self._dispatch = Dispatch(dbos, queues, self.slots)

    def _connect(self) -> None:
        """Three pools: for taking up, for DBOS's own tables, for settling. None waits for a connection of another."""
        connections = 8 + 2 * sum(bound.runs for bound in self.slots.bounds.values())
        self.engine = make_engine(self.place, connections=connections)
        self._system = engine_beside(self.place, connections=connections)
        self._settling = engine_beside(self.place, connections=connections)
        self._dialect = self.engine.dialect.name
        is_shared = (
            self._dialect == "postgresql"
        )  # there, the plan's row is held and nothing else need be
        self._options: DatasourceOptions = {
            "name": _SETTLE,
            "isolation_level": "READ COMMITTED" if is_shared else "SERIALIZABLE",
        }

    def _register(self, name: str, bound: Bound) -> Queue:
        limiter = (
            {"limit": bound.per_minute, "period": 60.0} if bound.per_minute else None
        )
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
        """Whether nothing more shall begin here."""
        return self.stopping.is_set()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[QueueingTransaction]:
        """A transaction in which attempts are taken up and queued."""
        with (
            translated(self.engine),
            self.engine.begin() as connection,
            within(connection, now()) as tx,
        ):
            yield _Unit(tx, connection, self._client)

    def announce(self, queued: Sequence[QueuedAttempt], freed: str = "") -> None:
        """What was queued is committed, or a slot of a queue has become free: wake the threads that begin attempts."""
        for attempt in queued:
            self.slots.put(attempt.workflow, attempt.queue)
        queues = {freed, *(attempt.queue for attempt in queued)}
        for queue in queues:
            self._dispatch.ring(queue)

    def execute_once(self, execute: Callable[[], JsonObject]) -> JsonObject:
        """The first step: what it returns is kept."""
        return DBOS.run_step({"name": _EXECUTE}, execute)

    def settle_once(
        self, settle: Callable[[QueueingTransaction], JsonObject]
    ) -> JsonObject:
        """The second step: it commits together with its mark. After a conflict with another transaction it is run again."""
        return self._datasource.run_tx_step(self._options, self._settle, settle)

    def _settle(
        self, settle: Callable[[QueueingTransaction], JsonObject]
    ) -> JsonObject:
        connection = self._datasource.sql_session().connection()
        if (
            self._dialect == "sqlite"
        ):  # nothing may move between what is read and what is written
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        with within(connection, now()) as tx:
            return settle(_Unit(tx, connection, self._client))

    def await_ledger(self) -> None:
        """Wait for a database that is away. A SQLite file is always there."""
        while self._dialect == "postgresql" and not self.stopping.is_set():
            with contextlib.suppress(Exception), self._system.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
                return
            self.stopping.wait(_AGAIN_SECONDS)

    def carry_out(self, attempt: TaskAttempt) -> JsonObject:
        """Let the steps of an attempt run, in the workflow that DBOS has just begun."""
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
        """The attempts that run here now."""
        pairs = [(self._attempts.get(slot.name), slot) for slot in self.slots.running()]
        return [(attempt, slot) for attempt, slot in pairs if attempt is not None]

    def known(self, names: list[str]) -> dict[str, WorkflowStatus]:
        """Those of these workflows that there are, by their ids."""
        workflows = DBOS.list_workflows(
            workflow_ids=names, load_input=False, load_output=True
        )
        return {workflow.workflow_id: workflow for workflow in workflows}

    def queued(self, names: list[str]) -> Iterator[str]:
        """Which of these workflows nobody has begun yet."""
        workflows = DBOS.list_workflows(
            workflow_ids=names, status="ENQUEUED", load_input=False, load_output=False
        )
        for workflow in workflows:
            yield workflow.workflow_id

    def kept_run(self, name: str) -> KeptRun | None:
        """What came of the run of an attempt, if that was kept."""
        for step in DBOS.list_workflow_steps(name):
            if step["function_name"] == _EXECUTE and step["output"] is not None:
                return KeptRun.from_json(step["output"])
        return None

    def resume(self, name: str, queue: str) -> None:
        """Put a workflow that nobody goes on with into its queue again."""
        DBOS.resume_workflows([name], queue_name=queue)

    def take_back(self, name: str, task_id: str, attempt: int) -> None:
        """Take an attempt that nobody has begun out of its queue, and hand its task back."""
        DBOS.cancel_workflow(name)
        with self.transaction() as unit:
            hand_back_in(unit.tx, task_id, attempt)

    # -- stopping

    def stop(self, seconds: float = 10) -> bool:
        """Begin nothing more; running executors are told to stop, what they have is settled or handed back.

        Whether nothing is left behind; what is left is gone on with by the next process.
        """
        global _current  # noqa: PLW0603
        self.stopping.set()
        self._dispatch.stop()
        self.slots.close()
        if self.is_alone:  # on a shared ledger the others begin it
            self._hand_back_queued()
        has_ended = _until(lambda: not self.slots.running(), seconds)
        is_clean = has_ended and _until(self._has_nothing, _TAIL_SECONDS)
        DBOS.destroy()
        _current = None
        for engine in (self.engine, self._system, self._settling):
            engine.dispose()
        return is_clean

    def _hand_back_queued(self) -> None:
        """What nobody has ever begun is not left lying in a queue; what was begun once is gone on with."""
        with contextlib.suppress(
            Exception
        ):  # the ledger is away: the next process goes on with it
            for workflow in DBOS.list_workflows(
                status="ENQUEUED", app_version=VERSION, load_output=False
            ):
                if not workflow.recovery_attempts and workflow.input:
                    attempt = TaskAttempt(*workflow.input["args"])
                    self.take_back(
                        workflow.workflow_id, attempt.task_id, attempt.number
                    )

    def _has_nothing(self) -> bool:
        """Whether nothing that was begun here is unfinished."""
        try:
            left = DBOS.list_workflows(
                status="PENDING",
                executor_id=self.worker_id,
                limit=1,
                load_input=False,
                load_output=False,
            )
        except Exception:  # noqa: BLE001 - the ledger is away: it is not known
            return False
        return not left


def _until(holds: Callable[[], bool], seconds: float) -> bool:
    """Wait until something holds, for so long. Whether it does."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


_current: WorkflowEngine | None = None


@DBOS.workflow(name="attempt", max_recovery_attempts=_RECOVERIES)
def attempt(*arguments: Any) -> JsonObject:
    """One attempt, as it was queued, in whichever process it is begun."""
    engine = _current
    if (
        engine is None
    ):  # pragma: no cover - DBOS runs workflows only while it is launched
        raise RuntimeError("no engine runs in this process")
    return engine.carry_out(TaskAttempt(*arguments))
