"""The lists of a ledger that are read page by page: what is in them, in which order.

A page is read by the key of the item before it (keyset), never by counting, so that
the thousandth page costs what the first does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from accordance.domain.chain import ChainEntry
from accordance.domain.filters import Filter, Subject
from accordance.domain.paging import (
    Key,
    Page,
    PageRequest,
    read_cursor,
    write_cursor,
)
from accordance.domain.records import PlanRecord, QuestionRecord, TaskRecord

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Listing(Generic[Record]):
    """A list: its subject, and the key that an item has in its order."""

    subject: Subject
    key: Callable[[Record], Key]
    key_types: tuple[type, ...]

    def begins_behind(self, wanted: Filter, request: PageRequest) -> Key | None:
        """Return the key that a page begins behind; none for the first page."""
        if request.cursor is None:
            return None
        return read_cursor(wanted.listing, request.cursor, self.key_types)

    def page(
        self, wanted: Filter, request: PageRequest, records: Sequence[Record]
    ) -> Page[Record]:
        """Make a page of the records that follow; an item more was read than fits."""
        items = tuple(records[: request.limit])
        if len(records) <= request.limit:
            return Page(items=items)
        last = self.key(items[-1])
        return Page(items=items, next=write_cursor(wanted.listing, last))


def _plan_key(plan: PlanRecord) -> Key:
    return plan.imported_at, plan.plan_id


def _task_key(task: TaskRecord) -> Key:
    return task.plan_id, task.place


def _event_key(entry: ChainEntry) -> Key:
    return entry.number or 0, entry.seq


def _question_key(question: QuestionRecord) -> Key:
    return question.asked_at, question.question_id


PLAN_LIST: Final = Listing(Subject.PLANS, _plan_key, (str, str))
"""The newest first."""
TASK_LIST: Final = Listing(Subject.TASKS, _task_key, (str, int))
"""By plan, in the plan's order."""
DEAD_LETTER_LIST: Final = Listing(Subject.DEAD_LETTERS, _task_key, (str, int))
"""The tasks that were given up, in the same order."""
EVENT_LIST: Final = Listing(Subject.EVENTS, _event_key, (int, int))
"""By number. Within one plan the place in its chain says the same, and has an index."""
QUESTION_LIST: Final = Listing(Subject.QUESTIONS, _question_key, (str, str))
"""The oldest first."""


def cursor_after(wanted: Filter, number: int, seq: int = 0) -> str:
    """Return the cursor that begins behind the event with a number.

    Of one plan, a place in its chain that is not behind it is quicker to look up.
    """
    return write_cursor(wanted.listing, (number, seq))
