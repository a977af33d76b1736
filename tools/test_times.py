"""A plugin of pytest that writes how long each test took, for tools/mutants.py."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

FILE = "TEST_TIMES"
"""The variable that names the file."""

_seconds: defaultdict[str, float] = defaultdict(float)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up the phases of a test."""
    _seconds[report.nodeid] += report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write them, but not in a worker of pytest-xdist: only the first process has all."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ[FILE]).write_text(json.dumps(_seconds), encoding="utf-8")
