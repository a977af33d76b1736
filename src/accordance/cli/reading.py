"""Reading what a command is given: files and standard input, never more than the limit allows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

from accordance.cli.exits import Exit, Failure
from accordance.contracts.limits import LIMITS


def read_bounded(file: str, limit: int = LIMITS.max_bytes) -> bytes:
    """The bytes of a file, or a little more than the limit of them: enough to see that it is too large."""
    try:
        if file == "-":
            return _bounded(sys.stdin.buffer, limit)
        with Path(file).open("rb") as stream:
            return _bounded(stream, limit)
    except FileNotFoundError:
        raise Failure(f"{file}: no such file", Exit.NOT_FOUND) from None
    except IsADirectoryError:
        raise Failure(
            f"{file}: is a directory; name its files, e.g. {file.rstrip('/')}/*.json", Exit.USAGE
        ) from None
    except OSError as error:
        raise Failure(f"{file}: cannot be read: {error.strerror or error}", Exit.USAGE) from None
    except ValueError as error:
        raise Failure(f"{file!r}: is no file name: {error}", Exit.USAGE) from None


def _bounded(stream: BinaryIO, limit: int) -> bytes:
    return stream.read(limit + 1)
