"""A plan is reviewed before anything in it begins. Its own small table, and what a review means for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.contracts.catalogue.review import Review
from accordance.contracts.violation import Accepted, Rejected
from accordance.domain.fuses import Fuses
from accordance.domain.ruling import UNPARSEABLE, Ask, QuestionKind
from accordance.domain.verdict import Outcome
from accordance.errors import IllegalTransition


class PlanState(StrEnum):
    """Whether a plan may be carried out."""

    IN_REVIEW = "IN_REVIEW"
    RETURNED = "RETURNED"  # a better one has to be imported
    HELD = "HELD"  # waits for a person: a question, a blown fuse
    ACTIVE = "ACTIVE"


class PlanEvent(StrEnum):
    """What can happen to a plan as a whole."""

    IMPORTED = "PLAN_IMPORTED"
    APPROVED = "PLAN_APPROVED"
    WAIVED = "PLAN_REVIEW_WAIVED"  # a person takes it as it is
    RETURNED = "PLAN_RETURNED"
    REFERRED = "PLAN_REFERRED"  # the review needs something from outside, or gave up
    MISREVIEWED = "LLM_UNPARSEABLE"  # the review honours no contract; a plan has no FAILED and waits for another
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
    """The table, asked once. Raises IllegalTransition."""
    try:
        return PLAN_LIFECYCLE[state][event]
    except KeyError:
        raise IllegalTransition(state, event, PLAN_LIFECYCLE[state]) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRuling:
    """What happens to the plan, what was decided, and what a person is asked."""

    events: tuple[PlanEvent, ...]
    outcome: Outcome
    reason: str
    messages: tuple[str, ...]
    ask: Ask | None = None


def rule_plan_review(
    result: Accepted[Review] | Rejected, *, rounds: int, failures: int, fuses: Fuses
) -> PlanRuling:
    """What a review means for a plan that was returned `rounds` times, with `failures` unreadable reviews so far."""
    if isinstance(result, Rejected):
        faults = tuple(str(violation) for violation in result.violations)
        if failures + 1 < fuses.review_failures:
            return _ruled((PlanEvent.MISREVIEWED,), Outcome.RETRY, UNPARSEABLE, faults)
        text = f"{failures + 1} reviews of the plan could not be read; the last: {faults[0]}"
        events = (PlanEvent.MISREVIEWED, PlanEvent.REFERRED)
        return _ruled(events, Outcome.ESCALATE, UNPARSEABLE, faults, text)
    review = result.value
    said = (review.summary,)
    if review.action_required == "APPROVE":
        return _ruled((PlanEvent.APPROVED,), Outcome.DONE, "APPROVE", said)
    if review.action_required == "REQUEST_EXTERNAL_INPUT":
        text = f"The review of the plan needs something from outside: {review.summary}"
        return _ruled(
            (PlanEvent.REFERRED,),
            Outcome.ESCALATE,
            "REQUEST_EXTERNAL_INPUT",
            said,
            text,
        )
    if rounds < fuses.review_rounds:
        return _ruled((PlanEvent.RETURNED,), Outcome.RETRY, "MODIFY", said)
    text = f"The plan was returned {rounds} times and is still not approved: {review.summary}"
    return _ruled(
        (PlanEvent.REFERRED,),
        Outcome.ESCALATE,
        "MAX_REVIEW_ROUNDS_EXCEEDED",
        said,
        text,
    )


def _ruled(
    events: tuple[PlanEvent, ...],
    outcome: Outcome,
    reason: str,
    messages: tuple[str, ...],
    question: str | None = None,
) -> PlanRuling:
    ask = Ask(kind=QuestionKind.PLAN, text=question) if question else None
    return PlanRuling(
        events=events, outcome=outcome, reason=reason, messages=messages, ask=ask
    )
