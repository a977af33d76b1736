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

_WRITES: Final = ("INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE")
_MINE: Final = "accordance: it is this connection's turn"
_turns: Final[defaultdict[str, threading.Lock]] = defaultdict(threading.Lock)  # by file


def take_turns(engine: Engine, seconds: float) -> None:
    """Let a connection write when it is its turn, until it returns to its pool.

    A writer who has waited too long tries anyway, and gets SQLite's own answer.
    """
    turn = _turns[engine.url.database or ""]

    @event.listens_for(engine, "before_cursor_execute")
    def await_turn(connection: Connection, _: Any, statement: str, *__: Any) -> None:
        if statement.startswith(_WRITES) and not connection.info.get(_MINE):
            connection.info[_MINE] = turn.acquire(timeout=seconds)

    def give_turn(_: Any, record: Any, *__: Any) -> None:
        if record.info.pop(_MINE, False):
            turn.release()

    event.listen(engine, "checkin", give_turn)
    event.listen(engine, "invalidate", give_turn)
