"""What a run shows while it goes on: a table that stays whatever the ledger does, and hides no error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from accordance.cli import run_output as tellings
from accordance.cli.run_output import telling
from accordance.errors import LedgerUnavailable
from accordance.store.ledger import Transaction
from accordance.store.opening import make_engine, now
from accordance.store.sql import SqlLedger
from tests.runtime.test_workers import until


class Looked(SqlLedger):
    """A ledger that counts who asks."""

    looks = 0

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        self.looks += 1
        with super().read() as tx:
            yield tx


def test_a_ledger_that_is_away_ends_no_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at again and again; what ends the run is what is told at its end."""
    (tmp_path / "ledger.db").mkdir()
    ledger = Looked(make_engine(tmp_path / "ledger.db"), now)
    with pytest.raises(LedgerUnavailable), ledger.read():
        pass
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(tellings, "_REFRESH_SECONDS", 0.01)
    with pytest.raises(ArithmeticError, match="the real one"):
        _run(ledger)


def _run(ledger: Looked) -> None:
    with telling(ledger, "plan"):
        until(lambda: ledger.looks > 3)
        raise ArithmeticError("the real one")
