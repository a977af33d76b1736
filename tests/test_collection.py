"""The list of tests is the same whenever, and on whatever machine, it is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.limits import LIMIT
from tests.measured import FOR_PROCESSES

ROOT = Path(__file__).parent.parent

# Collects in an interpreter whose clock is ahead of ours by so many days.
COLLECT = """
import sys, time
clock, days = time.time, int(sys.argv[1])
time.time = lambda: clock() + 86_400 * days
import pytest
sys.exit(pytest.main(["--collect-only", "-q", "--assert=plain", "-p", "no:cacheprovider", "tests"]))
"""


def collect(days_ahead: int, hash_seed: int, locale: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYTHONHASHSEED": str(hash_seed),
        "LC_ALL": locale,
        "PYTHONUTF8": "1",
    }
    for name in (
        "PYTEST_XDIST_WORKER",
        "PYTEST_XDIST_WORKER_COUNT",
        "PYTEST_ADDOPTS",
        FOR_PROCESSES,
    ):
        environment.pop(name, None)
    return subprocess.Popen(
        [sys.executable, "-c", COLLECT, str(days_ahead)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_no_test_id_depends_on_clock_hash_seed_or_locale() -> None:
    """Otherwise two workers of one run collect different lists, and no test runs at all."""
    first = collect(days_ahead=0, hash_seed=1, locale="C")
    second = collect(days_ahead=400, hash_seed=2, locale="C.UTF-8")
    lists = [
        process.communicate(timeout=LIMIT)[0].splitlines()[:-1]
        for process in (first, second)
    ]
    assert (first.returncode, second.returncode) == (0, 0), (
        lists[0][-5:] + lists[1][-5:]
    )
    assert lists[0] == lists[1]
