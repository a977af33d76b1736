"""Being told to stop: the first signal lets what runs come to an end, a second one does not wait."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Final

from accordance.cli.exits import one_line

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_BY_A_SIGNAL: Final = 128


@contextlib.contextmanager
def stoppable(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` at the first signal; leave at once at the second."""
    told = False

    def ask(number: int, _: object) -> None:
        nonlocal told
        if told:
            os._exit(_BY_A_SIGNAL + number)
        told = True
        one_line("stopping: what runs is ended or handed back (again to leave at once)")
        stop()

    before = {number: signal.signal(number, ask) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def leave(code: int, *, is_clean: bool) -> int:
    """The exit code; a run that does not end although it was told to is not waited for."""
    if not is_clean:
        one_line("something did not stop in time; whoever runs next goes on with it")
        sys.stdout.flush()
        os._exit(code)
    return code
