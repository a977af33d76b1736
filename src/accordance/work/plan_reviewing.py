"""Reviews of plans: nothing in a plan begins before it is approved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accordance.contracts.violation import Accepted
from accordance.domain.plan_lifecycle import PlanEvent, PlanState
from accordance.domain.records import MessageRecord, PlanRecord
from accordance.store.ledger import Ledger, Transaction
from accordance.work.arrivals import must_fit
from accordance.work.intake import note_verdict
from accordance.work.message_kinds import (
    Grounds,
    JudgedPlanReview,
    judge_plan_review,
)
from accordance.work.receipts import Receipt, Status, violations_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArrivedPlanReview:
    """A review of a plan: its bytes kept, its plan locked, not yet judged."""

    plan: PlanRecord
    raw: bytes
    sha256: str
    message_id: str

    @property
    def plan_id(self) -> str:
        return self.plan.plan_id


def review_plan(ledger: Ledger, raw: bytes, plan_id: str) -> Receipt:
    """Hand in a review of a plan. Nothing in a plan begins before it is approved."""
    must_fit(raw)
    with ledger.write() as tx:
        sha256 = tx.keep(raw)
        plan = tx.lock(plan_id)
        earlier = _same_plan_reviews(tx, plan, sha256)

        if plan.state is not PlanState.IN_REVIEW:
            if earlier:
                return Receipt(earlier[-1].answer, repeated=True)
            return _nothing_to_review(plan)

        arrived = _ArrivedPlanReview(
            plan=plan,
            raw=raw,
            sha256=sha256,
            message_id=(
                f"{plan_id}:PLAN_REVIEW:{plan.revision}:{sha256}:{len(earlier)}"
            ),
        )
        return _settle_plan_review(tx, arrived)


def _same_plan_reviews(
    tx: Transaction, plan: PlanRecord, sha256: str
) -> list[MessageRecord]:
    """The reviews in the same words of the same revision of a plan."""
    messages = tx.find(MessageRecord, subject=plan.plan_id, sha256=sha256)
    return [
        message
        for message in messages
        if message.attempt == plan.revision and message.kind == "PLAN_REVIEW"
    ]


def _nothing_to_review(plan: PlanRecord) -> Receipt:
    content = {
        "status": "refused",
        "plan_id": plan.plan_id,
        "why": f"plan {plan.plan_id} is {plan.state}: there is nothing to review",
    }
    return Receipt(content)


def _settle_plan_review(tx: Transaction, arrived: _ArrivedPlanReview) -> Receipt:
    """Judge a review of a plan, and let the ruling take effect, as `settle` does."""
    plan = arrived.plan
    case = {"rounds": plan.rounds, "failures": plan.review_failures}
    grounds = Grounds(subject=plan.plan_id, rules=plan.rules, case=case)
    judged = judge_plan_review(arrived.raw, grounds)

    accepted = isinstance(judged.result, Accepted)
    payload = {"message": arrived.message_id, "accepted": accepted}
    entry = tx.record(plan.plan_id, "MESSAGE", None, payload)

    _move_plan(tx, arrived, judged)
    content = _answer_to_plan_review(tx, arrived, judged)
    _note_plan_review(tx, arrived, entry.seq, case=case, content=content)
    note_verdict(tx, arrived.message_id, plan.plan_id, None, judged.ruling)
    return Receipt(content)


def _move_plan(
    tx: Transaction, arrived: _ArrivedPlanReview, judged: JudgedPlanReview
) -> None:
    plan, ruling = arrived.plan, judged.ruling
    for event in ruling.events:
        tx.move_plan(plan.plan_id, event, {"message": arrived.message_id})

    is_returned = PlanEvent.RETURNED in ruling.events
    is_misreviewed = PlanEvent.MISREVIEWED in ruling.events
    tx.save_plan(
        plan.plan_id,
        rounds=plan.rounds + is_returned,
        review_failures=plan.review_failures + is_misreviewed,
    )
    if ruling.ask is not None:
        tx.ask(plan.plan_id, None, ruling.ask)


def _answer_to_plan_review(
    tx: Transaction, arrived: _ArrivedPlanReview, judged: JudgedPlanReview
) -> dict[str, Any]:
    ruling = judged.ruling
    accepted = isinstance(judged.result, Accepted)
    status: Status = "accepted" if accepted else "rejected"
    return {
        "status": status,
        "plan_id": arrived.plan_id,
        "state": tx.plan(arrived.plan_id).state,
        "outcome": ruling.outcome,
        "reason_code": ruling.reason,
        "messages": list(ruling.messages),
        "violations": violations_of(judged.result),
    }


def _note_plan_review(
    tx: Transaction,
    arrived: _ArrivedPlanReview,
    seq: int,
    *,
    case: Mapping[str, Any],
    content: Mapping[str, Any],
) -> None:
    """Store the message with the case it was judged by and the answer it got."""
    message = MessageRecord(
        message_id=arrived.message_id,
        plan_id=arrived.plan_id,
        subject=arrived.plan_id,
        kind="PLAN_REVIEW",
        attempt=arrived.plan.revision,
        sha256=arrived.sha256,
        accepted=content["status"] == "accepted",
        case=case,
        answer=content,
        seq=seq,
        at=tx.now,
    )
    tx.add(message)
