"""Transactions that only look."""

from __future__ import annotations

from sqlalchemy import Connection, Engine

from accordance.store.looking import looking
from accordance.store.opening import make_engine

QUESTION = "SELECT 1 + %s"
ENOUGH = 10
"""Executions after which psycopg has prepared a statement."""


def test_a_look_keeps_the_prepared_statements(postgresql_url: str) -> None:
    """On a rollback psycopg drops them, and each then costs twice as much."""
    engine = make_engine(postgresql_url)
    for _ in range(ENOUGH):
        with looking(engine) as connection:
            connection.exec_driver_sql(QUESTION, (1,))
    assert _prepared(engine) == [QUESTION.replace("%s", "$1")]
    engine.dispose()


def _prepared(engine: Engine) -> list[str]:
    """What the only connection of an engine has prepared, but for its own questions."""
    with engine.connect() as connection:
        return _statements(connection)


def _statements(connection: Connection) -> list[str]:
    query = "SELECT statement FROM pg_prepared_statements ORDER BY statement"
    statements: list[str] = list(connection.exec_driver_sql(query).scalars())
    return [text for text in statements if text != "SELECT 1"]
