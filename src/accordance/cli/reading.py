"""Reading what a command is given: files and standard input, never more than the limit allows."""

from __future__ import annotations

import os
import select
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Final

from accordance.cli.exits import Exit, Failure, shortened
from accordance.contracts.limits import LIMITS

PATIENCE: Final = 5.0  # seconds in which somebody begins to write into a named pipe


def is_file(name: str) -> bool:
    """Whether there is a file of that name; a text that can be no name has none."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def is_stream(name: str) -> bool:
    """Whether what is there can only be read once, from its beginning: a pipe, a device."""
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def must_be_a_name(name: str) -> None:
    """Refuse a name that no file can have: too long, links in a circle, letters that this system does not know."""
    try:
        Path(name).stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise Failure(
            f"{shortened(name)}: is no name of a file or folder ({why})", Exit.USAGE
        ) from None


def read_bounded(file: str, limit: int = LIMITS.max_bytes) -> bytes:
    """The bytes of a file, or a little more than the limit of them: enough to see that it is too large."""
    try:
        if file == "-":
            return _bounded(sys.stdin.buffer, limit)
        return _read_file(file, limit)
    except FileNotFoundError:
        raise Failure(f"{file}: no such file", Exit.NOT_FOUND) from None
    except IsADirectoryError:
        raise Failure(
            f"{file}: is a directory; name its files, e.g. {file.rstrip('/')}/*.json",
            Exit.USAGE,
        ) from None
    except OSError as error:
        name = "standard input" if file == "-" else file
        raise Failure(
            f"{name}: cannot be read: {error.strerror or error}", Exit.USAGE
        ) from None
    except ValueError as error:
        raise Failure(f"{file!r}: is no file name: {error}", Exit.USAGE) from None


def _read_file(file: str, limit: int) -> bytes:
    number = os.open(file, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as stream:
        is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
        first = _first_of_a_pipe(number) if is_pipe else b""
        os.set_blocking(number, True)
        return first + _bounded(stream, limit - len(first))


def _first_of_a_pipe(number: int) -> bytes:
    """What is there already, at most a byte. Raises TimeoutError if nobody has opened the pipe for writing.

    Somebody who has opened it may take any time.
    """
    poll = select.poll()
    poll.register(number, select.POLLIN)
    if poll.poll(PATIENCE * 1000):
        return b""
    try:
        first = os.read(number, 1)
    except BlockingIOError:  # somebody has opened it, and writes nothing yet
        return b""
    if not first:
        raise TimeoutError(0, "nobody writes into this pipe")
    return first


def _bounded(stream: BinaryIO, limit: int) -> bytes:
    return stream.read(limit + 1)
