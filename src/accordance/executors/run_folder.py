"""The folder of a run: its logs are kept, the rest is deleted."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Final

from accordance.executors.protocol import Assignment, Executor, RunLimits, RunOutcome
from accordance.workspace.clone import discard

ROOM: Final = "room"  # where a program runs, in the folder of its run
ERRORS: Final = "stderr.log"


def run_tidily(
    executor: Executor,
    assignment: Assignment,
    limits: RunLimits,
) -> RunOutcome:
    """Run an executor once; afterwards the run's folder holds nothing but logs."""
    try:
        return executor.run(assignment, limits)
    finally:
        _clear(assignment.folder)


def _clear(folder: Path) -> None:
    room = folder / ROOM
    if not room.exists():
        return

    errors = room / ERRORS
    with contextlib.suppress(OSError):  # a lost log is no reason to fail
        if not errors.is_symlink():
            errors.replace(folder / ERRORS)
    discard(room)
