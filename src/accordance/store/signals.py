"""Waiting until something has happened in a ledger, in this process or in another.

PostgreSQL tells its listeners. A SQLite file has no listeners, so its counter of events is
looked at now and then, which costs a row.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any, Final

from sqlalchemy import Connection, Engine

from accordance.store.statements import CHANNEL, LAST_NUMBER

_LOOK_SECONDS: Final = 0.05
_LISTEN_SECONDS: Final = 5.0  # a proxy may swallow what PostgreSQL tells: look then


def last_number(connection: Connection) -> int:
    """Return the number of the newest event that a connection sees."""
    number: int | None = connection.exec_driver_sql(LAST_NUMBER).scalar()
    return number or 0


def wait_for_change(engine: Engine, after: int, seconds: float) -> int:
    """Wait for an event with a higher number, and return the number of the newest."""
    ends = time.monotonic() + seconds
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            return _listen(connection, after, ends)
        return _look(connection, after, ends)


def _look(plain: Connection, after: int, ends: float) -> int:
    connection = plain.execution_options(reading=True)
    while True:
        number = last_number(connection)
        connection.commit()  # the next look sees what was committed meanwhile
        left = ends - time.monotonic()
        if number > after or left <= 0:
            return number
        time.sleep(min(_LOOK_SECONDS, left))


def _listen(plain: Connection, after: int, ends: float) -> int:
    connection = plain.execution_options(isolation_level="AUTOCOMMIT")
    try:
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        number = last_number(connection)
        while number <= after and (left := ends - time.monotonic()) > 0:
            _await_notice(connection, min(_LISTEN_SECONDS, left))
            number = last_number(connection)
        connection.exec_driver_sql("UNLISTEN *")
    except BaseException:
        connection.invalidate()  # a connection that still listens is never lent again
        raise
    return number


def _await_notice(connection: Connection, seconds: float) -> None:
    """Wait for a notification of PostgreSQL.

    A broken connection shows at the next look.
    """
    from psycopg import OperationalError

    driver: Any = connection.connection.driver_connection
    with contextlib.suppress(OperationalError):
        for _ in driver.notifies(timeout=seconds, stop_after=1):
            pass
