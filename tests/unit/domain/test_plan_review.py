"""A plan's own small lifecycle, and what a review means for it."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from accordance import Accepted, Rejected, check_value
from accordance.domain.fuses import Fuses
from accordance.domain.plan_lifecycle import (
    PLAN_LIFECYCLE,
    PlanEvent,
    PlanState,
    next_plan_state,
)
from accordance.domain.plan_review import rule_plan_review
from accordance.domain.ruling import QuestionKind
from accordance.errors import IllegalTransition
from tests.reviews import plan_review


@pytest.mark.parametrize(
    ("state", "event"), list(itertools.product(PlanState, PlanEvent))
)
def test_every_pair_is_decided(state: PlanState, event: PlanEvent) -> None:
    """A move is in the table, or it raises and says what would be possible."""
    legal = PLAN_LIFECYCLE[state].get(event)
    if legal is not None:
        assert next_plan_state(state, event) is legal
        return
    with pytest.raises(IllegalTransition) as caught:
        next_plan_state(state, event)
    assert caught.value.legal == tuple(PLAN_LIFECYCLE[state])


def test_what_must_hold() -> None:
    """A plan begins by an approval or a person's word only; once it runs, only a fuse stops it."""
    into_active = {
        event
        for row in PLAN_LIFECYCLE.values()
        for event, to in row.items()
        if to is PlanState.ACTIVE
    }
    assert into_active == {PlanEvent.APPROVED, PlanEvent.WAIVED, PlanEvent.RESUMED}
    assert set(PLAN_LIFECYCLE[PlanState.ACTIVE]) == {PlanEvent.FUSED}
    assert set(PLAN_LIFECYCLE) == set(PlanState)


def result(message: Any) -> Accepted[Any] | Rejected:
    return check_value(message, "PLAN_REVIEW")


@pytest.mark.parametrize(
    ("message", "rounds", "failures", "events", "outcome", "reason", "asks"),
    [
        pytest.param(plan_review(95), 0, 0, [PlanEvent.APPROVED], "DONE", "APPROVE", None, id="approved"),
        pytest.param(plan_review(95), 3, 2, [PlanEvent.APPROVED], "DONE", "APPROVE", None, id="approved at last"),
        pytest.param(plan_review(60), 0, 0, [PlanEvent.RETURNED], "RETRY", "MODIFY", None, id="returned"),
        pytest.param(plan_review(60), 2, 0, [PlanEvent.RETURNED], "RETRY", "MODIFY", None, id="returned a third time"),
        pytest.param(plan_review(60), 3, 0, [PlanEvent.REFERRED], "ESCALATE", "MAX_REVIEW_ROUNDS_EXCEEDED", "returned 3 times", id="not a fourth time"),
        pytest.param(plan_review(60, "REQUEST_EXTERNAL_INPUT"), 0, 0, [PlanEvent.REFERRED], "ESCALATE", "REQUEST_EXTERNAL_INPUT", "needs something from outside: 60 of 100", id="needs something"),
        pytest.param({}, 0, 0, [PlanEvent.MISREVIEWED], "RETRY", "LLM_UNPARSEABLE", None, id="unreadable"),
        pytest.param({}, 0, 2, [PlanEvent.MISREVIEWED, PlanEvent.REFERRED], "ESCALATE", "LLM_UNPARSEABLE", "3 reviews of the plan could not be read", id="unreadable a third time"),
    ],
)  # fmt: skip
def test_what_a_review_means(
    message: Any,
    rounds: int,
    failures: int,
    events: list[PlanEvent],
    outcome: str,
    reason: str,
    asks: str | None,
) -> None:
    """Ruling by ruling; whatever waits for a person asks one."""
    ruled = rule_plan_review(
        result(message), rounds=rounds, failures=failures, fuses=Fuses()
    )
    assert (list(ruled.events), ruled.outcome.value, ruled.reason) == (
        events,
        outcome,
        reason,
    )
    assert ruled.messages
    if asks is None:
        assert ruled.ask is None
    else:
        assert ruled.ask is not None
        assert ruled.ask.kind is QuestionKind.PLAN
        assert asks in ruled.ask.text
