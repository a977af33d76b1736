"""Running a command, kept apart and within limits, and reporting what happened."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import IO, Final

from accordance.domain.facts import CommandRun, Ending, IsolationLevel
from accordance.workspace.confining import PYTHON, argv, environment
from accordance.workspace.entries import sha256_of
from accordance.workspace.inside import keeper
from accordance.workspace.inside.keeper import processes
from accordance.workspace.isolation import CommandLimits, Room

_MARK: Final = "BUILD_ID"  # any CI run has it: a command must not see it is judged
_KILLED: Final = 137
_STOP_CHECK_SECONDS: Final = 0.05


def run(
    command: str,
    room: Room,
    log: Path,
    *,
    level: IsolationLevel,
    limits: CommandLimits | None = None,
    stop: Event | None = None,
) -> CommandRun:
    """Run `command` in a shell in `room.work`; its output goes to `log`.

    Nothing of it is running afterwards. Once `stop` is set, the command is ended at
    once.
    """
    limits = limits or CommandLimits()
    mark = secrets.token_hex(16)
    variables = environment(room, level)
    if not level.confines:
        variables[_MARK] = mark

    plan = {
        "argv": argv(command, room, level, limits),
        "environment": variables,
        "log": os.fspath(log),
        **_places(room),
        "limits": {name: getattr(limits, name) for name in keeper.LIMITS},
    }
    report = _report_of_keeper(json.dumps(plan).encode(), stop)
    if not report:  # the command killed its keeper, which only rlimit allows
        _end_marked(mark)
        report = {
            "exit_code": _KILLED,
            "ending": Ending.SIGNALLED.value,
            "note": "the process that watched it was ended",
        }
    if level is IsolationLevel.BWRAP:  # the kernel ends them, uncounted
        report.pop("leftovers", None)

    ending = Ending(str(report.pop("ending")))
    return CommandRun(
        command,
        ending=ending,
        isolation=level,
        log_sha256=sha256_of(log),
        **report,  # type: ignore[arg-type]
    )


def _places(room: Room) -> dict[str, list[str]]:
    """Return the folders that must be no links, and those whose size is limited."""
    folders = [os.fspath(place) for place in (room.folder, *room.own)]
    measured = [os.fspath(room.folder)]
    if room.tree is not None:
        measured.append(os.fspath(room.tree))
    return {"folders": folders, "disk": measured}


def _report_of_keeper(plan: bytes, stop: Event | None) -> dict[str, object]:
    """Hand the plan to a keeper and return its report; empty if it was killed."""
    with subprocess.Popen(  # noqa: S603 - our own program
        (PYTHON, "-I", "-S", keeper.__file__),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"LC_ALL": "C.UTF-8"},
        cwd="/",
        start_new_session=True,
    ) as process:
        assert process.stdin is not None  # noqa: S101 - for the type checker
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(plan + b"\n")
        process.stdin.flush()
        if stop is not None and _is_stopped_first(process.stdout, stop):
            process.stdin.close()  # ends the command; it stays open otherwise
        report = process.stdout.read()

    return dict(json.loads(report)) if report else {}


def _is_stopped_first(output: IO[bytes], stop: Event) -> bool:
    """Wait for output or for `stop`, and return whether `stop` came first."""
    while not select.select([output], (), (), _STOP_CHECK_SECONDS)[0]:
        if stop.is_set():
            return True
    return False


def _end_marked(mark: str) -> None:
    """End every process that carries our mark, until there are none."""
    variable = f"{_MARK}={mark}".encode()
    while pids := list(_marked(variable)):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _marked(variable: bytes) -> Iterator[int]:
    for process in processes():
        with contextlib.suppress(OSError):
            variables = Path(f"/proc/{process.pid}/environ").read_bytes()
            if variable in variables.split(b"\0"):
                yield process.pid
