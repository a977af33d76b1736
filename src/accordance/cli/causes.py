"""What a run says about tasks that had waited for a cause outside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from accordance.cli.exits import print_error

if TYPE_CHECKING:
    from accordance.service.views.runs import CauseView


def print_causes(causes: Iterable[CauseView]) -> None:
    """Say, in a line for each cause, who goes on and who still waits for what.

    On standard error, so that --json stays a single document.
    """
    for cause in causes:
        print_error(_line(cause))


def _line(cause: CauseView) -> str:
    count = len(cause.tasks)
    tasks = "1 task" if count == 1 else f"{count} tasks"
    if cause.is_gone:
        verb = "goes" if count == 1 else "go"
        return f"{tasks} {verb} on: no longer missing: {cause.lacks}"
    verb = "waits" if count == 1 else "wait"
    return f"{tasks} still {verb}: {cause.obstacle}; {cause.mend}, then run again"
