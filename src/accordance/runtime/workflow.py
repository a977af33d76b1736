"""Durable execution of attempts, on DBOS: one workflow for each attempt, with an id that says which.

An attempt is taken up and put into its queue in one transaction of the ledger. Its workflow has two steps: the executor's
run, whose outcome is kept before anything is decided, and the settling, in which the ledger's rows, the step's mark and
whatever can begin now commit together. A process that is killed at any point is taken over from its last mark; nothing
happens twice but a run that was cut off in the middle.
"""

from __future__ import annotations

import base64
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
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
)
from dbos._datasource import DatasourceOptions
from sqlalchemy import Connection

from accordance.changes.settling import change_in
from accordance.domain.faults import FAULTS, Fault, pause_after
from accordance.errors import AccordanceError, LedgerError
from accordance.executors.protocol import Produced
from accordance.project.home import Home
from accordance.runtime.dispatching import Dispatch
from accordance.runtime.mending import count_mended
from accordance.runtime.slots import Bound, Slot, Slots
from accordance.store.failures import translated
from accordance.store.opening import engine_beside, make_engine, now
from accordance.store.sql import SqlTransaction, within
from accordance.work.faults import fail_in, hand_back_in
from accordance.work.intake import submit_in
from accordance.work.reviewing import review_in
from accordance.work.run_log import RunOf, keep_report
from accordance.work.tasks import Taken
from accordance.workspace.errors import IsolationUnavailable

VERSION: Final = "1"  # of what is kept between steps; raised when an old workflow could not be gone on with
EXECUTE: Final = "execute"  # the name of the first step
LOCAL: Final = "local"  # the one process on a SQLite ledger
_RECOVERIES: Final = 5
_HIGHEST: Final = 1_000_000
_POLL_SECONDS: Final = {"sqlite": 0.25, "postgresql": 0.1}  # how often others' doings are looked for
_AGAIN_SECONDS: Final = 0.5
_TAIL_SECONDS: Final = 5.0  # the last marks of what has ended are waited for so long

_UNTOLD: Final = ("violations", "repeated")  # of an answer; the ledger has it whole

