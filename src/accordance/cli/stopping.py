"""Being told to stop: the first signal lets what runs come to an end, a second one does not wait."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from accordance.cli.exits import one_line

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)
_BY_A_SIGNAL: Final = 128
_LAST_SECONDS: Final = 1.0


@dataclass
class Stopped:
    """Whether a signal came, and which."""

    by: int | None = None

    @property
    def exit_code(self) -> int:
        """What a shell expects of a program that a signal has ended."""
        return _BY_A_SIGNAL + (self.by or signal.SIGINT)


@contextlib.contextmanager
def stoppable(stop: Callable[[], None]) -> Iterator[Stopped]:
    """Call `stop` at the first signal; leave at once at the second."""
    stopped = Stopped()

    def ask(number: int, _: object) -> None:
        if stopped.by is not None:
            os._exit(_BY_A_SIGNAL + number)
        stopped.by = number
        one_line("stopping: what runs is ended or handed back (again to leave at once)")
        stop()

    before = {number: signal.signal(number, ask) for number in _SIGNALS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def tidied_up() -> Iterator[None]:
    """A signal that would end the program at once ends it in order: what runs is ended, what was laid aside is removed."""

    def end(number: int, _: object) -> None:
        raise SystemExit(_BY_A_SIGNAL + number)

    before = {
        number: signal.signal(number, end)
        for number in _ENDINGS
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def left_at_once() -> Iterator[None]:
    """A signal ends the program without waiting: for a thread that reads what a client says, nothing can wake it.

    The ledger needs no farewell: what was answered is kept, and a task that was taken up is handed out again.
    """

    def end(number: int, _: object) -> None:
        os._exit(_BY_A_SIGNAL + number)

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(code: int, *, is_clean: bool) -> int:
    """The exit code; what does not end although it was told to is not waited for."""
    if not is_clean:
        one_line("something did not stop in time; whoever runs next goes on with it")
    if not is_clean or _is_held_up():
        sys.stdout.flush()
        os._exit(code)
    return code


def _is_held_up() -> bool:
    """Whether threads are left: of an attempt that somebody else has taken over, the engine waits for that one's outcome."""
    end = time.monotonic() + _LAST_SECONDS
    while any(
        not thread.daemon and thread is not threading.current_thread()
        for thread in threading.enumerate()
    ):
        if time.monotonic() > end:
            return True
        time.sleep(0.01)
    return False
