"""The life of a plan: a table, state x event -> state. Nothing else changes a state.

Three states are not stored, since they follow from what is: a plan whose root is DONE
is FINISHED, whatever it was before; a plan whose root was cancelled is CANCELLED; a
plan that was put away is ARCHIVED. docs/lifecycle.md is generated from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.lifecycle import State
from accordance.errors import IllegalTransition


class PlanState(StrEnum):
    """Whether a plan may run."""

    IN_REVIEW = "IN_REVIEW"
    RETURNED = "RETURNED"  # a better plan has to be imported
    HELD = "HELD"  # waits for a person, after a question or a blown fuse
    ACTIVE = "ACTIVE"
    PAUSED = "PAUSED"  # nothing new begins; what runs comes to its end
    FINISHED = "FINISHED"  # its root is done
    CANCELLED = "CANCELLED"  # everything that was not done is abandoned
    ARCHIVED = "ARCHIVED"  # out of sight, and read-only


class PlanEvent(StrEnum):
    """What can happen to a plan as a whole."""

    IMPORTED = "PLAN_IMPORTED"
    APPROVED = "PLAN_APPROVED"  # by a review, or by a person
    WAIVED = "PLAN_REVIEW_WAIVED"  # a person accepts it as it is
    RETURNED = "PLAN_RETURNED"
    REFERRED = "PLAN_REFERRED"  # the review needs something from outside, or gave up
    MISREVIEWED = "LLM_UNPARSEABLE"  # the review broke its contract; another follows
    AMENDED = "PLAN_AMENDED"  # a person changed its tasks
    FUSED = "PLAN_FUSE_BLOWN"
    PAUSED = "PLAN_PAUSED"
    ANSWERED = "PLAN_ANSWERED"
    RESUMED = "PLAN_RESUMED"
    CANCELLED = "PLAN_CANCELLED"
    ARCHIVED = "PLAN_ARCHIVED"
    UNARCHIVED = "PLAN_UNARCHIVED"


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
                PlanEvent.AMENDED: PlanState.IN_REVIEW,
                PlanEvent.CANCELLED: PlanState.CANCELLED,
            },
            PlanState.RETURNED: {
                PlanEvent.IMPORTED: PlanState.IN_REVIEW,
                PlanEvent.APPROVED: PlanState.ACTIVE,
                PlanEvent.WAIVED: PlanState.ACTIVE,
                PlanEvent.AMENDED: PlanState.IN_REVIEW,
                PlanEvent.CANCELLED: PlanState.CANCELLED,
            },
            PlanState.HELD: {
                PlanEvent.ANSWERED: PlanState.IN_REVIEW,
                PlanEvent.APPROVED: PlanState.ACTIVE,
                PlanEvent.RETURNED: PlanState.RETURNED,
                PlanEvent.WAIVED: PlanState.ACTIVE,
                PlanEvent.RESUMED: PlanState.ACTIVE,
                PlanEvent.IMPORTED: PlanState.IN_REVIEW,
                PlanEvent.AMENDED: PlanState.HELD,
                PlanEvent.CANCELLED: PlanState.CANCELLED,
            },
            PlanState.ACTIVE: {
                PlanEvent.FUSED: PlanState.HELD,
                PlanEvent.PAUSED: PlanState.PAUSED,
                PlanEvent.AMENDED: PlanState.ACTIVE,
                PlanEvent.CANCELLED: PlanState.CANCELLED,
            },
            PlanState.PAUSED: {
                PlanEvent.RESUMED: PlanState.ACTIVE,
                PlanEvent.AMENDED: PlanState.PAUSED,
                PlanEvent.CANCELLED: PlanState.CANCELLED,
            },
            PlanState.FINISHED: {PlanEvent.ARCHIVED: PlanState.ARCHIVED},
            PlanState.CANCELLED: {PlanEvent.ARCHIVED: PlanState.ARCHIVED},
            PlanState.ARCHIVED: {},
        }
    )
)
"""The table. An archived plan that is taken out again is what it was before."""

IS_OVER: Final = frozenset((PlanState.FINISHED, PlanState.CANCELLED))
"""The states in which a plan has come to its end."""
LETS_WORK_END: Final = frozenset((PlanState.ACTIVE, PlanState.PAUSED))
"""The stored states in which the work that has begun goes on."""


def next_plan_state(state: PlanState, event: PlanEvent) -> PlanState:
    """Return the state after an event. Raises IllegalTransition."""
    try:
        return PLAN_LIFECYCLE[state][event]
    except KeyError:
        legal = PLAN_LIFECYCLE[state]
        raise IllegalTransition(state, event, legal, what="plan") from None


def visible_state(stored: PlanState, root: State, *, is_archived: bool) -> PlanState:
    """Return the state that a plan is in, as people see it."""
    if is_archived:
        return PlanState.ARCHIVED
    if root is State.DONE:
        return PlanState.FINISHED
    if root is State.ABANDONED:
        return PlanState.CANCELLED
    return stored
