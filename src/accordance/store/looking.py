"""Transactions that only look.

A look ends with a commit. On a rollback psycopg drops every statement that the
connection has prepared, and PostgreSQL would parse and plan all of them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine

from accordance.store.failures import translated


@contextmanager
def looking(engine: Engine, **options: Any) -> Iterator[Connection]:
    """Lend a connection in a transaction that writes nothing.

    `options` are execution options of SQLAlchemy.
    """
    with translated(engine), engine.connect() as plain:
        connection = plain.execution_options(reading=True, **options)
        with connection.begin():
            yield connection
