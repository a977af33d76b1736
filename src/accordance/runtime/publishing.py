"""Keeping the branches of plans where the ledger says they are.

The ledger is the truth, a branch is a copy. A kill may come between the two, and a
change that a person approves lands while nothing runs. So branches are moved as soon as
a change lands, when a run begins, and again from time to time.
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
from accordance.work.coding_keys import TAG
from accordance.work.coding_tasks import coding_tasks
from accordance.work.plan_head import head_of, replaced_heads

_SECONDS: Final = 10.0


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

    def publish(self, plan_id: str) -> str | None:
        """Move the branch of a plan if necessary; return why it cannot be moved."""
        with self.ledger.read() as tx:
            head = head_of(tx, plan_id)
            replaced = replaced_heads(tx, plan_id)
        return self._move(plan_id, head, replaced)

    def _move(
        self, plan_id: str, head: str | None, replaced: tuple[str, ...]
    ) -> str | None:
        if head is None or self._published.get(plan_id) == head:
            return None

        problem = self.workshop.publish(plan_id, head, replaced)
        if problem is None:
            self._published[plan_id] = head
            self._problems[plan_id] = ""
            return None

        if self._problems.get(plan_id) != problem:
            self.warn(f"{plan_id}: the changes are in the ledger, but {problem}")
        self._problems[plan_id] = problem
        return problem

    def attempt_ended(self, attempt: TaskAttempt, answer: Mapping[str, Any]) -> None:
        """Move the plan's branch if an attempt has landed a change.

        Either the change needs no review, or its review approved it.
        """
        may_have_landed = "commit" in answer or attempt.kind == "review"
        if not may_have_landed or answer.get("state") != State.DONE:
            return

        with self.ledger.read() as tx:
            task = tx.task(str(answer["task_id"]))
            head = head_of(tx, task.plan_id) if TAG in task.tags else None
            replaced = replaced_heads(tx, task.plan_id)
        self._move(task.plan_id, head, replaced)

    def catch_up(self) -> None:
        """Check all branches, unless that was done a moment ago."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self.seconds

        for plan_id in self._coding_plans():
            self.publish(plan_id)

    def _coding_plans(self) -> list[str]:
        """Return the plans that have a branch."""
        with self.ledger.read() as tx:
            if self.plan_id:
                plans = [tx.plan(self.plan_id)]
            else:
                plans = tx.plans()
            return [plan.plan_id for plan in plans if coding_tasks(tx, plan)]
