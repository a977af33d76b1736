"""How much runs at once in this process: a slot for each run, bounded for each queue, each executor, and all together.

Work is taken up only where a slot is free, so that nothing lies in a queue of ours that somebody else could have begun.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """What one queue may use."""

    runs: int  # at once, in one process
    executor: str = ""  # whose runs are counted together
    executor_runs: int | None = (
        None  # at once, in one process, over all queues of that executor
    )
    per_minute: int | None = None  # begun, by all processes together


@dataclass(frozen=True, slots=True)
class Slot:
    """One run that is going on here."""

    name: str  # of its workflow
    queue: str
    stop: threading.Event = field(default_factory=threading.Event)


@dataclass
class Slots:
    """The slots of this process. Its methods may be called from any thread."""

    bounds: Mapping[str, Bound]
    most: int | None = None  # runs at once, whatever the queues allow
    _running: dict[int, Slot] = field(default_factory=dict)
    _waiting: dict[str, tuple[str, float]] = field(
        default_factory=dict
    )  # by workflow: its queue, and since when
    _rests: dict[str, float] = field(
        default_factory=dict
    )  # by queue: nothing of it begins before then
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False

    def room(self, queue: str, beside: Sequence[str] = ()) -> int:
        """How many more may be put into a queue, beside those that are about to be put into these."""
        with self._changed:
            waiting = [queue for queue, _ in self._waiting.values()]
            return self._left(queue, [*self._queues_in_use(), *waiting, *beside])

    def roomy(self, beside: Sequence[str] = ()) -> frozenset[str]:
        """The queues that have room for more."""
        return frozenset(queue for queue in self.bounds if self.room(queue, beside))

    def _queues_in_use(self) -> list[str]:
        return [slot.queue for slot in self._running.values()]

    def _left(self, queue: str, used: list[str]) -> int:
        """How many more of a queue may run beside those that are used up."""
        bound = self.bounds.get(queue)
        if bound is None:  # work that was begun when the queue was still there
            return 1
        if self._rest_left(queue):
            return 0
        left = bound.runs - used.count(queue)
        if bound.executor_runs is not None:
            known = [self.bounds[name] for name in used if name in self.bounds]
            alike = [other for other in known if other.executor == bound.executor]
            left = min(left, bound.executor_runs - len(alike))
        if self.most is not None:
            left = min(left, self.most - len(used))
        return max(0, left)

    @property
    def any_room(self) -> int:
        """How many more may be taken up at all."""
        return max((self.room(queue) for queue in self.bounds), default=0)

    def rest(self, queue: str, seconds: float) -> None:
        """Begin nothing of a queue for so long."""
        with self._changed:
            self._rests[queue] = max(
                self._rests.get(queue, 0.0), time.monotonic() + seconds
            )

    def _rest_left(self, queue: str) -> float:
        """For how many seconds nothing of a queue begins."""
        return max(0.0, self._rests.get(queue, 0.0) - time.monotonic())

    def put(self, name: str, queue: str) -> None:
        """A workflow was put into a queue."""
        with self._changed:
            self._waiting[name] = (queue, time.monotonic())

    def waits(self, queue: str, seconds: float = float("inf")) -> bool:
        """Whether something that was put into a queue, at most so long ago, has not begun yet, as far as is known here."""
        since = time.monotonic() - seconds
        with self._changed:
            return any(
                waiting == queue and put >= since
                for waiting, put in self._waiting.values()
            )

    def is_idle(self, queue: str) -> bool:
        """Whether nothing of a queue runs here."""
        with self._changed:
            return queue not in self._queues_in_use()

    def begin(self, name: str, queue: str) -> Slot:
        """A run begins here, as soon as it may."""
        slot = Slot(name, queue)
        with self._changed:
            self._waiting.pop(name, None)
            rest = self._rest_left(queue)
            while not self._closed and (
                rest or not self._left(queue, self._queues_in_use())
            ):
                self._changed.wait(rest or None)
                rest = self._rest_left(queue)
            self._running[id(slot)] = slot
        return slot

    def end(self, slot: Slot) -> None:
        """A run is over; once is enough."""
        with self._changed:
            self._running.pop(id(slot), None)
            self._changed.notify_all()

    def close(self) -> None:
        """Let nobody wait any more; what runs is told to stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for slot in self._running.values():
                slot.stop.set()

    def running(self) -> list[Slot]:
        """What runs here now."""
        with self._changed:
            return list(self._running.values())

    @property
    def busy(self) -> bool:
        """Whether something runs here, or waits to."""
        with self._changed:
            return bool(self._running or self._waiting)

    def forget(
        self, is_queued: Callable[[list[str]], Iterator[str]], seconds: float = 1.0
    ) -> None:
        """Let go of what another process has begun: what has waited for long, and is queued no more."""
        long_ago = time.monotonic() - seconds
        with self._changed:
            names = [
                name for name, (_, since) in self._waiting.items() if since < long_ago
            ]
        if names:
            queued = set(is_queued(names))
            with self._changed:
                for name in names:
                    if name not in queued:
                        self._waiting.pop(name, None)
