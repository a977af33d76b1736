"""Connections to PostgreSQL: which of them are asked whether they are still there, and what they prepare."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, text

from accordance.store import opening
from accordance.store.opening import make_engine, plan_once

OTHERS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
)


@pytest.fixture
def engine(postgresql_url: str) -> Iterator[Engine]:
    """An engine."""
    engine = make_engine(postgresql_url)
    yield engine
    engine.dispose()


def use(engine: Engine, statement: str = "SELECT 1") -> object:
    """Use a connection."""
    with engine.connect() as connection:
        return connection.execute(text(statement)).scalar()


def end_all_of(engine: Engine, postgresql_url: str) -> None:
    """End every connection, as a database that restarts does."""
    use(engine)
    other = make_engine(postgresql_url)
    use(other, OTHERS)
    other.dispose()


def test_a_connection_that_has_rested_is_asked(
    engine: Engine, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it is gone, nobody notices: there is another."""
    monkeypatch.setattr(opening, "_REST_SECONDS", 0.0)
    end_all_of(engine, postgresql_url)
    assert use(engine) == 1


def test_a_connection_in_use_is_not_asked(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would cost a round trip for each transaction of a worker."""
    use(engine)
    asked: list[object] = []
    monkeypatch.setattr(opening, "_REST_SECONDS", 3600.0)
    monkeypatch.setattr(engine.dialect, "do_ping", asked.append)
    use(engine)
    assert asked == []


def test_the_connection_that_was_used_last_is_used_next(engine: Engine) -> None:
    """It has prepared the statements."""
    process = "SELECT pg_backend_pid()"
    with engine.connect(), engine.connect():
        pass  # now there are two
    assert use(engine, process) == use(engine, process)


def test_a_worker_plans_its_statements_once(engine: Engine) -> None:
    """Others let PostgreSQL choose: they also ask for what no index answers."""
    mode = "SHOW plan_cache_mode"
    assert use(engine, mode) == "auto"
    engine.dispose()
    plan_once(engine)
    assert use(engine, mode) == "force_generic_plan"
