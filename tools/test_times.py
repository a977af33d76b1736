"""How long each test takes: a pytest plugin that records it, and a report.

`TEST_TIMES=times.json pytest -p tools.test_times tests` records the times,
`python -m tools.test_times times.json` shows the folders, files and tests that take longest.
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

FILE = "TEST_TIMES"
"""The variable that names the file."""
SHOWN = 25
"""Lines of each table."""

_seconds: defaultdict[str, dict[str, float]] = defaultdict(dict)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the seconds of each phase of a test."""
    _seconds[report.nodeid][report.when] = report.duration


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write them, but not in a worker of pytest-xdist: only the first process has all."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ[FILE]).write_text(json.dumps(_seconds), encoding="utf-8")


def read_seconds(place: Path) -> dict[str, float]:
    """The seconds of each test, with its set-up and its end."""
    phases = json.loads(place.read_text(encoding="utf-8"))
    return {test: sum(seconds.values()) for test, seconds in phases.items()}


def report(phases: Mapping[str, Mapping[str, float]]) -> Iterable[str]:
    """The tables: by folder, by file, by test, and what only set-up takes."""
    by_folder: defaultdict[str, list[float]] = defaultdict(list)
    by_file: defaultdict[str, list[float]] = defaultdict(list)
    by_test: defaultdict[str, list[float]] = defaultdict(list)
    set_up: defaultdict[str, list[float]] = defaultdict(list)
    for test, seconds in phases.items():
        file, _, _ = test.partition("::")
        total = sum(seconds.values())
        by_folder[str(PurePosixPath(file).parent)].append(total)
        by_file[file].append(total)
        by_test[test].append(total)
        set_up[file].append(seconds.get("setup", 0.0))
    yield from _table("folders", by_folder)
    yield from _table("files", by_file)
    yield from _table("tests", by_test)
    yield from _table("set-up of files", set_up)


def _table(title: str, rows: Mapping[str, list[float]]) -> Iterable[str]:
    everything = sum(sum(seconds) for seconds in rows.values())
    yield f"\n{title}: {everything:.0f} s"
    longest = sorted(rows, key=lambda name: (-sum(rows[name]), name))
    for name in longest[:SHOWN]:
        seconds = rows[name]
        yield f"{sum(seconds):8.1f} s  {len(seconds):5}  {name}"


if __name__ == "__main__":
    measured = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("\n".join(report(measured)))
