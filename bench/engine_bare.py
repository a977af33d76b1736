"""The bare engine in the loop of bench/engine.py: DBOS with the same steps, the same number of rows, and nothing else.

A task is two workflows, as with accordance: each has an ordinary step whose outcome is stored and a transactional step that
writes rows and queues the next workflow. Its parameters say how many rows accordance adds and changes for a task.
"""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from typing import Any

from dbos import (
    DBOS,
    DBOSClient,
    DBOSConfig,
    DBOSPortableJSONSerializer,
    SQLAlchemyDatasource,
)
from engine_counting import Counted
from sqlalchemy import (
    JSON,
    URL,
    Column,
    Engine,
    Integer,
    MetaData,
    String,
    Table,
    bindparam,
    create_engine,
    event,
    insert,
    update,
)

from accordance.store.opening import make_engine, read_url

ROWS = Table(  # as wide as the rows that accordance adds, on average
    "bench_rows",
    MetaData(),
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("plan", String),
    Column("task", String),
    Column("kind", String(32)),
    Column("seq", Integer),
    Column("at", String(32)),
    Column("payload", JSON),
    Column("hash", String(64)),
)
STATES = Table(
    "bench_states",
    ROWS.metadata,
    Column("task", String, primary_key=True),
    Column("state", String(32)),
    Column("queue", Integer),
    Column("holder", String),
    Column("until", String(32)),
    Column("hash", String(64)),
)
TEXT, HASH, NOW = "x" * 150, "0" * 64, "2026-01-01T00:00:00.000000Z"
ROW = {
    "plan": "p",
    "kind": "k",
    "seq": 1,
    "at": NOW,
    "payload": {"text": TEXT, "from": "a", "to": "b"},
    "hash": HASH,
}
STATE = {"state": "s", "queue": 1, "holder": "h", "until": NOW, "hash": HASH}
CHANGE = update(STATES).where(STATES.c.task == bindparam("key"))
_serializer = DBOSPortableJSONSerializer()
_it: Bare
_turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # by file
_WRITES = ("INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE")


def engine_beside(place: str, connections: int) -> Engine:
    """An engine configured as DBOS prefers: a transaction begins with its first write."""
    if "://" in place:
        url = read_url(place).set(drivername="postgresql+psycopg")
        return create_engine(url, max_overflow=connections)

    settings = {"isolation_level": "IMMEDIATE", "timeout": 30}
    url = URL.create("sqlite", database=place)
    engine = create_engine(url, max_overflow=connections, connect_args=settings)
    event.listen(engine, "connect", _as_accordance_does)
    _take_turns(engine, _turns[place])
    return engine


def _as_accordance_does(connection: Any, _: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA cache_size=-32000")


def _take_turns(engine: Engine, turn: threading.Lock) -> None:
    """Let writers wait for each other here, because SQLite would let them sleep."""

    @event.listens_for(engine, "before_cursor_execute")
    def await_turn(connection: Any, _: Any, statement: str, *__: Any) -> None:
        if statement.startswith(_WRITES) and not connection.info.get("turn"):
            connection.info["turn"] = turn.acquire(timeout=30)

    @event.listens_for(engine, "checkin")
    def give_turn(_: Any, record: Any) -> None:
        if record.info.pop("turn", False):
            turn.release()


class Bare:
    """A process of the bare engine."""

    def __init__(
        self, place: str, name: str, runs: int, rows: tuple[int, int], message: str
    ) -> None:
        global _it  # noqa: PLW0603
        _it = self
        self.rows, self.message = rows, message
        self.done: list[tuple[int, float, float]] = []  # task, ready, done
        self.system = engine_beside(place, connections=30)
        self.own = engine_beside(place, connections=30)
        url = self.own.url.render_as_string(hide_password=False)
        config: DBOSConfig = {
            "name": "bench",
            "system_database_url": url,
            "system_database_engine": self.system,
            "executor_id": name,
            "application_version": "1",
            "log_level": "CRITICAL",
            "serializer": _serializer,
            "use_listen_notify": False,
            "notification_listener_polling_interval_sec": 0.1,
        }
        DBOS(config=config)
        self.source = SQLAlchemyDatasource.create(
            url, engine=self.own, serializer=_serializer
        )
        self.client = DBOSClient(
            system_database_engine=self.system,
            serializer=_serializer,
            application_name="bench",
        )
        self.level = (
            "READ COMMITTED"
            if self.own.dialect.name == "postgresql"
            else "SERIALIZABLE"
        )
        DBOS.launch()
        DBOS.register_queue("q", worker_concurrency=runs, polling_interval_sec=0.02)

    def put(self, connection: Any, lane: int, at: int, part: int, ready: float) -> None:
        """Put a workflow into the queue, in the caller's transaction."""
        options = {
            "workflow_name": "part",
            "queue_name": "q",
            "workflow_id": f"{lane}:{at}:{part}",
            "app_version": "1",
        }
        self.client.enqueue_in_transaction(connection, options, lane, at, part, ready)  # type: ignore[arg-type]

    def settle(self, lane: int, at: int, part: int, ready: float) -> dict[str, Any]:
        """The transactional step: half of a task's rows, and the next workflow."""
        connection = self.source.sql_session().connection()
        added, changed = (
            count // 2 + (count % 2 if part else 0) for count in self.rows
        )
        name = f"{lane}:{at}"
        for _ in range(added):
            connection.execute(insert(ROWS), {"task": name, **ROW})
        for _ in range(changed):
            connection.execute(CHANGE, {"key": str(lane), **STATE})
        if part == 0:
            self.put(connection, lane, at, 1, ready)
        elif at > 0:
            self.put(connection, lane, at - 1, 0, time.time())
        else:
            connection.execute(insert(STATES), {"task": f"end of {lane}", **STATE})
        return {"status": "accepted", "task": name}


@DBOS.workflow(name="part", max_recovery_attempts=5)
def part_of_a_task(lane: int, at: int, part: int, ready: float) -> dict[str, Any]:
    """Half of a task."""
    DBOS.run_step({"name": "execute"}, lambda: {"raw": _it.message, "seen": {}})
    settled = _it.source.run_tx_step(
        {"name": "settle", "isolation_level": _it.level},  # type: ignore[typeddict-item]
        _it.settle,
        lane,
        at,
        part,
        ready,
    )
    if part:
        _it.done.append((at, ready, time.time()))
    return settled


def main(parameters: dict[str, Any]) -> None:
    """Run until a line on standard input."""
    counted = Counted()
    bare = Bare(
        parameters["place"],
        parameters["name"],
        parameters["runs"],
        (parameters["inserts"], parameters["updates"]),
        parameters["message"],
    )
    engine = make_engine(parameters["place"])
    print("ready", flush=True)
    input()  # all workers begin together
    counted.restart()
    if parameters["first"]:
        with engine.begin() as connection:
            ROWS.metadata.create_all(connection)
            for lane in range(parameters["lanes"]):
                connection.execute(insert(STATES), {"task": str(lane), **STATE})
                bare.put(
                    connection,
                    lane,
                    parameters["tasks"] // parameters["lanes"] - 1,
                    0,
                    time.time(),
                )
    input()  # the parent process sees when all is done
    waited = [
        (done - ready) * 1000
        for at, ready, done in bare.done
        if at < parameters["tasks"] // parameters["lanes"] - 1
    ]
    print(
        json.dumps({"done": len(bare.done), "waited": waited, **counted.report(1)}),
        flush=True,
    )
    DBOS.destroy()
