"""Writing a result to the file that an option names."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from accordance.errors import CannotWrite


def write_output(place: str | Path, content: bytes) -> None:
    """Write a whole file, or none of it. Raises CannotWrite.

    A link, a device or a pipe is not replaced, but written through.
    """
    from accordance.project.home import write_file

    path = Path(place)
    try:
        if _is_replaceable(path):
            write_file(path, content)
        else:
            _write_through(path, content)
    except OSError as error:
        raise CannotWrite(path, error) from None
    except ValueError as error:  # a name that no file can have
        raise CannotWrite(path, OSError(str(error))) from None


def _is_replaceable(path: Path) -> bool:
    """Whether the path is free, or a regular file, not a link."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except FileNotFoundError:
        return True


def _write_through(path: Path, content: bytes) -> None:
    # O_NONBLOCK: a pipe without a reader is an error at once, not an endless wait
    flags = (
        os.O_WRONLY
        | os.O_CREAT
        | os.O_TRUNC
        | os.O_NOCTTY
        | os.O_NONBLOCK
        | os.O_CLOEXEC
    )
    number = os.open(path, flags, 0o666)
    os.set_blocking(number, True)
    with os.fdopen(number, "wb") as stream:
        stream.write(content)
