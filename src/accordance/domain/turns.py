"""Turns: which task of a plan is taken up next.

Returned work comes first, because its author waits for it; then products to review,
which hold up what depends on them; then new work. Within a turn the priority decides,
then the place in the plan.
"""

from __future__ import annotations

from accordance.domain.lifecycle import CLAIMABLE, State
from accordance.domain.records import TaskRecord

RETURNED, TO_REVIEW, NEW = range(3)
"""The turns in their order; the ledger stores them."""


def turn_of(task: TaskRecord) -> int | None:
    """Return the turn of a task as it stands; None if it cannot be taken up."""
    state = task.progress.state
    if state in CLAIMABLE and task.is_work:
        return RETURNED if state is State.TO_BE_MODIFY else NEW
    is_free = task.lease is None and not task.is_checked
    if state is State.READY_TO_CHECK and is_free:
        return TO_REVIEW
    return None
