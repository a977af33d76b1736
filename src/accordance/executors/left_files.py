"""Reading what an agent leaves behind: ordinary files inside a folder, up to a bound."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO, Final

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_OPEN_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def read_file_inside(folder: Path, name: str, most: int) -> bytes | None:
    """Return at most `most` bytes of a file inside the folder.

    None if it is not an ordinary file inside it.
    """
    file = _opened(folder, name)
    if file is None:
        return None
    with file:
        return file.read(most)


def read_tail_inside(folder: Path, name: str, most: int) -> bytes | None:
    """Return the last `most` bytes of a file inside the folder.

    None if it is not an ordinary file inside it.
    """
    file = _opened(folder, name)
    if file is None:
        return None
    with file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - most))
        return file.read(most)


def tail(folder: Path, name: str, most: int = 2000) -> str:
    """Return the end of a log for people, without terminal colours."""
    raw = read_tail_inside(folder, name, most)
    if raw is None:
        return ""
    return without_colours(raw.decode("utf-8", "replace")).strip()


def without_colours(text: str) -> str:
    """Return a text without the colours of a terminal."""
    return _COLOURS.sub("", text)


def _opened(folder: Path, name: str) -> BinaryIO | None:
    """Open an ordinary file inside the folder, without blocking; None otherwise."""
    place = Path(os.path.realpath(folder / name))
    if not place.is_relative_to(os.path.realpath(folder)):
        return None

    try:
        descriptor = os.open(place, _OPEN_FLAGS)
    except OSError:
        return None

    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return os.fdopen(descriptor, "rb")
