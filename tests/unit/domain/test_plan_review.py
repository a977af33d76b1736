"""What a review means for a plan."""

from __future__ import annotations

from typing import Any

import pytest

from accordance import Accepted, Rejected, check_value
from accordance.domain.fuses import Fuses
from accordance.domain.plan_lifecycle import PlanEvent
from accordance.domain.plan_review import rule_plan_review
from accordance.domain.ruling import QuestionKind
from tests.reviews import plan_review


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
