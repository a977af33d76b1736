"""Threads: those that carry attempts out, and the one that begins queued attempts.

Most attempts never wait in the queue: the process that takes a task up has a slot for
it and begins it at once. What does wait was left behind by a dead worker, or may not
begin yet because its queue has a rate. One thread looks for that: when it is rung, and
from time to time.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import TypeAlias

Work: TypeAlias = Callable[[], None]


class Threads:
    """As many threads as there is work at once. A thread that has ended waits for more."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0
        self._is_stopped = False

    def begin(self, work: Work) -> None:
        """Do it now, in a thread of its own."""
        with self._lock:
            if self._idle:
                self._idle -= 1
                self._work.put(work)
                return
        threading.Thread(
            target=self._do, args=(work,), name="attempt", daemon=True
        ).start()

    def stop(self) -> None:
        """Let the threads end, each when its work is done."""
        with self._lock:
            self._is_stopped = True
            for _ in range(self._idle):
                self._work.put(None)
            self._idle = 0

    def _do(self, work: Work | None) -> None:
        while work is not None:
            work()
            with self._lock:
                if self._is_stopped:
                    return
                self._idle += 1
            work = self._work.get()


class Dispatcher:
    """The thread that begins queued attempts."""

    def __init__(self, begin_queued: Work, pause: Callable[[], float]) -> None:
        self._begin_queued = begin_queued
        self._pause = pause  # how long to wait for a ring
        self._changed = threading.Condition()
        self._is_rung = False
        self._is_stopped = False
        self._thread = threading.Thread(
            target=self._dispatch, name="dispatcher", daemon=True
        )

    def start(self) -> None:
        """Look now, and from time to time."""
        self._thread.start()

    def ring(self) -> None:
        """Look now: something was queued, or a slot has become free."""
        with self._changed:
            self._is_rung = True
            self._changed.notify()

    def stop(self) -> None:
        """Begin nothing more."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify()
        self._thread.join()

    def _dispatch(self) -> None:
        while not self._is_stopped:
            # The database may be away; the next look tries again.
            with contextlib.suppress(Exception):
                self._begin_queued()
            with self._changed:
                if not self._is_rung and not self._is_stopped:
                    self._changed.wait(self._pause())
                self._is_rung = False
