"""A person approves or returns a plan that waits for its review.

Reviewing your own work is refused, but a plan is no work: it says what its owner wants.
A person may approve any plan, also a plan of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from accordance.domain.plan_lifecycle import (
    PLAN_LIFECYCLE,
    PlanEvent,
    PlanState,
)
from accordance.domain.records import PlanRecord
from accordance.domain.ruling import QuestionKind
from accordance.errors import UnfitPlanState
from accordance.store.ledger import Ledger, Transaction
from accordance.work.plan_life import state_of


def approve(
    ledger: Ledger, plan_id: str, *, by: str, note: str | None = None
) -> PlanRecord:
    """Let a plan begin that waits for its review, or was returned.

    Raises UnfitPlanState.
    """
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        _must_be_undecided(tx, plan, "approve")
        approve_in(tx, plan_id, by=by, note=note)
        return tx.plan(plan_id)


def return_plan(
    ledger: Ledger, plan_id: str, *, by: str, reasons: Sequence[str]
) -> PlanRecord:
    """Return a plan that waits for its review, so that a better plan is imported.

    Raises UnfitPlanState.
    """
    with ledger.write() as tx:
        plan = tx.lock(plan_id)
        _must_be_undecided(tx, plan, "return")
        if plan.state is PlanState.RETURNED:
            raise UnfitPlanState(
                f"plan {plan_id} was returned already",
                way_out="import a better plan, or approve it after all",
            )
        return_in(tx, plan_id, by=by, reasons=reasons)
        return tx.plan(plan_id)


def approve_in(
    tx: Transaction, plan_id: str, *, by: str, note: str | None = None
) -> None:
    """Approve a plan, in a transaction of the caller's."""
    payload = {"by": by}
    if note:
        payload["note"] = note
    tx.move_plan(plan_id, PlanEvent.APPROVED, payload)
    tx.close_questions_of_plan(plan_id, PlanEvent.APPROVED, QuestionKind.PLAN)


def return_in(
    tx: Transaction, plan_id: str, *, by: str, reasons: Sequence[str]
) -> None:
    """Return a plan, in a transaction of the caller's."""
    rounds = tx.plan(plan_id).rounds + 1
    payload = {"by": by, "reasons": list(reasons)}
    tx.move_plan(plan_id, PlanEvent.RETURNED, payload)
    tx.save_plan(plan_id, rounds=rounds)
    tx.close_questions_of_plan(plan_id, PlanEvent.RETURNED, QuestionKind.PLAN)


def _must_be_undecided(tx: Transaction, plan: PlanRecord, wish: str) -> None:
    """Refuse a plan whose review is over. Raises UnfitPlanState."""
    state = state_of(tx, plan)
    has_begun = plan.run_started_at is not None
    if PlanEvent.APPROVED in PLAN_LIFECYCLE[state] and not has_begun:
        return

    if state is PlanState.ACTIVE:
        why, way_out = f"plan {plan.plan_id} is approved already", ""
    elif state is PlanState.HELD:
        why = f"plan {plan.plan_id} was approved, and is held by a blown fuse"
        way_out = "resume it"
    else:
        why = f"plan {plan.plan_id} is {state}: there is nothing to {wish}"
        way_out = ""
    raise UnfitPlanState(why, way_out=way_out)
