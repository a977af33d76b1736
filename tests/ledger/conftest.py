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

KINDS = ("memory", "sqlite", "postgresql")


@pytest.fixture(params=KINDS)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project on a fresh ledger; whatever a test did to it, it must verify afterwards."""
    clock = Clock()
    ledger: Ledger
    if request.param == "memory":
        ledger = MemoryLedger(clock)
    elif request.param == "sqlite":
        ledger = open_ledger(tmp_path / "ledger.db", clock=clock)
    else:
        ledger = open_ledger(request.getfixturevalue("postgresql_url"), clock=clock)
    project = Project(ledger, Home(tmp_path), clock)
    yield project
    with ledger.read() as tx:
        plans = tx.plans()
    if plans:
        project.holds()
    ledger.close()


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Project]:
    """A project on SQLite, for tests that reach below the ledger."""
    clock = Clock()
    ledger = open_ledger(tmp_path / "ledger.db", clock=clock)
    yield Project(ledger, Home(tmp_path), clock)
    ledger.close()
