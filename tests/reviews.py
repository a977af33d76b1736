"""Reviews that keep to the rubrics."""

from __future__ import annotations

from accordance.domain.rubric import NODE_RUBRIC, PLAN_RUBRIC, Rubric
from tests.messages import PLAN, Message


def _review(
    rubric: Rubric, target: str, subject: str, score: int, action: str | None
) -> Message:
    left = score
    breakdown = []
    for dimension, most in rubric.maxima.items():
        given = min(left, most)
        left -= given
        breakdown.append(
            {"dimension": dimension, "score": given, "max_score": most, "issues": []}
        )
    suggestion = {
        "priority": "HIGH",
        "change": "More",
        "steps": ["add"],
        "acceptance_criteria": "There is more",
    }
    decided = action or ("APPROVE" if score >= rubric.approve_at else "MODIFY")
    return {
        "schema_version": "xiaojing_review_v1",
        "task_id": subject,
        "review_target": target,
        "total_score": score,
        "action_required": decided,
        "summary": f"{score} of 100",
        "breakdown": breakdown,
        "suggestions": [] if decided == "APPROVE" else [suggestion],
    }


def node_review(task: str, score: int = 95, action: str | None = None) -> Message:
    """A review of a task's product."""
    return _review(NODE_RUBRIC, "NODE", task, score, action)


def plan_review(
    score: int = 95, action: str | None = None, plan: str = PLAN
) -> Message:
    """A review of a plan."""
    return _review(PLAN_RUBRIC, "PLAN", plan, score, action)
