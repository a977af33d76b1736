"""The review of a plan, before any of its tasks starts.

A plan has a small lifecycle of its own; `rule_plan_review` rules on a review of it. The
texts are stored in the ledger and compared, so they must not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.failure_ruling import UNPARSEABLE, violation_texts
from accordance.domain.fuses import Fuses
from accordance.domain.task_ruling import Ask, QuestionKind
from accordance.domain.verdict import Outcome
from accordance.errors import IllegalTransition

if TYPE_CHECKING:  # every command that opens a ledger would load the contract
    from accordance.contracts.catalogue.review import Review


class PlanState(StrEnum):
    """Whether a plan may run."""

    IN_REVIEW = "IN_REVIEW"
    RETURNED = "RETURNED"  # a better one has to be imported
    HELD = "HELD"  # waits for a person, after a question or a blown fuse
    ACTIVE = "ACTIVE"


class PlanEvent(StrEnum):
    """What can happen to a plan as a whole."""

    IMPORTED = "PLAN_IMPORTED"
    APPROVED = "PLAN_APPROVED"
    WAIVED = "PLAN_REVIEW_WAIVED"  # a person accepts it as it is
    RETURNED = "PLAN_RETURNED"
    REFERRED = "PLAN_REFERRED"  # the review needs something from outside, or gave up
    MISREVIEWED = "LLM_UNPARSEABLE"  # the review broke its contract; another follows
    FUSED = "PLAN_FUSE_BLOWN"
    ANSWERED = "PLAN_ANSWERED"
    RESUMED = "PLAN_RESUMED"


PLAN_LIFECYCLE: Final[Mapping[PlanState, Mapping[PlanEvent, PlanState]]] = (
    MappingProxyType(
        {
            PlanState.IN_REVIEW: {
                PlanEvent.IMPORTED: PlanState.IN_REVIEW,
                PlanEvent.APPROVED: PlanState.ACTIVE,
                PlanEvent.WAIVED: PlanState.ACTIVE,
                PlanEvent.RETURNED: PlanState.RETURNED,
                PlanEvent.REFERRED: PlanState.HELD,
                PlanEvent.MISREVIEWED: PlanState.IN_REVIEW,
            },
            PlanState.RETURNED: {
                PlanEvent.IMPORTED: PlanState.IN_REVIEW,
                PlanEvent.WAIVED: PlanState.ACTIVE,
            },
            PlanState.HELD: {
                PlanEvent.ANSWERED: PlanState.IN_REVIEW,
                PlanEvent.WAIVED: PlanState.ACTIVE,
                PlanEvent.RESUMED: PlanState.ACTIVE,
                PlanEvent.IMPORTED: PlanState.IN_REVIEW,
            },
            PlanState.ACTIVE: {PlanEvent.FUSED: PlanState.HELD},
        }
    )
)


def next_plan_state(state: PlanState, event: PlanEvent) -> PlanState:
    """Return the state after an event. Raises IllegalTransition."""
    try:
        return PLAN_LIFECYCLE[state][event]
    except KeyError:
        raise IllegalTransition(state, event, PLAN_LIFECYCLE[state]) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRuling:
    """What happens to the plan, the decision, and the question to a person."""

    events: tuple[PlanEvent, ...]
    outcome: Outcome
    reason: str
    messages: tuple[str, ...]
    ask: Ask | None = None


def rule_plan_review(
    result: Accepted[Review] | Rejected, *, rounds: int, failures: int, fuses: Fuses
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
