"""Standard input, output and error, made usable in whatever state they come."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any, Final

from accordance.errors import CannotWrite

# A closed stream is opened the wrong way round: using it is an error, and no other file
# gets its number by chance.
_STREAMS: Final = ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY))


class _Output(io.FileIO):
    """Standard output.

    A reader that has left is not an error; a full device is, and is reported once.
    """

    reader_is_gone = False
    _is_lost = False

    def write(self, piece: Any) -> int:
        if self.reader_is_gone or self._is_lost:
            return len(piece)
        try:
            written = super().write(piece)
            while written is None:  # the stream does not block, and is busy
                select.select((), (self,), ())
                written = super().write(piece)
        except BrokenPipeError:
            # e.g. | head: the command goes on, its exit code still counts
            self.reader_is_gone = True
            return len(piece)
        except OSError as error:
            self._is_lost = True
            raise CannotWrite("standard output", error) from None
        return written


class _Errors(io.FileIO):
    """Standard error. If it cannot be written, there is no place left to report that."""

    def write(self, piece: Any) -> int:
        try:
            return super().write(piece) or len(piece)
        except OSError:
            return len(piece)


def open_streams() -> None:
    """Make the standard streams usable: closed, with few letters, or without a reader."""
    for number, mode in _STREAMS:
        _open_if_closed(number, mode)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = _text(sys.stdout, sys.__stdout__, _Output, 1)
    sys.stderr = _text(sys.stderr, sys.__stderr__, _Errors, 2)


def _open_if_closed(number: int, mode: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, mode)
        os.dup2(opened, number)
        if opened != number:
            os.close(opened)


def _text(stream: Any, original: Any, kind: type[io.FileIO], number: int) -> Any:
    """A stream that writes in our own way.

    Characters that its encoding does not have become question marks.
    """
    if stream is not original:  # captured within this process
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
        return stream
    raw = kind(number, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(original, "encoding", "utf-8"),
        errors="replace",
        line_buffering=number != 1 or raw.isatty(),
        write_through=getattr(original, "write_through", False),
    )


def reader_is_gone() -> bool:
    """Whether standard output has lost its reader."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _Output) and raw.reader_is_gone
