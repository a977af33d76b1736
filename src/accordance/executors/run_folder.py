"""What an agent leaves behind: ordinary files inside its folder are read, its logs kept, the rest thrown away."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO, Final

from accordance.executors.protocol import Assignment, Executor, Produced, RunLimits
from accordance.workspace.clone import discard

ROOM: Final = "room"  # where a program runs, in the folder of its run
ERRORS: Final = "stderr.log"
_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def run_tidily(
    executor: Executor, assignment: Assignment, limits: RunLimits
) -> Produced:
    """Run an executor once; afterwards nothing but logs is in the run's folder."""
    try:
        return executor.run(assignment, limits)
    finally:
        _clear(assignment.folder)


def _clear(folder: Path) -> None:
    room = folder / ROOM
    if not room.exists():
        return
    with contextlib.suppress(
        OSError
    ):  # then they are gone: nothing fails for the want of tidying up
        if not (room / ERRORS).is_symlink():
            (room / ERRORS).replace(folder / ERRORS)
    discard(room)


def read_left(folder: Path, name: str, most: int) -> bytes | None:
    """The file, cut at `most` bytes; None if it is not an ordinary file inside the folder."""
    file = _opened(folder, name)
    if file is None:
        return None
    with file:
        return file.read(most)


def tail(folder: Path, name: str, most: int = 2000) -> str:
    """The last words of a log, for people: without what colours a terminal."""
    file = _opened(folder, name)
    if file is None:
        return ""
    with file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - most))
        said = file.read(most).decode("utf-8", "replace")
    return _COLOURS.sub("", said).strip()


def _opened(folder: Path, name: str) -> BinaryIO | None:
    """An ordinary file inside the folder, opened without waiting for anybody; else None."""
    place = Path(os.path.realpath(folder / name))
    if not place.is_relative_to(os.path.realpath(folder)):
        return None
    try:
        descriptor = os.open(
            place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        )
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
