"""One project on each kind of ledger."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.project.home import Home
from accordance.store.ledger import Ledger
from accordance.store.memory import MemoryLedger
from accordance.store.opening import open_ledger
from tests.ledger.project import Clock, Project
from tests.prepared import PreparedSqlite

KINDS = ("memory", "sqlite", "postgresql")


@pytest.fixture(params=KINDS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project on a fresh ledger; whatever a test did to it, it must verify afterwards."""
    clock = Clock()
    ledger: Ledger
    if request.param == "memory":
        ledger = MemoryLedger(clock)
    else:
        prepared = request.getfixturevalue(f"prepared_{request.param}")
        ledger = prepared.empty_ledger(clock)
    project = Project(ledger, Home(tmp_path), clock)
    yield project
    with ledger.read() as tx:
        plans = tx.plans()
    if plans:
        project.holds()
    ledger.close()


@pytest.fixture
def on_sqlite(tmp_path: Path, prepared_sqlite: PreparedSqlite) -> Iterator[Project]:
    """A project on SQLite, for tests that reach below the ledger."""
    clock = Clock()
    place = tmp_path / "ledger.db"
    prepared_sqlite.copy_to(place)
    ledger = open_ledger(place, clock=clock)
    yield Project(ledger, Home(tmp_path), clock)
    ledger.close()
