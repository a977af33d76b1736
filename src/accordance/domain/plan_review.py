"""The review of a plan, before any of its tasks starts.

`rule_plan_review` rules on a review; what follows for the plan is in `plan_lifecycle`.
The texts are stored in the ledger and compared, so they must not change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.failure_ruling import UNPARSEABLE, violation_texts
from accordance.domain.fuses import Fuses
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.task_ruling import Ask, QuestionKind
from accordance.domain.verdict import Outcome

if TYPE_CHECKING:  # every command that opens a ledger would load the contract
    from accordance.contracts.catalogue.review import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRuling:
    """What happens to the plan, the decision, and the question to a person."""

    events: tuple[PlanEvent, ...]
    outcome: Outcome
    reason: str
    messages: tuple[str, ...]
    ask: Ask | None = None


def rule_plan_review(
    result: Accepted[Review] | Rejected,
    *,
    rounds: int,
    failures: int,
    fuses: Fuses,
) -> PlanRuling:
    """Rule on the review of a plan.

    The plan has been returned `rounds` times, and `failures` reviews of it could not be
    read so far.
    """
    if isinstance(result, Rejected):
        return _unreadable_review(result, failures + 1, fuses)

    review = result.value
    if review.action_required == "APPROVE":
        return _ruled(PlanEvent.APPROVED, Outcome.DONE, "APPROVE", review)
    if review.action_required == "REQUEST_EXTERNAL_INPUT":
        question = "The review of the plan needs something from outside"
        return _ruled(
            PlanEvent.REFERRED,
            Outcome.ESCALATE,
            "REQUEST_EXTERNAL_INPUT",
            review,
            question=f"{question}: {review.summary}",
        )
    if rounds < fuses.review_rounds:
        return _ruled(PlanEvent.RETURNED, Outcome.RETRY, "MODIFY", review)
    question = f"The plan was returned {rounds} times and is still not approved"
    return _ruled(
        PlanEvent.REFERRED,
        Outcome.ESCALATE,
        "MAX_REVIEW_ROUNDS_EXCEEDED",
        review,
        question=f"{question}: {review.summary}",
    )


def _unreadable_review(result: Rejected, failures: int, fuses: Fuses) -> PlanRuling:
    """The plan waits for another review, until a person has to decide."""
    violations = violation_texts(result)
    if failures < fuses.review_failures:
        return PlanRuling(
            events=(PlanEvent.MISREVIEWED,),
            outcome=Outcome.RETRY,
            reason=UNPARSEABLE,
            messages=violations,
        )
    text = (
        f"{failures} reviews of the plan could not be read; the last: {violations[0]}"
    )
    return PlanRuling(
        events=(PlanEvent.MISREVIEWED, PlanEvent.REFERRED),
        outcome=Outcome.ESCALATE,
        reason=UNPARSEABLE,
        messages=violations,
        ask=Ask(kind=QuestionKind.PLAN, text=text),
    )


def _ruled(
    event: PlanEvent,
    outcome: Outcome,
    reason: str,
    review: Review,
    question: str | None = None,
) -> PlanRuling:
    ask = None
    if question is not None:
        ask = Ask(kind=QuestionKind.PLAN, text=question)
    return PlanRuling(
        events=(event,),
        outcome=outcome,
        reason=reason,
        messages=(review.summary,),
        ask=ask,
    )
