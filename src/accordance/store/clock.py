"""The time of a ledger: the clock of its database counts, not that of a machine.

Workers on many machines write times that others compare: leases, pauses, how long a
plan has run. So a ledger on PostgreSQL goes by the server's clock. It is asked now and
then; in between, time passes by this process's own timer, which is never set.
"""

from __future__ import annotations

import datetime as dt
import threading
import time
from dataclasses import dataclass, field
from typing import Final
from weakref import WeakKeyDictionary

from sqlalchemy import Connection, Engine

TIME_FORMAT: Final = "%Y-%m-%dT%H:%M:%S.%fZ"
_TRUSTED_SECONDS: Final = 10.0  # then the database is asked again


def now() -> str:
    """The time, in UTC, to the microsecond: sorts as text."""
    return dt.datetime.now(dt.UTC).strftime(TIME_FORMAT)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the database answered, and when, by the timer of this process."""

    answer: dt.datetime
    at: float


@dataclass
class _DatabaseClock:
    """The clock of one database. Its methods may be called from any thread."""

    _asked: _Asked | None = None
    _last: dt.datetime = field(default=dt.datetime.min.replace(tzinfo=dt.UTC))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, connection: Connection) -> dt.datetime:
        """Return the time; it never goes back."""
        asked = self._asked
        if asked is None or time.monotonic() - asked.at > _TRUSTED_SECONDS:
            asked = self._asked = _ask(connection)
        passed = time.monotonic() - asked.at
        current = asked.answer + dt.timedelta(seconds=passed)
        with self._lock:
            self._last = max(self._last, current)
            return self._last


def _ask(connection: Connection) -> _Asked:
    answer = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
    return _Asked(answer.astimezone(dt.UTC), time.monotonic())


_clocks: Final[WeakKeyDictionary[Engine, _DatabaseClock]] = WeakKeyDictionary()


def time_on(connection: Connection) -> str:
    """Return the time of the ledger to which a connection leads.

    A SQLite file lies on one machine, whose clock is its own.
    """
    if connection.dialect.name != "postgresql":
        return now()
    clock = _clocks.setdefault(connection.engine, _DatabaseClock())
    return clock.read(connection).strftime(TIME_FORMAT)
