"""What both sides of bench/engine.py count in themselves: write transactions, rows, CPU time."""

from __future__ import annotations

import functools
import json
import re
import threading
import time
from collections import Counter
from typing import Any

from sqlalchemy import Engine, event

from accordance.store.driver import Driver

_VERBS = ("INSERT", "UPDATE", "DELETE")
_PART = re.compile(r"(part_\d+|act_\d+|counter|events) AS \((INSERT|UPDATE|DELETE)")
"""A part of a statement that writes all that a transaction has changed."""


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
                elif sql.startswith("INSERT INTO blobs") and "names" in parameters:
                    count = len(parameters["names"])
                if sql.startswith("WITH "):
                    self._wrote_parts(driver._connection, sql, parameters)
                else:
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
        verb = statement[:6]
        if verb in _VERBS:
            connection.info["bench wrote"] = True
            where = statement.split(None, 3)[1 if verb == "UPDATE" else 2].strip('"')
            if not _is_the_engines(where):
                with self._lock:
                    self.rows[verb] += count

    def _wrote_parts(
        self, connection: Any, statement: str, values: dict[str, Any]
    ) -> None:
        """Count the rows of every part of a statement."""
        connection.info["bench wrote"] = True
        lists = {"INSERT": "queued", "DELETE": "settled"}  # of the queue's own acts
        with self._lock:
            for name, verb in _PART.findall(statement):
                kind, _, number = name.partition("_")
                if kind == "part":
                    self.rows[verb] += len(json.loads(values[f"rows_{number}"]))
                elif kind == "act":
                    self.rows[verb] += len(json.loads(values[lists[verb]]))
                else:
                    self.rows[verb] += values["count"] if kind == "events" else 1

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
