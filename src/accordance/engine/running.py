"""Carrying plans out: what can begin is taken up and given to its executor, until nothing moves without a person."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord
from accordance.engine.durable import Attempt, Durable, Run
from accordance.engine.home import Home
from accordance.engine.inputs import look_at_inputs
from accordance.engine.working import Nothing, take_in
from accordance.store.failures import translated
from accordance.store.opening import now, open_ledger
from accordance.store.sql import SqlTransaction, within

_LOOK_SECONDS: Final = 0.5  # how often somebody else's doings are looked for
_LEASE_SECONDS: Final = 24 * 3600  # the engine takes over what is left behind, long before
Queue = Callable[[TaskRecord], str | None]


@dataclass
class Runner:
    """Takes up tasks of one plan, or of all, for as long as it runs."""

    place: str
    home: Home
    run: Run
    queue_of: Queue
    queues: Mapping[str, int]
    plan_id: str | None = None
    executor_id: str = "local"
    heard: Callable[[Attempt, Mapping[str, Any]], None] = lambda *_: None
    _wake: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.durable = Durable(
            self.place, self.home, self.run, self.queues, self.executor_id, settled=self._settled
        )
        self.ledger = open_ledger(self.place)

    def _settled(self, one: Attempt, answer: Mapping[str, Any]) -> None:
        self.heard(one, answer)
        self._wake.set()

    def until_it_rests(self) -> Nothing:
        """Run until nothing moves without a person. Why it rests."""
        self.durable.start()
        try:
            while True:
                self._wake.clear()
                rests = self._take_what_can_be_taken()
                if rests is not None:
                    return rests
                self._wake.wait(_LOOK_SECONDS)
        finally:
            self.durable.stop()
            self.ledger.close()

    def _take_what_can_be_taken(self) -> Nothing | None:
        """Take up as much as can be run at once, in one transaction for each plan. A reason if nothing is left to do."""
        files = look_at_inputs(self.ledger, self.home)
        with self.ledger.read() as tx:
            plans = [tx.plan(self.plan_id)] if self.plan_id else tx.plans()
        reasons = [self._take_in_plan(plan.plan_id, files) for plan in plans]
        if any(reason in (None, Nothing.BUSY) for reason in reasons):
            return None
        return next((one for one in reasons if one is not Nothing.FINISHED), Nothing.FINISHED)

    def _take_in_plan(self, plan_id: str, files: list[Any]) -> Nothing | None:
        room = sum(self.queues.values())
        engine = self.durable.engine
        with translated(engine), engine.begin() as connection, within(connection, now()) as tx:
            free = room - _in_work(tx, plan_id, room)
            elsewhere: set[str] = set()  # what somebody asks for with `task next`
            while free:
                task = tx.next_turn(plan_id, (), elsewhere)
                queue = self.queue_of(task) if task else None
                if task is not None and queue is None:
                    elsewhere.add(task.task_id)
                    continue
                taken = take_in(tx, plan_id, files, self.executor_id, _LEASE_SECONDS, without=elsewhere)
                if isinstance(taken, Nothing):
                    return Nothing.BUSY if elsewhere else taken
                self.durable.enqueue(connection, self.queue_of(taken.task) or "", taken)
                free -= 1
        return None


def _in_work(tx: SqlTransaction, plan_id: str, most: int) -> int:
    """How many tasks of a plan are being worked on; no more than `most` are counted."""
    count = 0
    for _ in tx.tasks(plan_id, State.IN_PROGRESS):
        count += 1
        if count >= most:
            break
    return count
