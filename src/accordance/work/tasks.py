"""Tasks after they were taken up: leases, retries, cancelling, dead letters.

What their holders do comes first, then what a person does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from accordance.domain.lifecycle import LIFECYCLE, TERMINAL, Event, State
from accordance.domain.progress import left_hanging
from accordance.domain.records import Lease, PlanRecord, TaskRecord
from accordance.errors import Conflict, TasksWait, UnfitTaskState
from accordance.store.ledger import Ledger, Transaction
from accordance.work.arrivals import not_theirs
from accordance.work.lease_times import LEASE_SECONDS, later

_MAX_NAMES: Final = 3
"""Waiting tasks that an error names."""

# -- what the holder of a task does


def extend(
    ledger: Ledger,
    task_id: str,
    *,
    attempt: int,
    holder: str | None = None,
    seconds: int = LEASE_SECONDS,
    report: str | None = None,
) -> Lease:
    """Extend the lease of a task; a report of progress is kept in the chain.

    Raises Conflict if the task is no longer theirs.
    """
    with ledger.write() as tx:
        task = _task_of_holder(tx, task_id, attempt, holder)
        if task.lease is None:
            raise Conflict(f"attempt {attempt} of task {task_id} is over")
        lease = replace(task.lease, until=later(tx.now, seconds))
        tx.take(task_id, lease)
        if report:
            why = {"attempt": attempt, "by": lease.holder, "text": report}
            tx.record(task.plan_id, "REPORTED", task_id, why)
        return lease


def release(
    ledger: Ledger,
    task_id: str,
    *,
    by: str,
    attempt: int | None = None,
    holder: str | None = None,
) -> TaskRecord:
    """Put a task down again; it does not count as a failure. Raises Conflict.

    Without `holder` anyone may do it; with it, only the holder.
    """
    with ledger.write() as tx:
        task = _task_of_holder(tx, task_id, attempt, holder)
        is_in_review = task.progress.state is State.READY_TO_CHECK
        if is_in_review and task.lease is not None:
            tx.put_down(task_id)
        else:
            tx.happen(task_id, Event.RELEASED, why={"by": by})
        return tx.task(task_id)


# -- what a person does


def retry(
    ledger: Ledger,
    task_id: str,
    *,
    by: str,
    reason: str | None = None,
    seen_at: str | None = None,
) -> TaskRecord:
    """Give a failed or blocked task another chance.

    With `seen_at`, only if it has not changed since. Raises Conflict or
    UnfitTaskState.
    """
    with ledger.write() as tx:
        task = _unchanged_task(tx, task_id, seen_at)
        rule = "a failed or blocked task can be retried, a dead letter requeued"
        _must_allow(task, Event.GRANTED, rule)
        tx.happen(task_id, Event.GRANTED, why=_why(by, reason))
        return tx.task(task_id)


def cancel(
    ledger: Ledger,
    task_id: str,
    *,
    by: str,
    excuse: bool = False,
    cascade: bool = False,
    reason: str | None = None,
    seen_at: str | None = None,
) -> tuple[str, ...]:
    """Cancel a task and what belongs only to it; return the tasks cancelled along.

    Tasks that wait for it would wait for ever. So either they are cancelled too
    (`cascade`), or they go on without it (`excuse`). Raises TasksWait,
    UnfitTaskState, and Conflict if it has changed since `seen_at`.
    """
    with ledger.write() as tx:
        task = _unchanged_task(tx, task_id, seen_at)
        state = task.progress.state
        if state in TERMINAL and state is not State.DEAD_LETTER:
            raise UnfitTaskState(
                f"task {task_id} is {state}: nothing is left to cancel"
            )

        waiting = left_hanging(tx, task_id)
        if waiting and not (excuse or cascade):
            raise TasksWait(
                f"{len(waiting)} tasks wait for {task_id} ({_first_names(waiting)})",
                way_out="cancel them too, or let them go on without it",
            )

        along = waiting if cascade else ()
        tx.cancel(task_id, excuse=excuse, along=along, why=_why(by, reason))
        return along


def _first_names(task_ids: tuple[str, ...]) -> str:
    names = ", ".join(task_ids[:_MAX_NAMES])
    return f"{names} ..." if len(task_ids) > _MAX_NAMES else names


def requeue(
    ledger: Ledger,
    task_id: str,
    *,
    by: str,
    reason: str | None = None,
    seen_at: str | None = None,
) -> TaskRecord:
    """Take a task out of the dead letters and give it another chance.

    With `seen_at`, only if it has not changed since. Raises Conflict or
    UnfitTaskState.
    """
    with ledger.write() as tx:
        task = _unchanged_task(tx, task_id, seen_at)
        _must_allow(task, Event.REQUEUED, "only a dead letter can be requeued")
        tx.happen(task_id, Event.REQUEUED, why=_why(by, reason))
        return tx.task(task_id)


def dead_letters(tx: Transaction, plans: Iterable[PlanRecord]) -> list[TaskRecord]:
    """Return the tasks of plans that were given up."""
    tasks: list[TaskRecord] = []
    for plan in plans:
        tasks += tx.tasks(plan.plan_id, State.DEAD_LETTER)
    return tasks


# -- helpers


def locked_task(tx: Transaction, task_id: str) -> TaskRecord:
    """Lock the plan of a task; return the task as it is then."""
    tx.lock(tx.task(task_id).plan_id)
    return tx.task(task_id)


def _unchanged_task(tx: Transaction, task_id: str, seen_at: str | None) -> TaskRecord:
    """Lock the plan of a task; return the task, if it has not changed since then."""
    task = locked_task(tx, task_id)
    if seen_at not in (None, task.updated_at):
        raise Conflict(
            f"task {task_id} has changed meanwhile: it is {task.progress.state} now"
        )
    return task


def _must_allow(task: TaskRecord, event: Event, otherwise: str) -> None:
    """Refuse what the table of tasks does not have. Raises UnfitTaskState."""
    state = task.progress.state
    if event not in LIFECYCLE[state]:
        raise UnfitTaskState(f"task {task.task_id} is {state}: {otherwise}")


def _why(by: str, reason: str | None) -> dict[str, str]:
    """Who acts, and why if they say so."""
    return {"by": by, "reason": reason} if reason else {"by": by}


def _task_of_holder(
    tx: Transaction, task_id: str, attempt: int | None, holder: str | None
) -> TaskRecord:
    """The task, with its plan locked, if its attempt and holder are the named ones.

    Raises Conflict.
    """
    task = locked_task(tx, task_id)
    if attempt not in (None, task.progress.standing.counters.attempts):
        raise Conflict(f"attempt {attempt} of task {task_id} is over")

    refusal = not_theirs(task, holder)
    if refusal:
        raise Conflict(refusal)
    return task
