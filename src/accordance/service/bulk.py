"""Acts on many things at once: a preview first, then each thing by itself.

Every thing has a transaction of its own, so none is half done. What has changed since
the preview is left out and named.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeAlias

from accordance.domain.filters import Subject
from accordance.domain.lifecycle import LIFECYCLE, TERMINAL, Event, State
from accordance.domain.records import TaskRecord
from accordance.errors import AccordanceError, LedgerError
from accordance.service.listing import ListQuery, all_of, filter_for
from accordance.service.project import Project
from accordance.service.views.bulk import (
    BulkDoneView,
    BulkItemView,
    BulkPreviewView,
    BulkResultView,
    BulkSkippedView,
)
from accordance.store.listings import DEAD_LETTER_LIST, TASK_LIST

Act: TypeAlias = Callable[[BulkItemView], str]
"""Does an act to a thing; returns where it stands then."""


def carry_out(seen: BulkPreviewView, act: Act) -> BulkResultView:
    """Do an act to everything of a preview, and name what was left out."""
    done = []
    skipped = []
    for item in seen.items:
        try:
            state = act(item)
        except LedgerError:
            raise  # it says nothing about this thing
        except AccordanceError as error:
            why = str(error)
            skipped.append(BulkSkippedView(id=item.id, title=item.title, why=why))
        else:
            done.append(
                BulkDoneView(
                    id=item.id,
                    title=item.title,
                    state=state,
                )
            )
    return BulkResultView(done=tuple(done), skipped=tuple(skipped))


# -- tasks


def preview_retries(project: Project, query: ListQuery) -> BulkPreviewView:
    """Return the tasks of a filter that can be tried again."""
    return _tasks(project, query, _can_be_retried)


def preview_cancels(project: Project, query: ListQuery) -> BulkPreviewView:
    """Return the tasks of a filter that can be cancelled."""
    return _tasks(project, query, _can_be_cancelled)


def retry_all(
    project: Project,
    seen: BulkPreviewView,
    *,
    by: str,
    reason: str | None = None,
) -> BulkResultView:
    """Give every task of a preview another chance."""
    from accordance.work import tasks

    def retry(item: BulkItemView) -> str:
        task = tasks.retry(
            project.ledger,
            item.id,
            by=by,
            reason=reason,
            seen_at=item.seen_at,
        )
        return task.progress.state

    return carry_out(seen, retry)


def cancel_all(
    project: Project,
    seen: BulkPreviewView,
    *,
    by: str,
    excuse: bool = False,
    cascade: bool = False,
    reason: str | None = None,
) -> BulkResultView:
    """Cancel every task of a preview, or drop every dead letter of it."""
    from accordance.work import tasks

    def cancel(item: BulkItemView) -> str:
        tasks.cancel(
            project.ledger,
            item.id,
            by=by,
            excuse=excuse,
            cascade=cascade,
            reason=reason,
            seen_at=item.seen_at,
        )
        with project.ledger.read() as tx:
            return tx.progress(item.id).state

    return carry_out(seen, cancel)


def _can_be_retried(task: TaskRecord) -> bool:
    return task.is_work and Event.GRANTED in LIFECYCLE[task.progress.state]


def _can_be_cancelled(task: TaskRecord) -> bool:
    return task.progress.state not in TERMINAL


def _tasks(
    project: Project,
    query: ListQuery,
    is_possible: Callable[[TaskRecord], bool],
) -> BulkPreviewView:
    items = []
    left_out = 0
    with project.ledger.read() as tx:
        wanted = filter_for(tx, query.filter, Subject.TASKS)
        for task in all_of(tx, TASK_LIST, wanted):
            if is_possible(task):
                items.append(_item(task))
            else:
                left_out += 1
    return BulkPreviewView(items=tuple(items), left_out=left_out)


def _item(task: TaskRecord) -> BulkItemView:
    return BulkItemView(
        id=task.task_id,
        title=task.title,
        state=task.progress.state,
        seen_at=task.updated_at,
    )


# -- dead letters


def preview_dead_letters(project: Project, query: ListQuery) -> BulkPreviewView:
    """Return the dead letters of a filter."""
    with project.ledger.read() as tx:
        wanted = filter_for(tx, query.filter, Subject.DEAD_LETTERS)
        letters = all_of(tx, DEAD_LETTER_LIST, wanted)
        items = tuple(_item(task) for task in letters)
    return BulkPreviewView(items=items, left_out=0)


def requeue_all(
    project: Project,
    seen: BulkPreviewView,
    *,
    by: str,
    reason: str | None = None,
    per_second: float | None = None,
) -> BulkResultView:
    """Take every dead letter of a preview back; if wanted, only so many in a second."""
    from accordance.work import tasks

    pace = _Pace(per_second)

    def requeue(item: BulkItemView) -> State:
        pace.keep()
        task = tasks.requeue(
            project.ledger,
            item.id,
            by=by,
            reason=reason,
            seen_at=item.seen_at,
        )
        return task.progress.state

    return carry_out(seen, requeue)


class _Pace:
    """Lets so many acts happen in a second."""

    def __init__(self, per_second: float | None) -> None:
        self._gap = 1 / per_second if per_second else 0.0
        self._next = time.monotonic()

    def keep(self) -> None:
        """Wait until the next act may happen."""
        left = self._next - time.monotonic()
        if left > 0:
            time.sleep(left)
        self._next = max(self._next, time.monotonic()) + self._gap
