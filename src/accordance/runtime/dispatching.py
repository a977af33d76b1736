"""Giving queued work to threads at once: DBOS asks its queues again and again, a bell tells it when to.

A queue's thread sleeps between two looks. Here it sleeps long, and is woken when something was put into the queue; while
something waits that could not be begun yet, it looks again after a few milliseconds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from dbos import DBOS, Queue
from dbos._queue import queue_worker_thread  # pinned, and held by a test

from accordance.runtime.slots import Slots

_SHORTEST_SECONDS: Final = 0.008
_SOON_SECONDS: Final = 0.1  # what is not begun by then was begun elsewhere, or has to wait for a slot anyway


class Bell:
    """Stands where DBOS has the event that ends a queue's thread: waiting on it ends early when it is rung."""

    def __init__(self, is_awaited: Callable[[], bool]) -> None:
        self._is_awaited = is_awaited
        self._changed = threading.Condition()
        self._rung = False
        self._stopped = False
        self._pause = _SHORTEST_SECONDS

    def ring(self, *, at_once: bool = True) -> None:
        """Look now, or in a moment."""
        with self._changed:
            self._rung = self._rung or at_once
            self._pause = _SHORTEST_SECONDS
            self._changed.notify_all()

    def stop(self) -> None:
        """Look no more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def is_set(self) -> bool:
        """Whether the thread shall end."""
        return self._stopped

    def wait(self, timeout: float) -> bool:
        """Sleep until the bell is rung, or it is time. Whether the thread shall end."""
        end = time.monotonic() + timeout
        with self._changed:
            while not (self._rung or self._stopped):
                left = end - time.monotonic()
                pause = min(left, self._pause) if self._is_awaited() else left
                if pause <= 0 or not self._changed.wait(pause):
                    self._pause *= 2
                    break
            self._rung = False
            return self._stopped


class Dispatch:
    """The threads that begin queued work in this process, one for each queue."""

    def __init__(self, engine: DBOS, queues: Mapping[str, Queue], slots: Slots) -> None:
        self._slots = slots
        self._bells = {
            name: Bell(partial(slots.waits, name, _SOON_SECONDS)) for name in queues
        }
        self._threads = [
            threading.Thread(
                target=queue_worker_thread,
                args=(self._bells[name], engine, queue),
                name=f"queue-{name}",
                daemon=True,
            )
            for name, queue in queues.items()
        ]
        for thread in self._threads:
            thread.start()

    def ring(self, queue: str) -> None:
        """Something was put into a queue, or a slot became free: look at once, or in a moment for several together."""
        if queue in self._bells and self._slots.waits(queue):
            self._bells[queue].ring(at_once=self._slots.is_idle(queue))

    def stop(self) -> None:
        """Begin nothing more."""
        for bell in self._bells.values():
            bell.stop()
        for thread in self._threads:
            thread.join()
