"""Attempts that were begun by a release which kept its queue in tables of DBOS.

Only whether an attempt is named there is read. Such an attempt has no row in our own
queue: its task is handed back, unless the worker that holds it is still alive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection, inspect, text

_TABLE: Final = "workflow_status"
_SCHEMAS: Final[Mapping[str, str | None]] = {"sqlite": None, "postgresql": "dbos"}


def has_old_queue(connection: Connection) -> bool:
    """Whether such a release has worked on this ledger."""
    schema = _SCHEMAS[connection.dialect.name]
    return inspect(connection).has_table(_TABLE, schema=schema)


def is_in_old_queue(connection: Connection, workflow: str) -> bool:
    """Whether an attempt was begun by such a release."""
    schema = _SCHEMAS[connection.dialect.name]
    table = f"{schema}.{_TABLE}" if schema else _TABLE
    query = text(f"SELECT 1 FROM {table} WHERE workflow_uuid = :workflow")  # noqa: S608
    return connection.execute(query, {"workflow": workflow}).first() is not None
