"""Rubrics: data that adds up, and reviews that follow them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accordance import Accepted, Rejected, check
from accordance.contracts.catalogue.review import REVIEW as CONTRACT
from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric, follows
from accordance.errors import InvalidRubric
from tests.messages import REVIEW, Message, changed


def review(**scores: int) -> Message:
    breakdown = [
        {
            "dimension": name,
            "score": scores.get(name, most),
            "max_score": most,
            "issues": [],
        }
        for name, most in NODE_RUBRIC.maxima.items()
    ]
    total = sum(entry["score"] for entry in breakdown)  # type: ignore[misc]
    action = "APPROVE" if total >= 90 else "MODIFY"
    return {
        **REVIEW,
        "breakdown": breakdown,
        "total_score": total,
        "action_required": action,
    }


def outcome(message: Message, rubric: Rubric = NODE_RUBRIC) -> Accepted[Any] | Rejected:
    return check(json.dumps(message), CONTRACT.with_rules(follows(rubric)))


def test_the_rubrics_that_come_with_it() -> None:
    """As the fact sheet gives them."""
    assert dict(PLAN_RUBRIC.maxima) == {
        "Completeness": 40,
        "Dependency Soundness": 25,
        "Executability": 20,
        "Clarity": 15,
    }
    assert dict(NODE_RUBRIC.maxima) == {
        "Correctness": 40,
        "Coverage": 30,
        "Traceability": 20,
        "Actionability": 10,
    }


def test_reviews_that_follow_their_rubric() -> None:
    """Dimensions, maxima and sum."""
    assert outcome(review())
    assert outcome(review(Coverage=12))
    own = Rubric("own", {"Taste": 60, "Looks": 40})
    breakdown = [
        {"dimension": "Taste", "score": 50, "max_score": 60, "issues": []},
        {"dimension": "Looks", "score": 40, "max_score": 40, "issues": []},
    ]
    assert outcome({**review(), "breakdown": breakdown, "total_score": 90}, own)


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("breakdown.0.dimension", "Mood", ["rubric_dimension $.breakdown[0].dimension", "rubric_dimension $.breakdown"]),
        ("breakdown.1.dimension", "Correctness", ["rubric_dimension $.breakdown[1].dimension", "rubric_dimension $.breakdown"]),
        ("breakdown.3", ..., ["rubric_dimension $.breakdown", "rubric_sum $.total_score"]),
        ("breakdown.0.max_score", 50, ["rubric_maximum $.breakdown[0].max_score"]),
        ("total_score", 95, ["rubric_sum $.total_score"]),
        ("breakdown.0.dimension", 7, ["wrong_type $.breakdown[0].dimension", "rubric_dimension $.breakdown"]),
        ("breakdown.0.score", "40", ["wrong_type $.breakdown[0].score"]),
        ("breakdown", "none", ["wrong_type $.breakdown"]),
        ("breakdown.0", 7, ["wrong_type $.breakdown[0]"]),
        ("total_score", "95", ["wrong_type $.total_score"]),
    ],
)  # fmt: skip
def test_reviews_that_do_not(place: str, value: Any, expected: list[str]) -> None:
    """Each way of not following has its code and place."""
    result = outcome(changed(review(), place, value))
    assert isinstance(result, Rejected)
    assert sorted(f"{one.code} {one.path}" for one in result.violations) == sorted(
        expected
    )


@pytest.mark.parametrize(
    "options",
    [
        {"maxima": {"A": 50, "B": 49}},
        {"maxima": {"A": 110, "B": -10}},
        {"maxima": {"A": 100, "B": 0}},
        {"maxima": {}},
        {"maxima": {"A": 100}, "approve_at": 101},
        {"maxima": {"A": 100}, "approve_at": -1},
    ],
)
def test_rubrics_that_do_not_add_up(options: dict[str, Any]) -> None:
    """Refused when they are made."""
    with pytest.raises(InvalidRubric):
        Rubric("bad", **options)


@pytest.mark.parametrize("approve_at", [0, 100])
def test_a_rubric_may_go_to_its_bounds(approve_at: int) -> None:
    """A dimension of one point, and a score that everything or only the best reaches."""
    rubric = Rubric("bold", {"A": 99, "B": 1}, approve_at)
    assert rubric.approve_at == approve_at
