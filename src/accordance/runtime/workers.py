"""Who works on a ledger: each process says that it lives; what a dead one has left behind is given to the others.

On SQLite there is one process, held by a lock beside the file. On PostgreSQL every worker beats, by the database's clock,
and whoever gets the lock looks for those that no longer do. DBOS does the taking over; its fence keeps one that was only
slow from finishing what somebody else has taken.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dbos import DBOS
from sqlalchemy import Engine, text

from accordance.errors import Conflict
from accordance.runtime.ports import LOCAL, VERSION
from accordance.store.failures import translated

BEAT_SECONDS: Final = 2.0
DEAD_AFTER_SECONDS: Final = 15.0
_STEADY_BEATS: Final = 3
_LOCK: Final = 7242078

# The column is called `executor_id`, as DBOS calls a worker: workers of other versions live beside us and write it, too.
_BEAT: Final = text(
    "INSERT INTO accordance_workers (executor_id, version, started_at, beat_at, queues)"
    " VALUES (:worker_id, :version, now(), now(), :queues)"
    " ON CONFLICT (executor_id) DO UPDATE SET beat_at = now()"
)
_DEAD: Final = text(
    "SELECT executor_id FROM accordance_workers WHERE beat_at < now() - make_interval(secs => :seconds)"
)
_OTHERS: Final = text(
    "SELECT version, count(*) FROM accordance_workers"
    " WHERE version <> :version AND beat_at >= now() - make_interval(secs => :seconds) GROUP BY version"
)
_COMPANY: Final = text(
    "SELECT 1 FROM accordance_workers"
    " WHERE executor_id <> :worker_id AND beat_at >= now() - make_interval(secs => :seconds) LIMIT 1"
)
_QUEUES: Final = text(
    "SELECT queues FROM accordance_workers WHERE beat_at >= now() - make_interval(secs => :seconds)"
)
_LOST: Final = text(
    "UPDATE accordance_workers SET beat_at = 'epoch' WHERE executor_id = :worker_id"
)
_GONE: Final = text("DELETE FROM accordance_workers WHERE executor_id = :worker_id")


def worker_name() -> str:
    """A name that no other process ever has."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


@contextlib.contextmanager
def only_one(ledger: Path) -> Iterator[None]:
    """Hold the lock of a SQLite ledger. Raises Conflict if another process runs on it."""
    with ledger.with_name(f"{ledger.name}.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(
                f"another process runs on {ledger}; SQLite has room for one, PostgreSQL for many"
            ) from None
        yield


@contextlib.contextmanager
def working_on(place: str | Path) -> Iterator[str]:
    """The name of this process while it works on a ledger. Raises Conflict where only one may and another one does."""
    if str(place).startswith("postgresql"):
        yield worker_name()
        return
    with only_one(Path(str(place).removeprefix("sqlite:///"))):
        yield LOCAL


@dataclass
class Heart:
    """Beats for this process, and looks after the work of those that have stopped."""

    engine: Engine
    worker_id: str
    queues: tuple[str, ...] = ()  # that are served here
    beat_seconds: float = BEAT_SECONDS
    dead_after: float = DEAD_AFTER_SECONDS
    _steady_since: float = field(
        default_factory=time.monotonic
    )  # it has beaten without a gap since then
    _last_beat: float = field(default_factory=time.monotonic)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def beat(self) -> None:
        """Say that this process lives. To be done before it takes any work, so that nothing is ever left by a stranger."""
        with self.engine.begin() as connection:
            values = {
                "worker_id": self.worker_id,
                "version": VERSION,
                "queues": json.dumps(self.queues),
            }
            connection.execute(_BEAT, values)
        now = time.monotonic()
        if now - self._last_beat > 2 * self.beat_seconds:
            self._steady_since = now
        self._last_beat = now

    def start(self) -> None:
        """Go on beating, and look after those that do not."""
        self._thread = threading.Thread(target=self._live, name="heart", daemon=True)
        self._thread.start()

    def stop(self, *, is_clean: bool = True) -> None:
        """Beat no more; if something was left behind, the others see to it at once."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(Exception), self.engine.begin() as connection:
            connection.execute(
                _GONE if is_clean else _LOST, {"worker_id": self.worker_id}
            )
        self.engine.dispose()

    def other_versions(self) -> dict[str, int]:
        """How many workers of other versions of the engine live."""
        with self.engine.begin() as connection:
            rows = connection.execute(
                _OTHERS, {"version": VERSION, "seconds": self.dead_after}
            )
            return {version: count for version, count in rows}  # noqa: C416 - rows are no pairs to dict

    def has_company(self) -> bool:
        """Whether another worker lives."""
        with translated(self.engine), self.engine.begin() as connection:
            values = {"worker_id": self.worker_id, "seconds": self.dead_after}
            return connection.execute(_COMPANY, values).first() is not None

    def is_served(self, queue: str) -> bool:
        """Whether a worker that lives begins what is put into a queue."""
        with translated(self.engine), self.engine.begin() as connection:
            served = connection.execute(_QUEUES, {"seconds": self.dead_after}).scalars()
            return any(
                queues is None or queue in json.loads(queues) for queues in served
            )

    def _live(self) -> None:
        while not self._stop.wait(self.beat_seconds):
            with contextlib.suppress(
                Exception
            ):  # the database may be away; the next beat tries again
                self.beat()
                if self._is_steady():
                    self.sweep()

    def _is_steady(self) -> bool:
        """Whether the others had time to beat, too: after an outage everybody's last sign of life is old."""
        return (
            time.monotonic() - self._steady_since >= _STEADY_BEATS * self.beat_seconds
        )

    def sweep(self) -> list[str]:
        """Give the work of the dead to the living; each is forgotten only when nothing of it is left."""
        with self.engine.begin() as connection:
            if not connection.execute(
                text(f"SELECT pg_try_advisory_xact_lock({_LOCK})")
            ).scalar():
                return []
            dead = list(
                connection.execute(_DEAD, {"seconds": self.dead_after}).scalars()
            )
            for worker in dead:
                DBOS._recover_pending_workflows([worker])  # noqa: SLF001 - what recovery is built on; pinned, and tested
                left = DBOS.list_workflows(
                    status="PENDING", executor_id=worker, limit=1
                )
                if not left:
                    connection.execute(_GONE, {"worker_id": worker})
            return dead


@dataclass
class Crew:
    """This worker, and those that live beside it. One that has its ledger to itself has no heart, and no company."""

    queues: frozenset[str]  # that are served here
    heart: Heart | None = None

    def has_company(self) -> bool:
        """Whether other workers live, who may have an executor that is not here."""
        return self.heart is not None and self.heart.has_company()

    def is_served(self, queue: str) -> bool:
        """Whether somebody begins what is put into a queue: here, or in another process that lives."""
        if queue in self.queues:
            return True
        return self.heart is not None and self.heart.is_served(queue)
