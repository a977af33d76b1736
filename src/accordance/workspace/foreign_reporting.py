"""Reading the reports that test commands write themselves: in their output, or a file."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from accordance.domain.facts import IsolationLevel
from accordance.domain.findings import listed
from accordance.domain.foreign_reports import JUNIT, READERS, read_junit
from accordance.domain.test_results import TestReport
from accordance.domain.test_runners import foreign_runner
from accordance.domain.test_streams import MAX_BYTES
from accordance.workspace.beneath import file_below, opened
from accordance.workspace.isolation import Room
from accordance.workspace.names import name_of

_MOST_FILES: Final = 1000


def report_of_run(
    command: str,
    log: Path,
    room: Room,
    level: IsolationLevel,
    files: Sequence[str],
) -> TestReport | None:
    """Return the report that a command printed, or wrote into these files.

    Only files that the run itself wrote are named: an older report proves nothing.
    """
    runner = foreign_runner(command)
    if runner:
        root = os.fspath(room.work_seen_at(level))
        text = log.read_bytes().decode("utf-8", "replace")
        report = READERS[runner](text, root)
        if report is not None:
            return report
    if files:
        return read_junit(_contents(room.work, files[:_MOST_FILES]))
    return None


def silent_report(command: str) -> TestReport | None:
    """The report of a command that succeeded, and whose tool named no test.

    None where the command calls no tool that names its tests.
    """
    runner = foreign_runner(command)
    if not runner:
        return None
    reason = f"{runner} left no report of its tests"
    return TestReport(runner, incomplete=reason, written_by_run=True)


def missing_report(files: Sequence[str]) -> TestReport:
    """The report of a command that has not written its report."""
    reason = f"no report of tests was written to {listed(files)}"
    return TestReport(JUNIT, incomplete=reason, written_by_run=True)


def _contents(work: Path, files: Sequence[str]) -> Iterator[bytes]:
    """The content of files below a folder; of a link or a device there is none."""
    bytes_left = MAX_BYTES
    with opened(work) as root:
        for path in files:
            try:
                with file_below(root, name_of(path)) as file:
                    content = file.read(bytes_left)
            except OSError:
                content = b""
            bytes_left -= len(content)
            yield content
