"""Beginning queued work at once: DBOS polls its queues, and a bell tells it when.

The thread of a queue sleeps between two polls. Here it sleeps long, and is woken when
something is put into the queue. While something waits that could not begin yet, it
polls again after a few milliseconds.
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

_SHORTEST_SECONDS: Final = 0.02
_SOON_SECONDS: Final = 0.1
"""Work that has not begun by then was begun elsewhere, or waits for a slot anyway."""


class Bell:
    """Replaces the event by which DBOS ends the thread of a queue.

    Waiting on it ends early when the bell is rung.
    """

    def __init__(self, is_awaited: Callable[[], bool]) -> None:
        self._is_awaited = is_awaited
        self._changed = threading.Condition()
        self._rung = False
        self._stopped = False
        self._pause = _SHORTEST_SECONDS

    def ring(self, *, at_once: bool = True) -> None:
        """Wake the thread now, or in a moment."""
        with self._changed:
            self._rung = self._rung or at_once
            self._pause = _SHORTEST_SECONDS
            self._changed.notify_all()

    def stop(self) -> None:
        """End the thread."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def is_set(self) -> bool:
        """Whether the thread is to end."""
        return self._stopped

    def wait(self, timeout: float) -> bool:
        """Sleep until the bell rings or the time is up.

        Return whether the thread is to end.
        """
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
    """The threads that begin queued work in this process: one for each queue."""

    def __init__(self, engine: DBOS, queues: Mapping[str, Queue], slots: Slots) -> None:
        self._slots = slots
        self._bells: dict[str, Bell] = {}
        self._threads: list[threading.Thread] = []

        for name, queue in queues.items():
            bell = Bell(partial(slots.waits, name, _SOON_SECONDS))
            thread = threading.Thread(
                target=queue_worker_thread,
                args=(bell, engine, queue),
                name=f"queue-{name}",
                daemon=True,
            )
            self._bells[name] = bell
            self._threads.append(thread)
            thread.start()

    def ring(self, queue: str) -> None:
        """Wake the thread of a queue: it has new work, or a slot has become free.

        At once if the queue is idle; otherwise in a moment, for several together.
        """
        if queue in self._bells and self._slots.waits(queue):
            self._bells[queue].ring(at_once=self._slots.is_idle(queue))

    def stop(self) -> None:
        """Begin nothing more."""
        for bell in self._bells.values():
            bell.stop()
        for thread in self._threads:
            thread.join()
