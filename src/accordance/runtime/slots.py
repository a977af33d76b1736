"""How much runs at once in this process: a slot for each run.

Slots are bounded for each queue, for each executor, and in total. Work is taken up only
where a slot is free, so that nothing waits here that another process could begin.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What a queue may use."""

    runs: int  # at once, in a process
    executor: str = ""  # whose runs are counted together
    executor_runs: int | None = None  # at once, over all queues of that executor
    per_minute: int | None = None  # begun, by all processes together


@dataclass(frozen=True, slots=True)
class Slot:
    """A run in this process."""

    name: str  # of its workflow
    queue: str
    stop: threading.Event = field(default_factory=threading.Event)


class _Waiting(NamedTuple):
    """A workflow that was put into a queue and has no slot here yet."""

    queue: str
    since: float
    is_ours: bool  # no other process can begin it


@dataclass
class Slots:
    """The slots of this process. Its methods may be called from any thread."""

    bounds: Mapping[str, Bound]
    most: int | None = None  # runs at once, whatever the queues allow
    _running: dict[int, Slot] = field(default_factory=dict)
    _waiting: dict[str, _Waiting] = field(default_factory=dict)  # by workflow
    _rests_until: dict[str, float] = field(default_factory=dict)  # by queue
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False

    # -- room

    def room(self, queue: str, beside: Sequence[str] = ()) -> int:
        """Return how many more attempts may be put into a queue.

        `beside` are the queues of attempts that are about to be queued.
        """
        with self._changed:
            running = self._queues_in_use()
            waiting = [entry.queue for entry in self._waiting.values()]
            return self._left(queue, [*running, *waiting, *beside])

    def roomy(self, beside: Sequence[str] = ()) -> frozenset[str]:
        """Return the queues that have room for more."""
        return frozenset(queue for queue in self.bounds if self.room(queue, beside))

    @property
    def any_room(self) -> int:
        """How many more attempts may be taken up in the roomiest queue."""
        rooms = [self.room(queue) for queue in self.bounds]
        return max(rooms, default=0)

    def free(self, queue: str) -> int:
        """Return how many queued attempts may begin here now."""
        with self._changed:
            running = self._queues_in_use()
            ours = [entry.queue for entry in self._waiting.values() if entry.is_ours]
            return self._left(queue, [*running, *ours])

    def _queues_in_use(self) -> list[str]:
        return [slot.queue for slot in self._running.values()]

    def _left(self, queue: str, used: list[str]) -> int:
        """Return how many more attempts of a queue may run beside those in `used`."""
        bound = self.bounds.get(queue)
        if bound is None:  # begun while the queue was still configured
            return 1
        if self._rest_left(queue):
            return 0

        left = bound.runs - used.count(queue)
        if bound.executor_runs is not None:
            used_by_executor = self._count_of_executor(bound.executor, used)
            left = min(left, bound.executor_runs - used_by_executor)
        if self.most is not None:
            left = min(left, self.most - len(used))
        return max(0, left)

    def _count_of_executor(self, executor: str, used: list[str]) -> int:
        count = 0
        for queue in used:
            bound = self.bounds.get(queue)
            if bound is not None and bound.executor == executor:
                count += 1
        return count

    # -- rests

    def rest(self, queue: str, seconds: float) -> None:
        """Begin nothing of a queue for so many seconds."""
        until = time.monotonic() + seconds
        with self._changed:
            earlier = self._rests_until.get(queue, 0.0)
            self._rests_until[queue] = max(earlier, until)

    def _rest_left(self, queue: str) -> float:
        """Return for how many seconds nothing of a queue begins."""
        until = self._rests_until.get(queue, 0.0)
        return max(0.0, until - time.monotonic())

    # -- waiting

    def put(self, name: str, queue: str, *, is_ours: bool = False) -> None:
        """Note that a workflow was put into a queue, for any process or for this one."""
        with self._changed:
            self._waiting[name] = _Waiting(queue, time.monotonic(), is_ours)

    def withdraw(self, name: str) -> None:
        """Note that a workflow waits for no slot any more."""
        with self._changed:
            self._waiting.pop(name, None)

    @property
    def any_waits(self) -> bool:
        """Whether a workflow waits that any process may begin, as far as is known."""
        with self._changed:
            return any(not entry.is_ours for entry in self._waiting.values())

    def forget(
        self, still_queued: Callable[[list[str]], Iterator[str]], seconds: float = 1.0
    ) -> None:
        """Forget workflows that another process has begun.

        They have waited for long, and `still_queued` no longer returns them.
        """
        long_ago = time.monotonic() - seconds
        with self._changed:
            names = [
                name
                for name, entry in self._waiting.items()
                if entry.since < long_ago and not entry.is_ours
            ]
        if not names:
            return

        begun = set(names).difference(still_queued(names))
        with self._changed:
            for name in begun:
                self._waiting.pop(name, None)

    # -- running

    def begin(self, name: str, queue: str) -> Slot:
        """Return a slot for a run, as soon as there is one."""
        slot = Slot(name, queue)
        with self._changed:
            rest = self._rest_left(queue)
            while not self._closed and (rest or not self._has_slot(queue)):
                self._changed.wait(rest or None)
                rest = self._rest_left(queue)
            self._waiting.pop(name, None)
            self._running[id(slot)] = slot
        return slot

    def _has_slot(self, queue: str) -> bool:
        running = self._queues_in_use()
        return self._left(queue, running) > 0

    def end(self, slot: Slot) -> None:
        """Give a slot back. May be called twice."""
        with self._changed:
            self._running.pop(id(slot), None)
            self._changed.notify_all()

    def refuse(self) -> None:
        """Let nothing more begin; what runs goes on."""
        with self._changed:
            self.most = 0

    def close(self) -> None:
        """Let nothing wait any longer, and tell the running attempts to stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for slot in self._running.values():
                slot.stop.set()

    def running(self) -> list[Slot]:
        """Return the slots in use."""
        with self._changed:
            return list(self._running.values())

    @property
    def busy(self) -> bool:
        """Whether something runs here, or waits to."""
        with self._changed:
            return bool(self._running or self._waiting)
