"""A worker that dies at one point. Run as a process of its own: it forks the worker, so it must have one thread.

python -m tests.runtime.dying PLACE FOLDER POINT TIMES [VERSION]

POINT is where it dies: in a `run`, or when it is `kept` and would be settled, or `never`.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

from accordance.executors.protocol import RunOutcome
from accordance.runtime import attempt_queue, reconciling, workers
from accordance.runtime.attempt_path import AttemptPath
from accordance.runtime.ports import VERSION, TaskAttempt
from tests.runtime.stage import said, stage


def die(*_: Any) -> None:
    """Without any last words."""
    os.kill(os.getpid(), signal.SIGKILL)


def work(place: str, folder: Path, point: str) -> None:
    """Work until the point."""

    def run(one: TaskAttempt, _: threading.Event) -> RunOutcome:
        with (folder / "ran.log").open("a") as log:
            log.write(f"{one.task_id} {one.kind} {one.number}\n")
        if point == "run":
            die()
        return said(one)

    if point == "kept":
        AttemptPath.settle = die  # type: ignore[method-assign,assignment]
    stage(place, folder).runner(run).until_it_rests()
    os._exit(0)


def main(words: list[str]) -> None:
    """Let so many workers die, one after the other."""
    place, folder, point, times, *named = words
    version = named[0] if named else VERSION
    for module in (attempt_queue, reconciling, workers):
        module.VERSION = version  # type: ignore[attr-defined]
    for _ in range(int(times)):
        pid = os.fork()
        if not pid:
            work(place, Path(folder), point)
        assert os.WIFSIGNALED(os.waitpid(pid, 0)[1]) is (point != "never")


if __name__ == "__main__":
    main(sys.argv[1:])
