"""The workers on a ledger: each shows that it is alive; others take over from the dead.

On SQLite there is a single process, guarded by a lock beside the file. On PostgreSQL
every worker has a heartbeat, by the database's clock, and the worker that gets the lock
looks for those without: what they had begun is queued again. The claim of an attempt
keeps a worker that was only slow from finishing work that another has taken.
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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from sqlalchemy import Engine, text

from accordance.domain.capabilities import Capabilities
from accordance.errors import Conflict
from accordance.runtime.attempt_queue import AttemptQueue
from accordance.runtime.pauses import pauses_left
from accordance.runtime.ports import LOCAL, VERSION
from accordance.store.failures import translated

BEAT_SECONDS: Final = 2.0
DEAD_AFTER_SECONDS: Final = 15.0
_STEADY_BEATS: Final = 3
_LOCK: Final = 7242078

# The column is called `executor_id`: workers of other versions run beside us and write
# it, too.
_BEAT: Final = text(
    "INSERT INTO accordance_workers"
    " (executor_id, version, started_at, beat_at, queues, about)"
    " VALUES (:worker_id, :version, now(), now(), :queues, :about)"
    " ON CONFLICT (executor_id) DO UPDATE SET beat_at = now()"
    " RETURNING drain_at IS NOT NULL"
)
_DRAINS: Final = text(
    "UPDATE accordance_workers SET drain_at = coalesce(drain_at, now())"
    " WHERE executor_id = :worker_id"
)
_FORGET_DEAD: Final = text(
    "DELETE FROM accordance_workers"
    " WHERE beat_at < now() - make_interval(secs => :seconds) RETURNING executor_id"
)
_ALIVE: Final = text(
    "SELECT 1 FROM accordance_workers WHERE executor_id = :worker_id"
    " AND beat_at >= now() - make_interval(secs => :seconds)"
)
_OTHERS: Final = text(
    "SELECT version, count(*) FROM accordance_workers"
    " WHERE version <> :version"
    " AND beat_at >= now() - make_interval(secs => :seconds) GROUP BY version"
)
_COMPANY: Final = text(
    "SELECT 1 FROM accordance_workers"
    " WHERE executor_id <> :worker_id"
    " AND beat_at >= now() - make_interval(secs => :seconds) LIMIT 1"
)
_QUEUES: Final = text(
    "SELECT queues FROM accordance_workers"
    " WHERE drain_at IS NULL AND beat_at >= now() - make_interval(secs => :seconds)"
)
_LOST: Final = text(
    "UPDATE accordance_workers SET beat_at = 'epoch' WHERE executor_id = :worker_id"
)
_GONE: Final = text("DELETE FROM accordance_workers WHERE executor_id = :worker_id")
_TRY_LOCK: Final = text(f"SELECT pg_try_advisory_xact_lock({_LOCK})")


def worker_name() -> str:
    """Return a name that no other process ever has."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"


@contextlib.contextmanager
def only_one(ledger: Path) -> Iterator[None]:
    """Hold the lock of a SQLite ledger. Raises Conflict if another process has it."""
    lock_file = ledger.with_name(f"{ledger.name}.lock")
    with lock_file.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Conflict(
                f"another process runs on {ledger}; SQLite allows one process,"
                " PostgreSQL many"
            ) from None
        yield


@contextlib.contextmanager
def working_on(place: str | Path) -> Iterator[str]:
    """Yield the name of this process while it works on a ledger.

    Raises Conflict if the ledger allows a single process and another has it.
    """
    address = str(place)
    if address.startswith("postgresql"):
        yield worker_name()
        return
    with only_one(Path(address.removeprefix("sqlite:///"))):
        yield LOCAL


@dataclass(frozen=True, slots=True)
class Beat:
    """What a worker learns from the database with each heartbeat."""

    is_to_drain: bool = False
    pauses: Mapping[str, float] = field(default_factory=dict)
    """By queue: for how many seconds nothing of it may begin, in any process."""


def _ignore(_: Beat) -> None:
    """Do nothing with what was learnt."""


