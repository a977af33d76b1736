"""What a file makes once for its tests is made once, however many workers there are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.acceptance.cli import ROOT, interruptible
from tests.limits import LIMIT

SHARED = """
import pytest

@pytest.fixture(scope="module")
def made():
    with open("made", "a") as place:
        place.write("once ")

@pytest.mark.parametrize("number", range(20))
def test_it(made, number):
    pass
"""
MARKED = """
import os
import pytest

pytestmark = pytest.mark.xdist_group("together")

@pytest.mark.parametrize("number", range(20))
def test_it(number):
    with open("workers", "a") as place:
        place.write(os.environ["PYTEST_XDIST_WORKER"] + " ")
"""


def test_tests_that_share_something_go_to_one_worker(tmp_path: Path) -> None:
    """Through a fixture of their file, or by the mark of pytest-xdist, also of several files."""
    (tmp_path / "test_shared.py").write_text(SHARED)
    (tmp_path / "test_marked.py").write_text(MARKED)
    (tmp_path / "test_marked_too.py").write_text(MARKED)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-p", "tests.scheduling", "-n", "2", "--dist", "loadgroup"]
    environment = {**interruptible(), "PYTHONPATH": str(ROOT)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert "60 passed" in done.stdout, done.stdout + done.stderr
    assert (tmp_path / "made").read_text() == "once "
    workers = (tmp_path / "workers").read_text().split()
    assert (len(workers), len(set(workers))) == (40, 1)
