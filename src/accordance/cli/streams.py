"""Standard input, output and error, in whatever state the caller hands them over."""

from __future__ import annotations

import io
import os
import select
import sys
from typing import Any, Final

from accordance.errors import CannotWrite

# A closed stream is opened the wrong way round: whoever uses it is told, and no file takes its number by chance.
_STREAMS: Final = ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY))


class _Output(io.FileIO):
    """Standard output. A reader that has gone is no fault; a device that is full is, and says so once."""

    reader_is_gone = False
    _is_lost = False

    def write(self, piece: Any) -> int:
        if self.reader_is_gone or self._is_lost:
            return len(piece)
        try:
            while (
                written := super().write(piece)
            ) is None:  # it does not block, and is busy
                select.select((), (self,), ())
        except BrokenPipeError:
            self.reader_is_gone = (
                True  # e.g. | head: the command goes on, its exit code still counts
            )
            return len(piece)
        except OSError as error:
            self._is_lost = True
            raise CannotWrite("standard output", error) from None
        return written


class _Complaints(io.FileIO):
    """Standard error. If it takes nothing, there is nobody left to tell."""

    def write(self, piece: Any) -> int:
        try:
            return super().write(piece) or len(piece)
        except OSError:
            return len(piece)


def open_streams() -> None:
    """Make the three standard streams usable: closed ones, ones with few letters, ones whose reader goes away."""
    for number, mode in _STREAMS:
        _open_if_closed(number, mode)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = _text(sys.stdout, sys.__stdout__, _Output, 1)
    sys.stderr = _text(sys.stderr, sys.__stderr__, _Complaints, 2)


def _open_if_closed(number: int, mode: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, mode)
        os.dup2(opened, number)
        if opened != number:
            os.close(opened)


def _text(stream: Any, original: Any, kind: type[io.FileIO], number: int) -> Any:
    """The stream with our own way of writing below; signs it has no letters for become question marks."""
    if stream is not original:  # somebody listens in this process
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
    """Whether nobody reads standard output any more."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(raw, _Output) and raw.reader_is_gone
