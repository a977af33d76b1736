"""What a person does with a plan as a whole: pause, resume, cancel, archive it."""

from __future__ import annotations

from typing import Final

from accordance.domain.lifecycle import TERMINAL, State
from accordance.domain.plan_lifecycle import (
    IS_OVER,
    PLAN_LIFECYCLE,
    PlanEvent,
    PlanState,
    visible_state,
)
from accordance.domain.records import UNSPENT, PlanRecord
from accordance.domain.task_ruling import QuestionKind
from accordance.errors import UnfitPlanState
from accordance.store.ledger import Ledger, Transaction
from accordance.work.lease_times import later, seconds_between

_NOT_DONE: Final = tuple(
    state for state in State if state not in TERMINAL or state is State.DEAD_LETTER
)
"""The states of tasks that are abandoned when their plan is cancelled."""


def state_of(tx: Transaction, plan: PlanRecord) -> PlanState:
    """Return the state that a plan is in, as people see it."""
    root = tx.progress(plan.root_task_id).state
    is_archived = plan.archived_at is not None
    return visible_state(plan.state, root, is_archived=is_archived)


def pause(
    ledger: Ledger, plan_id: str, *, by: str, reason: str | None = None
) -> PlanRecord:
    """Let nothing new begin in a plan; what runs comes to its end.

    Raises UnfitPlanState.
    """
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        _must_allow(tx, plan, PlanEvent.PAUSED, "only an active plan can be paused")
        tx.move_plan(plan_id, PlanEvent.PAUSED, _why(by, reason))
        tx.save_plan(plan_id, paused_at=tx.now)
        return tx.plan(plan_id)


def resume(ledger: Ledger, plan_id: str, *, by: str) -> PlanRecord:
    """Let a plan go on that was paused, or whose fuse has blown.

    After a blown fuse the fuses begin anew. A pause leaves them as they are, and its
    time does not count as time of the run. Raises UnfitPlanState.
    """
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        _must_allow(tx, plan, PlanEvent.RESUMED, "there is nothing to resume")
        is_unreviewed = plan.state is PlanState.HELD and plan.run_started_at is None
        if is_unreviewed:
            raise UnfitPlanState(
                f"plan {plan_id} is held by its review: there is nothing to resume",
                way_out="answer its question, approve it, or return it",
            )

        tx.move_plan(plan_id, PlanEvent.RESUMED, {"by": by})
        if plan.state is PlanState.PAUSED:
            _leave_out_pause(tx, plan)
        else:
            tx.save_plan(plan_id, **UNSPENT, run_started_at=tx.now)
        tx.close_questions_of_plan(plan_id, PlanEvent.RESUMED, QuestionKind.PLAN)
        return tx.plan(plan_id)


def _leave_out_pause(tx: Transaction, plan: PlanRecord) -> None:
    """Move the start of the run by the length of the pause."""
    started_at = plan.run_started_at
    if started_at is not None and plan.paused_at is not None:
        pause_seconds = seconds_between(plan.paused_at, tx.now)
        started_at = later(started_at, pause_seconds)
    tx.save_plan(plan.plan_id, paused_at=None, run_started_at=started_at)


def cancel(
    ledger: Ledger, plan_id: str, *, by: str, reason: str | None = None
) -> PlanRecord:
    """Abandon everything in a plan that is not done.

    Attempts in work lose their task: their executors are stopped, and what outside
    workers still hand in is refused. Raises UnfitPlanState.
    """
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        _must_allow(tx, plan, PlanEvent.CANCELLED, "nothing is left to cancel")
        cancel_in(tx, plan, by=by, reason=reason)
        return tx.plan(plan_id)


def cancel_in(
    tx: Transaction, plan: PlanRecord, *, by: str, reason: str | None = None
) -> None:
    """Cancel a plan, in a transaction of the caller's."""
    plan_id = plan.plan_id
    tx.move_plan(plan_id, PlanEvent.CANCELLED, _why(by, reason))
    tx.cancel(plan.root_task_id, why={"by": by})
    for task in list(tx.tasks(plan_id, *_NOT_DONE)):
        if tx.progress(task.task_id).state in _NOT_DONE:
            tx.cancel(task.task_id, why={"by": by})
    tx.close_questions_of_plan(plan_id, PlanEvent.CANCELLED)


def archive(ledger: Ledger, plan_id: str, *, by: str) -> PlanRecord:
    """Put a plan that is over out of sight. Raises UnfitPlanState."""
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        state = state_of(tx, plan)
        if state is PlanState.ARCHIVED:
            raise UnfitPlanState(f"plan {plan_id} is archived already")
        if state not in IS_OVER:
            raise UnfitPlanState(
                f"plan {plan_id} is {state}, and only a plan that is over is archived",
                way_out="cancel it first",
            )
        tx.close_questions_of_plan(plan_id, PlanEvent.ARCHIVED)
        tx.record(plan_id, PlanEvent.ARCHIVED, None, {"by": by})
        tx.save_plan(plan_id, archived_at=tx.now)
        return tx.plan(plan_id)


def unarchive(ledger: Ledger, plan_id: str, *, by: str) -> PlanRecord:
    """Take a plan out of the archive. Raises UnfitPlanState."""
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        if plan.archived_at is None:
            raise UnfitPlanState(f"plan {plan_id} is not archived")
        tx.save_plan(plan_id, archived_at=None)
        tx.record(plan_id, PlanEvent.UNARCHIVED, None, {"by": by})
        return tx.plan(plan_id)


def _must_allow(
    tx: Transaction, plan: PlanRecord, event: PlanEvent, otherwise: str
) -> None:
    """Refuse what the table of plans does not have. Raises UnfitPlanState."""
    state = state_of(tx, plan)
    if event not in PLAN_LIFECYCLE[state]:
        raise UnfitPlanState(f"plan {plan.plan_id} is {state}: {otherwise}")


def _why(by: str, reason: str | None) -> dict[str, str]:
    return {"by": by, "reason": reason} if reason else {"by": by}
