"""What was given up."""

from __future__ import annotations

from accordance.domain.lifecycle import State
from accordance.domain.records import TaskRecord, VerdictRecord
from accordance.service.views.base import PageView, View


class DeadLetterView(View):
    """A task that was given up, and the last verdict on it."""

    task_id: str
    plan_id: str
    title: str
    attempts: int
    last_error: str | None
    outcome: str | None
    reason_code: str | None
    messages: tuple[str, ...]
    since: str


class DeadLetterPageView(PageView):
    """A page of dead letters."""

    items: tuple[DeadLetterView, ...]


class MovedTaskView(View):
    """Where a task stands after a person has moved it."""

    task_id: str
    state: State


class CancelledTaskView(MovedTaskView):
    """A task that was cancelled, and those that were cancelled along with it."""

    along: tuple[str, ...]


def dead_letter_view(task: TaskRecord, last: VerdictRecord | None) -> DeadLetterView:
    """Show a dead letter."""
    return DeadLetterView(
        task_id=task.task_id,
        plan_id=task.plan_id,
        title=task.title,
        attempts=task.progress.standing.counters.attempts,
        last_error=task.last_error,
        outcome=last.outcome if last else None,
        reason_code=last.reason_code if last else None,
        messages=last.messages if last else (),
        since=task.updated_at,
    )
