"""Writers of one process take turns on a SQLite file.

SQLite lets a second writer sleep and try again, longer each time. Threads of one
process can do better: each waits until the writer before it is done. Writers in other
processes are left to SQLite.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

from accordance.store.driver import Driver

_MINE: Final = "accordance: it is this connection's turn"
_turns: Final[defaultdict[str, threading.Lock]] = defaultdict(threading.Lock)  # by file


def begin_in_turn(engine: Engine, seconds: float) -> None:
    """Let a transaction that may write begin when it is its turn.

    It takes SQLite's lock at once, so that no other writer is faster half-way. The turn
    ends when the connection returns to its pool. A writer who has waited too long tries
    anyway, and gets SQLite's own answer.
    """
    turn = _turns[engine.url.database or ""]

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if is_reading(connection):
            Driver(connection).change("BEGIN")
            return
        if not connection.info.get(_MINE):
            connection.info[_MINE] = turn.acquire(timeout=seconds)
        Driver(connection).change("BEGIN IMMEDIATE")

    def give_turn(_: Any, record: Any, *__: Any) -> None:
        if record.info.pop(_MINE, False):
            turn.release()

    event.listen(engine, "checkin", give_turn)
    event.listen(engine, "invalidate", give_turn)


def is_reading(connection: Connection) -> bool:
    """Whether a connection only looks."""
    return bool(connection.get_execution_options().get("reading"))