Run = Callable[["Attempt", threading.Event], Produced]
Put = tuple[str, str]  # a workflow, and the queue it was put into


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, as it is named everywhere."""

    task_id: str
    kind: str  # action or review
    number: int
    product: str | None = None  # what a review is about
    plan_id: str = ""
    queue: str = ""
    lease: str | None = None  # until when it has the task


def workflow_id(taken: Taken) -> str:
    """The id of its workflow: the same attempt is never begun twice.

    A product may be reviewed several times within one attempt, so a review is named by its lease.
    """
    if taken.kind == "action":
        return f"{taken.task.task_id}:action:{taken.attempt}"
    return f"{taken.task.task_id}:review:{taken.attempt}:{taken.lease.until}"


@dataclass
class Durable:
    """The engine of this process. There is one at a time, as DBOS wants it."""

    place: str
    home: Home
    run: Run
    slots: Slots
    executor_id: str = LOCAL
    settled: Callable[[Attempt, Mapping[str, Any]], None] = lambda *_: None
    go_on: Callable[[SqlTransaction, Connection, str], list[Put]] = (
        lambda *_: []
    )  # takes up what can begin now
    told: Callable[[str], None] = lambda _: None
    stopping: threading.Event = field(default_factory=threading.Event)
    _attempts: dict[str, Attempt] = field(default_factory=dict)  # by workflow, while they run here
    _failed: dict[str, int] = field(
        default_factory=dict
    )  # by queue: runs in a row that failed in ways that pass
    _put: dict[str, list[Put]] = field(default_factory=dict)  # by the workflow whose settling put them there

    def start(self) -> None:
        """Launch; work that was left behind by this executor is gone on with."""
        global _current  # noqa: PLW0603 - a workflow is a function and finds its engine here
        connections = 8 + 2 * sum(bound.runs for bound in self.slots.bounds.values())
        self.engine = make_engine(self.place, connections=connections)
        self._system = engine_beside(self.place, connections=connections)
        self._settling = engine_beside(self.place, connections=connections)
        self._dialect = self.engine.dialect.name
        is_shared = self._dialect == "postgresql"  # there, the plan's row is held and nothing else need be
        self._options: DatasourceOptions = {
            "name": "settle",
            "isolation_level": "READ COMMITTED" if is_shared else "SERIALIZABLE",
        }
        url = self.engine.url.render_as_string(hide_password=False)
        config: DBOSConfig = {
            "name": "accordance",
            "system_database_url": url,
            "system_database_engine": self._system,
            "executor_id": self.executor_id,
            "application_version": VERSION,
            "log_level": "CRITICAL",
            "serializer": _SERIALIZER,
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.1,
        }
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        engine = DBOS(config=config)
        DBOS.listen_queues([])  # the queues are listened to by our own threads
        self.datasource = SQLAlchemyDatasource.create(url, engine=self._settling, serializer=_SERIALIZER)
        self._client = DBOSClient(
            system_database_engine=self._system, serializer=_SERIALIZER, application_name="accordance"
        )
        _current = self
        try:
            DBOS.launch()
            queues = {name: self._queue(name, bound) for name, bound in self.slots.bounds.items()}
        except BaseException:  # the database went away: nothing half-launched is left
            DBOS.destroy()
            raise
        self._dispatch = Dispatch(engine, queues, self.slots)

    def _queue(self, name: str, bound: Bound) -> Queue:
        limiter = {"limit": bound.per_minute, "period": 60.0} if bound.per_minute else None
        queue = DBOS.register_queue(
            name,
            worker_concurrency=bound.runs,
            limiter=limiter,  # type: ignore[arg-type]
            polling_interval_sec=_POLL_SECONDS[self._dialect],
            on_conflict="always_update",
        )
        queue.database_backed_queue = False  # each process keeps to its own bounds
        return queue

    # -- putting work into queues

    def enqueue(self, connection: Connection, queue: str, taken: Taken) -> Put:
        """Put an attempt that was just taken up into its queue, in the same transaction. To be told to `begun`."""
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
        said = (task.task_id, taken.kind, taken.attempt, lease.product, task.plan_id, queue, lease.until)
        self._client.enqueue_in_transaction(connection, options, *said)
        return name, queue

    def committed(self, put: list[Put], freed: str = "") -> None:
        """What was put into queues is there now, and a slot may have become free: somebody may begin it."""
        for name, queue in put:
            self.slots.put(name, queue)
        for queue in {freed, *(queue for _, queue in put)}:
            self._dispatch.ring(queue)

    def queued(self, names: list[str]) -> Iterator[str]:
        """Which of these workflows nobody has begun yet."""
        for one in DBOS.list_workflows(
            workflow_ids=names, status="ENQUEUED", load_input=False, load_output=False
        ):
            yield one.workflow_id

    # -- the two steps

    def execute(self, one: Attempt, slot: Slot) -> dict[str, Any]:
        """The first step: let the executor run, and keep what came of it."""
        produced = self._run(one, slot.stop)
        self._leave_in_peace(one.queue, produced)
        raw = None if produced.raw is None else base64.b64encode(produced.raw).decode()
        self._await_ledger()
        return {"raw": raw, "seen": produced.to_json(), "judged": produced.judged}

    def _run(self, one: Attempt, stop: threading.Event) -> Produced:
        while not (stop.is_set() or self.stopping.is_set()):
            try:
                return self.run(one, stop)
            except LedgerError:  # it was not even begun: the ledger is busy or away
                stop.wait(_AGAIN_SECONDS)
            except IsolationUnavailable as error:
                return Produced(fault=Fault.NOT_ISOLATED, text=str(error))
            except AccordanceError as error:  # settings, a route, a prompt: nobody was asked to work
                return Produced(fault=Fault.UNPREPARED, text=str(error))
            except Exception as error:  # noqa: BLE001 - whatever it is, the attempt has failed and says why
                return Produced(fault=Fault.CRASHED, text=f"{type(error).__name__}: {error}")
        return Produced(fault=Fault.STOPPED, text="it was not begun")

    def _await_ledger(self) -> None:
        """Wait for a database that is away: what was paid for is not lost because nobody could write it down."""
        while self._dialect == "postgresql" and not self.stopping.is_set():
            with contextlib.suppress(Exception), self._system.connect() as connection:
                connection.exec_driver_sql("SELECT 1")
                return
            self.stopping.wait(_AGAIN_SECONDS)

    def outcome_of(self, name: str) -> dict[str, Any] | None:
        """What came of the run of an attempt, if that was kept."""
        for step in DBOS.list_workflow_steps(name):
            if step["function_name"] == EXECUTE and step["output"] is not None:
                kept: dict[str, Any] = step["output"]
                return kept
        return None

    def _leave_in_peace(self, queue: str, produced: Produced) -> None:
        """Who wants fewer calls, or is not there just now, is not called again at once."""
        passes = produced.fault is not None and FAULTS[produced.fault].passes
        failed = self._failed[queue] = self._failed.get(queue, 0) + 1 if passes else 0
        if pause := pause_after(produced.fault, produced.retry_after, failed):
            self.slots.rest(queue, pause)
            self.told(f"{queue}: {produced.text}; it is called again in {pause:g} s")

    def settle(self, one: Attempt, slot: Slot, kept: dict[str, Any]) -> dict[str, Any]:
        """The second step: what the run means for the task, in the transaction that marks the step as done."""
        connection = self.datasource.sql_session().connection()
        if self._dialect == "sqlite":  # nothing may move between what is read and what is written
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        with within(connection, now()) as tx:
            tx.lock(one.plan_id)
            answer = self._settle(tx, one, kept)
            self.slots.end(slot)
            self._put[slot.name] = [] if self.stopping.is_set() else self.go_on(tx, connection, one.plan_id)
        return {name: what for name, what in answer.items() if name not in _UNTOLD}

    def _settle(self, tx: SqlTransaction, one: Attempt, kept: dict[str, Any]) -> dict[str, Any]:
        seen = kept["seen"]
        keep_report(
            tx, RunOf(plan_id=one.plan_id, task_id=one.task_id, kind=one.kind, attempt=one.number), seen
        )
        if seen["fault"] == Fault.STOPPED:
            hand_back_in(tx, one.task_id, one.number, one.lease)
            return {"status": "handed_back"}
        number = count_mended(tx, one.task_id, one.number, seen)
        if kept["raw"] is None:
            answer = fail_in(tx, one.task_id, number, seen, one.lease)
        elif kept["judged"] is not None:
            raw = base64.b64decode(kept["raw"])
            answer = change_in(tx, self.home, raw, one.task_id, number, kept["judged"])
        elif one.kind == "action":
            raw = base64.b64decode(kept["raw"])
            answer = submit_in(
                tx, self.home, raw, one.task_id, number, has_stronger=bool(seen.get("stronger"))
            )
        else:
            answer = review_in(tx, base64.b64decode(kept["raw"]), one.task_id, one.product)
        return answer.to_json()

    def carry_out(self, one: Attempt) -> dict[str, Any]:
        """One attempt, from the executor's run to its settling."""
        name = DBOS.workflow_id or ""
        self._attempts[name] = one
        slot = self.slots.begin(name, one.queue)
        try:
            kept = DBOS.run_step({"name": EXECUTE}, self.execute, one, slot)
            settled = self.datasource.run_tx_step(self._options, self.settle, one, slot, kept)
        finally:
            self._attempts.pop(slot.name, None)
            self.slots.end(slot)
            self.committed(self._put.pop(slot.name, []), one.queue)
        self.settled(one, settled)
        return settled

    # -- stopping

    @property
    def is_alone(self) -> bool:
        """Whether no other process works on this ledger."""
        return self.executor_id == LOCAL

    def has(self, name: str) -> bool:
        """Whether a workflow runs here, or waits here for a slot."""
        return name in self._attempts

    def running(self) -> list[tuple[Attempt, Slot]]:
        """The attempts that run here now."""
        return [(one, slot) for slot in self.slots.running() if (one := self._attempts.get(slot.name))]

    def stop(self, seconds: float = 10) -> bool:
        """Begin nothing more; running executors are told to stop, what they have is settled or handed back.

        Whether nothing is left behind; what is left is gone on with by whoever comes next.
        """
        global _current  # noqa: PLW0603
        self.stopping.set()
        self._dispatch.stop()
        self.slots.close()
        if self.is_alone:  # on a shared ledger the others begin it
            self._hand_back_queued()
        is_clean = _until(lambda: not self.slots.running(), seconds) and _until(
            self._has_nothing, _TAIL_SECONDS
        )
        DBOS.destroy()
        _current = None
        for engine in (self.engine, self._system, self._settling):
            engine.dispose()
        return is_clean

    def take_back(self, name: str, task_id: str, attempt: int) -> None:
        """Take an attempt that nobody has begun out of its queue, and hand its task back."""
        DBOS.cancel_workflow(name)
        with translated(self.engine), self.engine.begin() as connection, within(connection, now()) as tx:
            hand_back_in(tx, task_id, attempt)

    def _hand_back_queued(self) -> None:
        """What nobody has ever begun is not left lying in a queue; what was begun once is gone on with."""
        with contextlib.suppress(Exception):  # the ledger is away: whoever comes next goes on with it
            for one in DBOS.list_workflows(status="ENQUEUED", app_version=VERSION, load_output=False):
                if not one.recovery_attempts and one.input:
                    task_id, _, number, *_ = one.input["args"]
                    self.take_back(one.workflow_id, task_id, number)

    def _has_nothing(self) -> bool:
        """Whether nothing that was begun here is unfinished."""
        try:
            left = DBOS.list_workflows(
                status="PENDING", executor_id=self.executor_id, limit=1, load_input=False, load_output=False
            )
        except Exception:  # noqa: BLE001 - the ledger is away: nobody knows
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


_SERIALIZER: Final = DBOSPortableJSONSerializer()
_current: Durable | None = None


@DBOS.workflow(name="attempt", max_recovery_attempts=_RECOVERIES)
def attempt(*said: Any) -> dict[str, Any]:
    """One attempt, as it was put into its queue, in whichever process it is begun."""
    durable = _current
    if durable is None:  # pragma: no cover - DBOS runs workflows only while it is launched
        raise RuntimeError("no engine runs in this process")
    return durable.carry_out(Attempt(*said))
