"""Turns: which task of a plan is taken up next.

Returned work comes first, because its author waits for it; then products to review,
which hold up what depends on them; then new work. Within a turn the priority decides,
then the place in the plan.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

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


def in_line(
    tasks: Iterable[TaskRecord],
    kinds: tuple[str, ...] = (),
    after: TaskRecord | None = None,
) -> list[TaskRecord]:
    """Return the tasks that can be taken up, of some kinds of nodes or of all, in order.

    With `after`, only those behind that task.
    """
    behind = None if after is None else _place_in_line(after)
    places = []
    for task in tasks:
        place = _place_in_line(task)
        if place is None or (kinds and task.node_type not in kinds):
            continue
        if behind is None or place > behind:
            places.append((place, task))
    places.sort(key=itemgetter(0))
    return [task for _, task in places]


def _place_in_line(task: TaskRecord) -> tuple[int, int, int] | None:
    turn = turn_of(task)
    return None if turn is None else (turn, -task.priority, task.place)
