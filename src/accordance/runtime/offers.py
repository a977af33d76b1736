"""Ready tasks offered to executors: what was queued, and what could not begin."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from accordance.domain.faults import Fault
from accordance.work.parallel_changes import ChangeBounds
from accordance.work.taking import Taken

if TYPE_CHECKING:
    from accordance.runtime.attempt_queue import ClaimedAttempt


class TakenUp(NamedTuple):
    """A task that was taken up, and the queue that its attempt goes into."""

    queue: str
    taken: Taken


class QueuedAttempt(NamedTuple):
    """An attempt that was queued, and maybe begun at once by the same process."""

    workflow: str
    queue: str
    claimed: ClaimedAttempt | None = None  # None: any process may begin it


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no executor here can begin a task."""

    fault: Fault
    text: str
    lacks: str  # what is missing outside the task
    queue: str = ""  # where another worker may begin it


@dataclass
class Offers:
    """The ready tasks of a plan, offered in turn. Filled by the scheduler."""

    most: int | None  # attempts that may be queued; None: as many as there is room for
    roomy: frozenset[str]  # queues that have room
    taken_up: list[TakenUp] = field(default_factory=list)
    queued: list[QueuedAttempt] = field(default_factory=list)  # at the end, all of them
    waits_for_room: bool = False  # a task could begin here if a slot were free
    waits_elsewhere: bool = False  # a task waits for an outside worker
    waits_for_budget: str = ""  # why a task waits until running attempts have ended
    short_queues: set[str] = field(default_factory=set)
    """Queues of which nothing more begins now, for want of budget."""
    unstartable: dict[str, Obstacle] = field(default_factory=dict)  # by task
    changes: ChangeBounds = field(default_factory=lambda: ChangeBounds(most=1))

    @property
    def is_full(self) -> bool:
        """Whether nothing more can be queued."""
        return not self.roomy or len(self.taken_up) == self.most
