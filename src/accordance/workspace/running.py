"""Running one command, kept apart and within limits, and telling what happened."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import select
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Final

from accordance.domain.facts import CommandRun, Ending, IsolationLevel
from accordance.workspace.inside import keeper
from accordance.workspace.inside.keeper import processes
from accordance.workspace.isolation import (
    _PYTHON,
    CommandLimits,
    Room,
    argv,
    environment,
)

_MARK: Final = (
    "BUILD_ID"  # as any CI run has one: a command must not see that it is judged
)
_KILLED: Final = 137
_LOOK_EVERY: Final = 0.05  # seconds between looks at the wish to stop


def run(
    command: str,
    room: Room,
    log: Path,
    *,
    level: IsolationLevel,
    limits: CommandLimits | None = None,
    stop: Event | None = None,
) -> CommandRun:
    """Run `command` in a shell in `room.work`; its output goes to `log`. Nothing of it is running afterwards.

    Once `stop` is set, the command is ended at once.
    """
    limits = limits or CommandLimits()
    mark = secrets.token_hex(16)
    marked = {} if level.confines else {_MARK: mark}
    plan = {
        "argv": argv(command, room, level, limits),
        "environment": {**environment(room, level), **marked},
        "folders": [os.fspath(place) for place in (room.folder, *room.own)],
        "log": os.fspath(log),
        "disk": [
            os.fspath(room.folder),
            *([os.fspath(room.tree)] if room.tree else ()),
        ],
        "limits": {name: getattr(limits, name) for name in keeper.LIMITS},
    }
    told = _kept(json.dumps(plan).encode(), stop)
    if not told:  # the command killed its keeper, which only the rlimit level allows
        _end(mark)
        told = {
            "exit_code": _KILLED,
            "ending": Ending.SIGNALLED.value,
            "note": "the process that watched it was ended",
        }
    if level is IsolationLevel.BWRAP:
        told.pop(
            "leftovers", None
        )  # the kernel ends them with their namespace; nobody counts them
    ending = Ending(str(told.pop("ending")))
    return CommandRun(
        command,
        ending=ending,
        isolation=level,
        log_sha256=_sha256(log),
        **told,  # type: ignore[arg-type]
    )


def _kept(plan: bytes, stop: Event | None) -> dict[str, object]:
    """Hand the plan to a keeper and wait for its answer; none if somebody ended it."""
    with subprocess.Popen(  # noqa: S603 - our own program
        (_PYTHON, "-I", "-S", keeper.__file__),
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
        while (
            stop is not None
            and not select.select([process.stdout], (), (), _LOOK_EVERY)[0]
        ):
            if stop.is_set():
                process.stdin.close()
                break
        answer = (
            process.stdout.read()
        )  # standard input stays open: closing it ends the command
    return dict(json.loads(answer)) if answer else {}


def _end(mark: str) -> None:
    """End every process that carries our mark, until none is found."""
    while marked := list(_marked(f"{_MARK}={mark}".encode())):
        for pid in marked:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _marked(mark: bytes) -> Iterator[int]:
    for pid, _, _, _ in processes():
        with contextlib.suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                yield pid


def _sha256(log: Path) -> str:
    if not log.exists():
        return ""
    with log.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
