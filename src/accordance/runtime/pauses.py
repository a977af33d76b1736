"""Pauses that all processes keep: a provider that is overloaded is so for everybody.

They lie in the database and end by its clock. Each worker learns of them with its
heartbeat, a moment after they began.
"""

from __future__ import annotations

import contextlib
from typing import Final

from sqlalchemy import Connection, Engine, text

_PAUSE: Final = text(
    "INSERT INTO queue_pauses (queue, ends_at)"
    " VALUES (:queue, extract(epoch FROM clock_timestamp()) + :seconds)"
    " ON CONFLICT (queue) DO UPDATE"
    " SET ends_at = greatest(queue_pauses.ends_at, excluded.ends_at)"
)
_PAUSES: Final = text(
    "SELECT queue, ends_at - extract(epoch FROM clock_timestamp()) FROM queue_pauses"
    " WHERE ends_at > extract(epoch FROM clock_timestamp())"
)


def share_pause(engine: Engine, queue: str, seconds: float) -> None:
    """Let nothing of a queue begin anywhere for so many seconds.

    If the database is away, the pause is this process's own.
    """
    values = {"queue": queue, "seconds": seconds}
    with contextlib.suppress(Exception), engine.begin() as connection:
        connection.execute(_PAUSE, values)


def pauses_left(connection: Connection) -> dict[str, float]:
    """Return how many seconds each queue still rests."""
    return {queue: float(seconds) for queue, seconds in connection.execute(_PAUSES)}
