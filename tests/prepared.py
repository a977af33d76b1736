"""Ledgers for tests that need an empty one, and not to see how its tables are made.

The engine is the same for every test of a worker, and the database behind it is replaced:
making tables takes longer than most tests do, and so does compiling the statements again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psycopg
from sqlalchemy import Engine

from accordance.store.opening import Clock, make_engine, open_ledger
from accordance.store.sql import SqlLedger
from tests.postgresql import fresh_database

_TEMPLATE = "ledger_template"
_CURRENT = "ledger"


@dataclass(frozen=True)
class PreparedSqlite:
    """A file that is replaced by an empty ledger whenever one is asked for."""

    engine: Engine
    place: Path
    content: bytes

    @classmethod
    def make(cls, folder: Path) -> PreparedSqlite:
        """Prepare a folder."""
        template = folder / "template.db"
        open_ledger(template).close()
        place = folder / "ledger.db"
        return cls(make_engine(place), place, template.read_bytes())

    def copy_to(self, place: Path) -> None:
        """Put an empty ledger at another place, for a test that opens it itself."""
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.touch(mode=0o600)
        place.write_bytes(self.content)

    def empty_ledger(self, clock: Clock) -> SqlLedger:
        """Return a new ledger; the last is gone."""
        self.engine.dispose()
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            self.place.with_name(name).unlink(missing_ok=True)
        self.place.write_bytes(self.content)
        return SqlLedger(self.engine, clock)


@dataclass(frozen=True)
class PreparedPostgresql:
    """A database that is replaced by an empty ledger whenever one is asked for."""

    engine: Engine
    server: str

    @classmethod
    def make(cls, server: str) -> PreparedPostgresql:
        """Prepare a server."""
        open_ledger(fresh_database(server, name=_TEMPLATE)).close()
        place = fresh_database(server, name=_CURRENT)
        return cls(make_engine(place), server)

    def empty_ledger(self, clock: Clock) -> SqlLedger:
        """Return a new ledger; the last is gone, with whoever still looks at it."""
        self.engine.dispose()
        with psycopg.connect(self.server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {_CURRENT} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {_CURRENT} TEMPLATE {_TEMPLATE}")
        return SqlLedger(self.engine, clock)