@dataclass
class Heart:
    """The heartbeat of this process, which also takes over from dead workers."""

    engine: Engine
    worker_id: str
    queues: tuple[str, ...] = ()  # served here
    can: Capabilities = field(default_factory=Capabilities)
    alive_file: Path | None = None  # touched with each beat, for those who watch
    learn: Callable[[Beat], None] = _ignore  # called after each beat
    beat_seconds: float = BEAT_SECONDS
    dead_after: float = DEAD_AFTER_SECONDS
    _steady_since: float = field(default_factory=time.monotonic)  # no gap since then
    _last_beat: float = field(default_factory=time.monotonic)
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def beat(self) -> None:
        """Show that this process is alive.

        The first beat comes before any work is taken, so that all work left behind
        belongs to a known worker.
        """
        values = {
            "worker_id": self.worker_id,
            "version": VERSION,
            "queues": json.dumps(self.queues),
            "about": json.dumps(self.can.to_json()),
        }
        with self.engine.begin() as connection:
            is_to_drain = bool(connection.execute(_BEAT, values).scalar())
            pauses = pauses_left(connection)
        self.learn(Beat(is_to_drain, pauses))

        now = time.monotonic()
        if now - self._last_beat > 2 * self.beat_seconds:
            self._steady_since = now
        self._last_beat = now

    def start(self) -> None:
        """Keep beating, and take over from workers that no longer do."""
        self._show_life()
        self._thread = threading.Thread(target=self._live, name="heart", daemon=True)
        self._thread.start()

    def stop(self, *, is_clean: bool = True) -> None:
        """Stop beating. If work was left behind, others take it over at once."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self.alive_file is not None:
            self.alive_file.unlink(missing_ok=True)

        farewell = _GONE if is_clean else _LOST
        with contextlib.suppress(Exception), self.engine.begin() as connection:
            connection.execute(farewell, {"worker_id": self.worker_id})
        self.engine.dispose()

    def other_versions(self) -> dict[str, int]:
        """Return how many workers of each other version of the engine are alive."""
        values = {"version": VERSION, "seconds": self.dead_after}
        with self.engine.begin() as connection:
            rows = connection.execute(_OTHERS, values)
            return {version: count for version, count in rows}  # noqa: C416 - rows are no pairs to dict

    def has_company(self) -> bool:
        """Whether another worker is alive."""
        values = {"worker_id": self.worker_id, "seconds": self.dead_after}
        with translated(self.engine), self.engine.begin() as connection:
            return connection.execute(_COMPANY, values).first() is not None

    def is_alive(self, worker_id: str) -> bool:
        """Whether a worker is alive."""
        values = {"worker_id": worker_id, "seconds": self.dead_after}
        with translated(self.engine), self.engine.begin() as connection:
            return connection.execute(_ALIVE, values).first() is not None

    def is_served(self, queue: str) -> bool:
        """Whether a worker that is alive serves a queue."""
        with translated(self.engine), self.engine.begin() as connection:
            rows = connection.execute(_QUEUES, {"seconds": self.dead_after}).scalars()
            return any(queues is None or queue in json.loads(queues) for queues in rows)

    def drain(self) -> None:
        """Let the others know that nothing more is taken up here."""
        with contextlib.suppress(Exception), self.engine.begin() as connection:
            connection.execute(_DRAINS, {"worker_id": self.worker_id})

    def _show_life(self) -> None:
        if self.alive_file is not None:
            self.alive_file.touch()

    def _live(self) -> None:
        while not self._stop.wait(self.beat_seconds):
            self._show_life()
            # The database may be away; the next beat tries again.
            with contextlib.suppress(Exception):
                self.beat()
                if self._is_steady():
                    self.take_over_dead_workers()

    def _is_steady(self) -> bool:
        """Whether the others have had time to beat, too.

        After an outage, the last beat of every worker is old.
        """
        steady_seconds = time.monotonic() - self._steady_since
        return steady_seconds >= _STEADY_BEATS * self.beat_seconds

    def take_over_dead_workers(self) -> list[str]:
        """Queue the work of dead workers again, for the living; return the dead."""
        queue = AttemptQueue(self.engine.dialect.name)
        with self.engine.begin() as connection:
            has_lock = connection.execute(_TRY_LOCK).scalar()
            if not has_lock:
                return []

            queue.requeue_of_dead(connection, self.dead_after)
            values = {"seconds": self.dead_after}
            return list(connection.execute(_FORGET_DEAD, values).scalars())


@dataclass
class Crew:
    """This worker, and those beside it.

    A worker that has its ledger to itself has no heart, and no company.
    """

    queues: frozenset[str]  # served here
    heart: Heart | None = None

    def has_company(self) -> bool:
        """Whether other workers are alive, which may have other executors."""
        return self.heart is not None and self.heart.has_company()

    def is_served(self, queue: str) -> bool:
        """Whether a queue is served, here or by another living worker."""
        if queue in self.queues:
            return True
        return self.heart is not None and self.heart.is_served(queue)

    def is_alive(self, worker_id: str) -> bool:
        """Whether another worker is alive."""
        return self.heart is not None and self.heart.is_alive(worker_id)
