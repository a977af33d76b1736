"""How a plan went: its attempts in time, and why verdicts were reached."""

from __future__ import annotations

from accordance.service.views.base import View
from accordance.service.views.bulk import BulkItemView


class TimelineAttemptView(View):
    """An attempt in time."""

    task_id: str
    title: str
    attempt: int
    is_review: bool
    holder: str | None
    executor: str | None
    model: str | None
    began_at: str
    ended_at: str | None  # null: it is still in work
    state: str | None  # of the task, when the attempt ended
    outcome: str | None
    reason_code: str | None


class TimelineMarkView(View):
    """Something that happened to the plan as a whole."""

    at: str
    kind: str


class TimelineView(View):
    """The attempts of a plan, in the order in which they began."""

    plan_id: str
    items: tuple[TimelineAttemptView, ...]
    left_out: int  # earlier attempts
    marks: tuple[TimelineMarkView, ...]


class ReasonView(View):
    """How often a verdict was reached for a reason."""

    outcome: str
    reason_code: str
    verdicts: int
    tasks: int
    example: str  # the newest message


class ReasonListView(View):
    """The verdicts of a plan by reason, the most frequent first."""

    plan_id: str
    verdicts: int
    items: tuple[ReasonView, ...]


class DeadLetterGroupView(View):
    """Dead letters that were given up for the same reason."""

    reason_code: str | None  # null: there was no verdict
    count: int
    plans: int
    example: str
    oldest: str
    newest: str
    items: tuple[BulkItemView, ...]  # to be requeued as they are, up to a bound


class DeadLetterGroupListView(View):
    """All dead letters of a filter by reason, the most frequent first."""

    total: int
    groups: tuple[DeadLetterGroupView, ...]
