"""What both sides of bench/engine.py count in themselves: write transactions, rows, CPU time."""

from __future__ import annotations

import functools
import threading
import time
from collections import Counter
from typing import Any

from sqlalchemy import Engine, event

from accordance.store.driver import Driver

_VERBS = ("INSERT", "UPDATE", "DELETE")
_NUMBERED = "WITH counter"  # takes numbers, and inserts so many events


class Counted:
    """Counts every transaction that wrote, and the rows of tables that are not the engine's own."""

    def __init__(self) -> None:
        self.transactions = 0
        self.rows: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.began = time.process_time()
        event.listen(Engine, "after_cursor_execute", self._executed)
        self._watch_driver()
        event.listen(Engine, "commit", self._committed)

    def restart(self) -> None:
        """Forget what was counted."""
        with self._lock:
            self.transactions = 0
            self.rows.clear()
            self.began = time.process_time()

    def _watch_driver(self) -> None:
        """Count what accordance gives to the driver past SQLAlchemy."""
        rows, change, change_many = Driver._rows, Driver.change, Driver.change_many

        def counted(execute: Any) -> Any:
            @functools.wraps(execute)
            def executed(
                driver: Any, sql: str, parameters: Any = (), *more: Any
            ) -> Any:
                count = 1
                if execute is change_many:
                    count = len(parameters)
                elif sql.startswith(_NUMBERED):
                    count = parameters["count"]
                self._wrote(driver._connection, sql, count)
                return execute(driver, sql, parameters, *more)

            return executed

        Driver._rows = counted(rows)  # type: ignore[method-assign]
        Driver.change = counted(change)  # type: ignore[method-assign]
        Driver.change_many = counted(change_many)  # type: ignore[method-assign]

    def _executed(self, connection: Any, _: Any, statement: str, *more: Any) -> None:
        many = more[-1] and isinstance(more[0], list)
        self._wrote(connection, statement, len(more[0]) if many else 1)

    def _wrote(self, connection: Any, statement: str, count: int) -> None:
        if statement.startswith(_NUMBERED):
            connection.info["bench wrote"] = True
            with self._lock:
                self.rows["UPDATE"] += 1
                self.rows["INSERT"] += count
            return
        verb = statement[:6]
        if verb in _VERBS:
            connection.info["bench wrote"] = True
            where = statement.split(None, 3)[1 if verb == "UPDATE" else 2].strip('"')
            if not _is_the_engines(where):
                with self._lock:
                    self.rows[verb] += count

    def _committed(self, connection: Any) -> None:
        if connection.info.pop("bench wrote", False):
            with self._lock:
                self.transactions += 1

    def report(self, tasks: int) -> dict[str, Any]:
        """What one task cost."""
        return {
            "cpu_ms": (time.process_time() - self.began) * 1000 / tasks,
            "write_transactions": self.transactions / tasks,
            "inserts": self.rows["INSERT"] / tasks,
            "updates": self.rows["UPDATE"] / tasks,
        }


def _is_the_engines(table: str) -> bool:
    schema, _, name = table.replace('"', "").rpartition(".")
    return schema in ("dbos", "main") or name.startswith("dbos_")
