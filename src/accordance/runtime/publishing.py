"""Letting the branches of plans stand where the ledger says: as soon as a change lands, and now and then.

The ledger is the truth, a branch is a copy. A kill may come between the two, and what a person approves lands without anybody
who runs being there: so a run looks after the branches when it begins, and again from time to time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from accordance.changes.attempt import Workshop
from accordance.domain.lifecycle import State
from accordance.runtime.ports import TaskAttempt
from accordance.store.ledger import Ledger
from accordance.work.coding_tasks import TAG, coding_tasks
from accordance.work.landing import head_of

_SECONDS: Final = 10.0


@dataclass
class Publishing:
    """Looks after the branches of one plan, or of all. Its methods may be called from any thread."""

    ledger: Ledger
    workshop: Workshop
    plan_id: str | None = None
    warn: Callable[[str], None] = lambda _: (
        None
    )  # is told why a branch cannot be moved, once
    seconds: float = _SECONDS  # between two looks at everything
    _due: float = 0.0
    _why_not: dict[str, str] = field(default_factory=dict)  # by plan: the last warning
    _stands_at: dict[str, str] = field(
        default_factory=dict
    )  # by plan: where we have seen its branch

    def publish(self, plan_id: str) -> str | None:
        """Move the branch of a plan, if it is not where it should be; why not, if it cannot be moved."""
        with self.ledger.read() as tx:
            head = head_of(tx, plan_id)
        return self._move(plan_id, head)

    def _move(self, plan_id: str, head: str | None) -> str | None:
        if head is None or self._stands_at.get(plan_id) == head:
            return None
        why_not = self.workshop.publish(plan_id, head)
        if why_not is None:
            self._stands_at[plan_id] = head
        elif self._why_not.get(plan_id) != why_not:
            self.warn(f"{plan_id}: the changes are in the ledger, but {why_not}")
        self._why_not[plan_id] = why_not or ""
        return why_not

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Move the plan's branch if an attempt has landed a change: one that needs no review, or whose review approved it."""
        may_have_landed = "commit" in answer or attempt.kind == "review"
        if not may_have_landed or answer.get("state") != State.DONE:
            return
        with self.ledger.read() as tx:
            task = tx.task(str(answer["task_id"]))
            head = head_of(tx, task.plan_id) if TAG in task.tags else None
        self._move(task.plan_id, head)

    def catch_up(self) -> None:
        """Look at all branches, unless that was done a moment ago."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self.seconds
        with self.ledger.read() as tx:
            plans = [tx.plan(self.plan_id)] if self.plan_id else tx.plans()
            coded = [plan.plan_id for plan in plans if coding_tasks(tx, plan)]
        for plan_id in coded:
            self.publish(plan_id)
