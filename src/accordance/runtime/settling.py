"""Attempts of a plan that are settled together.

Settling locks the plan, so the attempts of a plan are settled in turn. While a worker
waits for its turn, more of its attempts may end; when it has the plan, it settles all
of them in one transaction. What such a transaction costs beside the attempts themselves,
such as the lock, the seals, the plan's row and the commit, is then shared by them.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from accordance.runtime.offers import QueuedAttempt
from accordance.runtime.ports import QueueingTransaction, Settled

Settle: TypeAlias = Callable[[QueueingTransaction], Settled]
TakeUp: TypeAlias = Callable[[QueueingTransaction], list[QueuedAttempt]]

Gather: TypeAlias = "Callable[[], list[EndedRun]]"
"""Returns the attempts that are to be settled now."""

MOST: Final = 20
"""Attempts that are settled in one transaction."""


@dataclass(eq=False)
class EndedRun:
    """An attempt whose run has ended, and whose thread waits until it is settled."""

    workflow: str
    settle: Settle
    take_up: TakeUp
    """Takes up what can begin, once all of them are settled."""
    context: Context = field(default_factory=copy_context)
    """Whose spans and log lines those of its settling are."""
    settled: Settled | None = None
    error: Exception | None = None
    afterwards: list[Callable[[], None]] = field(default_factory=list)
    """What its own thread does once it was settled."""
    has_turn: threading.Event = field(default_factory=threading.Event)
    """Set when it has been settled, or when its thread is to settle what waits."""

    @property
    def is_over(self) -> bool:
        """Whether it was settled, or could not be."""
        return self.settled is not None or self.error is not None

    def outcome(self) -> Settled:
        """Return what came of it. Raises what went wrong."""
        if self.settled is None:
            raise self.error or RuntimeError(f"{self.workflow} was not settled")
        return self.settled


class Turns:
    """Which thread of this process settles a plan, and which attempts wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, deque[EndedRun]] = {}
        """By plan, as long as a thread settles it."""

    def wait_for(self, plan_id: str, ended: EndedRun) -> None:
        """Return when an attempt was settled, or when it is this thread's turn."""
        with self._lock:
            waiting = self._waiting.get(plan_id)
            if waiting is None:
                self._waiting[plan_id] = deque()
                return
            waiting.append(ended)
        ended.has_turn.wait()

    def gather(self, plan_id: str, most: int) -> list[EndedRun]:
        """Return so many of those that wait; the thread whose turn it is settles them."""
        gathered: list[EndedRun] = []
        with self._lock:
            waiting = self._waiting[plan_id]
            while waiting and len(gathered) < most:
                gathered.append(waiting.popleft())
        return gathered

    def pass_on(self, plan_id: str) -> None:
        """End the turn of this thread; the next that waits has its turn."""
        with self._lock:
            waiting = self._waiting[plan_id]
            if not waiting:
                del self._waiting[plan_id]
                return
            following = waiting.popleft()
        following.has_turn.set()


@dataclass
class Settling:
    """Settles the attempts of this process, those of a plan together."""

    settle_in_plan: Callable[[str, Gather], list[Settled]]
    """Locks a plan and settles, in one transaction, what is gathered then."""
    turns: Turns = field(default_factory=Turns)

    def settle(self, plan_id: str, ended: EndedRun) -> Settled:
        """Return when an attempt is settled, by this thread or by another."""
        self.turns.wait_for(plan_id, ended)
        if not ended.is_over:
            try:
                self._settle_what_waits(plan_id, ended)
            finally:
                self.turns.pass_on(plan_id)

        settled = ended.outcome()
        for act in ended.afterwards:
            act()
        return settled

    def _settle_what_waits(self, plan_id: str, first: EndedRun) -> None:
        """Settle an attempt, with all that wait when the plan is locked.

        If they cannot be settled together, each is settled by itself: what is wrong
        with one of them is nothing to the others.
        """
        runs = [first]

        def gather() -> list[EndedRun]:
            runs.extend(self.turns.gather(plan_id, MOST - len(runs)))
            return runs

        try:
            all_settled = self.settle_in_plan(plan_id, gather)
            for ended, settled in zip(runs, all_settled, strict=True):
                ended.settled = settled
        except Exception as error:  # noqa: BLE001 - raised where the attempt is carried out
            if len(runs) == 1:
                first.error = error
            else:
                for ended in runs:
                    self._settle_alone(plan_id, ended)
        finally:
            for ended in runs[1:]:
                ended.has_turn.set()

    def _settle_alone(self, plan_id: str, ended: EndedRun) -> None:
        try:
            [ended.settled] = self.settle_in_plan(plan_id, lambda: [ended])
        except Exception as error:  # noqa: BLE001 - raised where the attempt is carried out
            ended.error = error


def settle_all(unit: QueueingTransaction, runs: Sequence[EndedRun]) -> list[Settled]:
    """Settle attempts one after another, and take up what can begin then."""
    all_settled = []
    for ended in runs:
        settled = ended.context.run(ended.settle, unit)
        ended.afterwards = unit.tx.take_afterwards()
        all_settled.append(settled)

    queued = runs[-1].take_up(unit)
    all_settled[-1] = replace(all_settled[-1], queued=queued)
    return all_settled
