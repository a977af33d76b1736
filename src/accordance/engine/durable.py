"""Durable execution of attempts, on DBOS: one workflow for each attempt, with an id that says which.

An attempt is taken up and put into its queue in one transaction of the ledger. Its workflow has two steps: the executor's
run, whose outcome is kept before anything is decided, and the settling, in which the ledger's rows and the step's mark
commit together. A process that is killed at any point is taken over from its last mark; nothing happens twice but a run
that was cut off in the middle.
"""

from __future__ import annotations

import base64
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    SQLAlchemyDatasource,
)
from sqlalchemy import Connection, Engine

from accordance.domain.faults import Fault
from accordance.engine.faults import fail_in, hand_back_in
from accordance.engine.home import Home
from accordance.engine.reviewing import review_in
from accordance.engine.submitting import submit_in
from accordance.engine.working import Taken
from accordance.executors.protocol import Produced
from accordance.store.opening import engine_beside, make_engine, now
from accordance.store.sql import SqlTransaction, within

VERSION: Final = "1"  # of what is kept between steps; raised when an old workflow could not be gone on with
_RECOVERIES: Final = 5
_HIGHEST: Final = 1_000_000
_POLL_SECONDS: Final = 0.05

Run = Callable[["Attempt"], Produced]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt, as it is named everywhere."""

    task_id: str
    kind: str  # action or review
    number: int
    product: str | None = None  # what a review is about


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
    queues: Mapping[str, int]  # how many runs at once, by queue
    executor_id: str = "local"
    settled: Callable[[Attempt, Mapping[str, Any]], None] = lambda *_: None
    stopping: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Launch; work that was left behind by this executor is gone on with."""
        global _current  # noqa: PLW0603 - a workflow is a function and finds its engine here
        self.engine = make_engine(self.place)
        self._system: Engine = engine_beside(self.place)
        url = self.engine.url.render_as_string(hide_password=False)
        config: DBOSConfig = {
            "name": "accordance",
            "system_database_url": url,
            "system_database_engine": self._system,
            "executor_id": self.executor_id,
            "application_version": VERSION,
            "log_level": "ERROR",
            "serializer": _SERIALIZER,
            "notification_listener_polling_interval_sec": 1.0,
        }
        logging.getLogger("dbos").setLevel(logging.ERROR)
        DBOS(config=config)
        self.datasource = SQLAlchemyDatasource.create(url, engine=self.engine, serializer=_SERIALIZER)
        self._client = DBOSClient(
            system_database_engine=self._system, serializer=_SERIALIZER, application_name="accordance"
        )
        _current = self
        DBOS.launch()
        for name, runs in self.queues.items():
            DBOS.register_queue(name, worker_concurrency=runs, polling_interval_sec=_POLL_SECONDS)

    def enqueue(self, connection: Connection, queue: str, taken: Taken) -> None:
        """Put an attempt that was just taken up into its queue, in the same transaction."""
        one = Attempt(taken.task.task_id, taken.kind, taken.attempt, taken.lease.product)
        options: EnqueueOptions = {
            "workflow_name": "attempt",
            "queue_name": queue,
            "workflow_id": workflow_id(taken),
            "app_version": VERSION,
            "priority": max(1, _HIGHEST - taken.task.priority),
        }
        self._client.enqueue_in_transaction(
            connection, options, one.task_id, one.kind, one.number, one.product
        )

    def execute(self, task_id: str, kind: str, number: int, product: str | None) -> dict[str, Any]:
        """The first step: let the executor run, and keep what came of it."""
        produced = self.run(Attempt(task_id, kind, number, product))
        raw = None if produced.raw is None else base64.b64encode(produced.raw).decode()
        return {"raw": raw, "seen": produced.to_json()}

    def settle(
        self, task_id: str, kind: str, number: int, product: str | None, kept: dict[str, Any]
    ) -> dict[str, Any]:
        """The second step: what the run means for the task, in the transaction that marks the step as done."""
        with within(self.datasource.sql_session().connection(), now()) as tx:
            return self._settle(tx, task_id, kind, number, product, kept)

    def _settle(
        self,
        tx: SqlTransaction,
        task_id: str,
        kind: str,
        number: int,
        product: str | None,
        kept: dict[str, Any],
    ) -> dict[str, Any]:
        seen = kept["seen"]
        if seen["fault"] == Fault.STOPPED:
            hand_back_in(tx, task_id, number)
            return {"status": "handed_back"}
        if kept["raw"] is None:
            answer = fail_in(tx, task_id, number, seen)
        elif kind == "action":
            answer = submit_in(tx, self.home, base64.b64decode(kept["raw"]), task_id, number)
        else:
            answer = review_in(tx, base64.b64decode(kept["raw"]), task_id, product)
        return answer.to_json()

    def stop(self, seconds: int = 10) -> None:
        """Stop: running executors are told, what they have is settled or handed back."""
        global _current  # noqa: PLW0603
        self.stopping.set()
        DBOS.destroy(workflow_completion_timeout_sec=seconds)
        _current = None
        self.engine.dispose()
        self._system.dispose()


_SERIALIZER: Final = DBOSPortableJSONSerializer()
_current: Durable | None = None


@DBOS.workflow(name="attempt", max_recovery_attempts=_RECOVERIES)
def attempt(task_id: str, kind: str, number: int, product: str | None) -> dict[str, Any]:
    """One attempt, from the executor's run to its settling."""
    durable = _current
    if durable is None:  # pragma: no cover - DBOS runs workflows only while it is launched
        raise RuntimeError("no engine runs in this process")
    kept = DBOS.run_step({"name": "execute"}, durable.execute, task_id, kind, number, product)
    settled = durable.datasource.run_tx_step(
        {"name": "settle"}, durable.settle, task_id, kind, number, product, kept
    )
    durable.settled(Attempt(task_id, kind, number, product), settled)
    return settled
