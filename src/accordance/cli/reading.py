"""Reading files and standard input, never more than a limit."""

from __future__ import annotations

import os
import select
import stat
import sys
from pathlib import Path
from typing import BinaryIO, Final

from accordance.cli.exits import Exit, Failure, shortened
from accordance.contracts.limits import LIMITS

PATIENCE: Final = 5.0  # seconds until a named pipe must have a writer


def is_file(name: str) -> bool:
    """Whether a file of that name exists; a text that cannot be a name has none."""
    try:
        return Path(name).is_file()
    except (OSError, ValueError):
        return False


def is_stream(name: str) -> bool:
    """Whether a name is a pipe or a device, which can only be read once."""
    try:
        mode = Path(name).stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def must_be_a_name(name: str) -> None:
    """Refuse a name that no file can have: too long, circular links, bad characters."""
    try:
        Path(name).stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        text = f"{shortened(name)}: is not a valid name of a file or folder ({reason})"
        raise Failure(text, Exit.USAGE) from None


def read_bounded(file: str, limit: int = LIMITS.max_bytes) -> bytes:
    """The bytes of a file; if it is too large, a byte more than the limit."""
    try:
        if file == "-":
            return _bounded(sys.stdin.buffer, limit)
        return _read_file(file, limit)
    except FileNotFoundError:
        raise Failure(f"{file}: no such file", Exit.NOT_FOUND) from None
    except IsADirectoryError:
        example = f"{file.rstrip('/')}/*.json"
        text = f"{file}: is a directory; name its files, e.g. {example}"
        raise Failure(text, Exit.USAGE) from None
    except OSError as error:
        name = "standard input" if file == "-" else file
        problem = error.strerror or error
        text = f"{name}: cannot be read: {problem}"
        raise Failure(text, Exit.USAGE) from None
    except ValueError as error:
        raise Failure(f"{file!r}: is not a file name: {error}", Exit.USAGE) from None


def _read_file(file: str, limit: int) -> bytes:
    number = os.open(file, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, "rb") as stream:
        is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
        first = _first_of_a_pipe(number) if is_pipe else b""
        os.set_blocking(number, True)
        return first + _bounded(stream, limit - len(first))


def _first_of_a_pipe(number: int) -> bytes:
    """The first byte of a pipe, if it is there already.

    Raises TimeoutError if the pipe has no writer. A writer that has opened the pipe may
    take any time.
    """
    poll = select.poll()
    poll.register(number, select.POLLIN)
    if poll.poll(PATIENCE * 1000):
        return b""
    try:
        first = os.read(number, 1)
    except BlockingIOError:  # there is a writer, which has written nothing yet
        return b""
    if not first:
        raise TimeoutError(0, "the pipe has no writer")
    return first


def _bounded(stream: BinaryIO, limit: int) -> bytes:
    return stream.read(limit + 1)
