"""Signals: the first ends what runs in order, a second does not wait."""

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

from accordance.cli.exits import print_error

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_ENDINGS: Final = (signal.SIGTERM, signal.SIGHUP)
_SIGNAL_EXIT: Final = 128  # plus the number of the signal
_LAST_SECONDS: Final = 1.0  # for threads to end


@dataclass
class Stopped:
    """The signal that stopped a command, if any."""

    by: int | None = None

    @property
    def exit_code(self) -> int:
        """The exit code of a program that was ended by a signal."""
        return _SIGNAL_EXIT + (self.by or signal.SIGINT)


@contextlib.contextmanager
def stoppable(stop: Callable[[], None]) -> Iterator[Stopped]:
    """Call `stop` at the first signal; exit at once at the second."""
    stopped = Stopped()

    def on_signal(number: int, _: object) -> None:
        if stopped.by is not None:
            os._exit(_SIGNAL_EXIT + number)
        stopped.by = number
        print_error(
            "stopping: running attempts are ended or handed back (again to exit at once)"
        )
        stop()

    before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def tidied_up() -> Iterator[None]:
    """Turn a signal that would end the program at once into an exit that cleans up."""

    def end(number: int, _: object) -> None:
        raise SystemExit(_SIGNAL_EXIT + number)

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
    """Exit at once at a signal, because nothing can wake the thread that reads input.

    The ledger is safe: answers are stored, and a task that was taken up is handed out
    again when its lease ends.
    """

    def end(number: int, _: object) -> None:
        os._exit(_SIGNAL_EXIT + number)

    before = {number: signal.signal(number, end) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(code: int, *, is_clean: bool) -> int:
    """Return the exit code, or exit at once if something does not stop."""
    if not is_clean:
        print_error("something did not stop in time; the next run resumes it")
    if not is_clean or _has_threads_left():
        sys.stdout.flush()
        os._exit(code)
    return code


def _has_threads_left() -> bool:
    """Whether threads go on after a last second.

    Of an attempt that another worker has taken over, the engine waits for the outcome.
    """
    end = time.monotonic() + _LAST_SECONDS
    while _other_threads():
        if time.monotonic() > end:
            return True
        time.sleep(0.01)
    return False


def _other_threads() -> list[threading.Thread]:
    """The threads that keep the process from ending."""
    current = threading.current_thread()
    return [
        thread
        for thread in threading.enumerate()
        if not thread.daemon and thread is not current
    ]
