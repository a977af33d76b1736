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
from accordance.service.project import open_project
from accordance.service.views.answers import AnswerView
from accordance.service.views.runs import AttemptView
from accordance.store.clock import now
from accordance.store.ledger import Transaction
from accordance.store.opening import make_engine
from accordance.store.sql import SqlLedger
from tests.limits import until
from tests.messages import PLAN, small_plan
from tests.service.conftest import brings


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


ENDED = AttemptView(
    task_id="a",
    kind="action",
    attempt=1,
    answer=AnswerView(status="accepted", outcome="RETRY", reason_code="CI_FAILED"),
)


@pytest.mark.parametrize(
    ("seconds", "says_how_far"),
    [
        pytest.param(0.0, True, id="it is time to say how far the run is"),
        pytest.param(3600.0, False, id="it was said not long ago"),
    ],
)
def test_lines_without_a_terminal(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    seconds: float,
    says_how_far: bool,
) -> None:
    """A line for each attempt and, not too often, how far it is; without data no ETA."""
    monkeypatch.setattr(tellings, "_PLAIN_SECONDS", seconds)
    with open_project(tmp_path, create=True) as project:
        brings(project, small_plan())
        with telling(project.ledger, PLAN) as listener:
            listener(ENDED)
    first, *others = capsys.readouterr().out.splitlines()
    assert first == "↻ RETRY     Task a, action 1  CI_FAILED"
    assert bool(others) is says_how_far
    assert all(line.startswith("0 of 3 tasks done, ") for line in others)
    assert not [line for line in others if "left" in line]
