"""A project whose engine is run in the test itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.prepared import PreparedSqlite
from tests.runtime.stage import Stage, stage


@pytest.fixture
def on(tmp_path: Path, prepared_sqlite: PreparedSqlite) -> Iterator[Stage]:
    """A project on SQLite."""
    prepared_sqlite.copy_to(tmp_path / "ledger.db")
    found = stage(str(tmp_path / "ledger.db"), tmp_path)
    yield found
    found.ledger.close()


@pytest.fixture
def on_postgresql(tmp_path: Path, postgresql_url: str) -> Iterator[Stage]:
    """A project on PostgreSQL."""
    found = stage(postgresql_url, tmp_path)
    yield found
    found.ledger.close()
