"""kill -9 at any point leaves a ledger that verifies, and work that goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.cli import ROOT
from tests.limits import LIMIT


@pytest.mark.large
@pytest.mark.parametrize(("database", "kills"), [("sqlite", 100), ("postgresql", 40)])
def test_a_writer_that_is_killed_again_and_again(
    database: str, kills: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """At random points: every look at the ledger finds it whole, and the next writer finishes the plan."""
    place = (
        str(tmp_path / "ledger.db")
        if database == "sqlite"
        else request.getfixturevalue("postgresql_url")
    )
    command = [
        sys.executable,
        "-m",
        "tests.ledger.killed_writer",
        place,
        str(tmp_path),
        str(kills),
        "11",
    ]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False
    )
    assert not done.returncode, done.stderr
    assert (
        json.loads(done.stdout)["killed"] >= kills * 0.9
    )  # one that had nothing left to do may end by itself
