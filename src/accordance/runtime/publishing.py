"""Keeping the branches of plans where the ledger says they are.

The ledger is the truth, a branch is a copy. A kill may come between the two, and a
change that a person approves lands while nothing runs. So branches are moved as soon as
a change lands, when a run begins, and again from time to time.

A branch may live on a remote. Every machine pushes what the ledger says, so whichever
comes first is right; a remote that is away is left alone for a while, and holds up
nothing else.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from accordance.changes.remote_faults import RemoteCauses
from accordance.changes.workshop import Workshop
from accordance.domain.lifecycle import State
from accordance.errors import LedgerError
from accordance.runtime.going_on import go_on
from accordance.runtime.ports import TaskAttempt
from accordance.store.ledger import Ledger
from accordance.work.coding_keys import TAG
from accordance.work.coding_tasks import coding_tasks
from accordance.work.plan_head import head_of, replaced_heads

_SECONDS: Final = 10.0
_LONGEST_PAUSE: Final = 300.0  # before a branch that could not be moved is tried again
_REMOTE_CAUSES_SECONDS: Final = 30.0


class _Pause(NamedTuple):
    """How long a branch is left alone that could not be moved."""

    seconds: float
    until: float

    @classmethod
    def after(cls, last: _Pause | None) -> _Pause:
        """Return a pause twice as long as the last, within bounds."""
        seconds = min(_LONGEST_PAUSE, 2 * last.seconds) if last else _SECONDS
        return cls(seconds, time.monotonic() + seconds)


@dataclass
class Publishing:
    """Publishes the branch of a plan, or of all. May be used from any thread."""

    ledger: Ledger
    workshop: Workshop
    plan_id: str | None = None
    warn: Callable[[str], None] = lambda _: None  # called once for each problem
    seconds: float = _SECONDS  # between two looks at all branches
    _due: float = 0.0
    _problems: dict[str, str] = field(default_factory=dict)  # by plan, last warning
    _published: dict[str, str] = field(default_factory=dict)  # by plan: commit
    _pauses: dict[str, _Pause] = field(default_factory=dict)  # by plan
    _causes_due: float = 0.0
    _looking: threading.Thread | None = None

    def publish(self, plan_id: str) -> str | None:
        """Move the branch of a plan if necessary; return why it cannot be moved."""
        seen: str | None = None
        problem: str | None = None
        while True:
            with self.ledger.read() as tx:
                head = head_of(tx, plan_id)
                replaced = replaced_heads(tx, plan_id)
            if head is None or self._published.get(plan_id) == head:
                return None
            if head == seen:  # the plan has not moved on meanwhile
                break
            seen = head
            problem = self.workshop.publish(plan_id, head, replaced)
            if problem is None:
                self._succeed(plan_id, head)
                return None
        self._fail(plan_id, problem or "")
        return problem

    def _succeed(self, plan_id: str, head: str) -> None:
        self._published[plan_id] = head
        self._problems[plan_id] = ""
        self._pauses.pop(plan_id, None)

    def _fail(self, plan_id: str, problem: str) -> None:
        if self._problems.get(plan_id) != problem:
            self.warn(f"{plan_id}: the changes are in the ledger, but {problem}")
        self._problems[plan_id] = problem
        if self.workshop.cache is not None:
            self._pauses[plan_id] = _Pause.after(self._pauses.get(plan_id))

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Move the plan's branch if an attempt has landed a change.

        Either the change needs no review, or its review approved it.
        """
        may_have_landed = "commit" in answer or attempt.kind == "review"
        if not may_have_landed or answer.get("state") != State.DONE:
            return

        with self.ledger.read() as tx:
            task = tx.task(str(answer["task_id"]))
        if TAG in task.tags and not self._is_left_alone(task.plan_id):
            self.publish(task.plan_id)

    def _is_left_alone(self, plan_id: str) -> bool:
        """Whether the branch of a plan could not be moved a moment ago."""
        pause = self._pauses.get(plan_id)
        return pause is not None and time.monotonic() < pause.until

    def catch_up(self) -> None:
        """Check all branches, unless that was done a moment ago.

        The caller does not wait for a remote, but for the first time.
        """
        if time.monotonic() < self._due:
            return
        is_first = self._due == 0.0
        self._due = time.monotonic() + self.seconds
        if self.workshop.cache is None or is_first:
            self._catch_up()
            return

        if self._looking is None or not self._looking.is_alive():
            self._looking = threading.Thread(
                target=self._catch_up_aside, name="publishing", daemon=True
            )
            self._looking.start()

    def _catch_up_aside(self) -> None:
        with suppress(LedgerError):  # the next look finds out whether it stays away
            self._catch_up()

    def _catch_up(self) -> None:
        for plan_id in self._coding_plans():
            if not self._is_left_alone(plan_id):
                self.publish(plan_id)
        self._let_go_on()

    def _let_go_on(self) -> None:
        """Let tasks go on that waited for the remote, once it can be used again."""
        if self.workshop.cache is None or time.monotonic() < self._causes_due:
            return
        self._causes_due = time.monotonic() + _REMOTE_CAUSES_SECONDS
        go_on(self.ledger, RemoteCauses(self.workshop), self.plan_id, by="accordance")

    def _coding_plans(self) -> list[str]:
        """Return the plans that have a branch."""
        with self.ledger.read() as tx:
            if self.plan_id:
                plans = [tx.plan(self.plan_id)]
            else:
                plans = tx.plans()
            return [plan.plan_id for plan in plans if coding_tasks(tx, plan)]
