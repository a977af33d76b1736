"""`xiaojing_review_v1`: a reviewer's score of a plan or a product.

Scopes PLAN_REVIEW and TASK_CHECK. Seeds 000 s3, 001 s2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.catalogue.identity import wrong_task
from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Scope
from accordance.contracts.fields import Open, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Shape, Spelling
from accordance.contracts.printable import is_blank
from accordance.contracts.violation import Notice, Repair, Violation, excerpt

ACTIONS: Final = ("APPROVE", "MODIFY", "REQUEST_EXTERNAL_INPUT")
PRIORITIES: Final = ("HIGH", "MED", "LOW")
BEST_SCORE: Final = 100
_ENUMS: Final = ("review_target", "action_required", "suggestions[*].priority")


class Issue(Open):
    """A fault, with its evidence and the test by which it counts as mended."""

    problem: Text
    evidence: Text
    impact: Text
    suggestion: Text
    acceptance_criteria: Text


class Dimension(Open):
    """The score in a dimension of the rubric."""

    dimension: Text
    score: int
    max_score: Annotated[int, Field(ge=0)]
    issues: list[Issue]


class Suggestion(Open):
    """A change that is asked for."""

    priority: Literal["HIGH", "MED", "LOW"]
    change: Text
    steps: list[str]
    acceptance_criteria: Text


class Review(Open):
    """A score, its breakdown, and what is to be done about it."""

    schema_version: Literal["xiaojing_review_v1"]
    task_id: Text
    review_target: Literal["PLAN", "NODE"]
    total_score: Annotated[int, Field(ge=0, le=BEST_SCORE)]
    action_required: Literal["APPROVE", "MODIFY", "REQUEST_EXTERNAL_INPUT"]
    summary: Text
    breakdown: Annotated[list[Dimension], Field(min_length=1)]
    suggestions: list[Suggestion]


def plan_reviews_carry_the_plan_id(
    message: JsonObject, context: Context
) -> tuple[JsonObject, list[Repair]]:
    """A PLAN review carries the plan's id as its task_id; a missing id is supplied."""
    wanted = _id_asked_for(message, context)
    if message.get("review_target") != "PLAN" or wanted is None:
        return message, []

    task_id = message.get("task_id")
    is_blank_text = isinstance(task_id, str) and is_blank(task_id)
    if task_id is not None and not is_blank_text:
        return message, []
    repair = Repair(
        "plan_id_as_task_id",
        path="$.task_id",
        before=task_id,
        after=wanted,
    )
    return {**message, "task_id": wanted}, [repair]


def blank_summaries_are_restated(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair]]:
    """A blank summary is replaced by the review's own decision and score."""
    summary = message.get("summary")
    if not isinstance(summary, str) or not is_blank(summary):
        return message, []
    action = message.get("action_required")
    score = message.get("total_score")
    if action not in ACTIONS or type(score) is not int:
        return message, []

    restated = f"{action} ({score}/{BEST_SCORE})"
    repair = Repair(
        "blank_summary",
        path="$.summary",
        before=summary,
        after=restated,
    )
    return {**message, "summary": restated}, [repair]


def is_about_what_was_asked(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """A NODE review carries the task's id, a PLAN review the plan's."""
    wanted = _id_asked_for(message, context)
    return wrong_task(wanted, message.get("task_id"))


def score_and_action_agree(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """total_score reaches the threshold if and only if the action is APPROVE."""
    score = message.get("total_score")
    action = message.get("action_required")
    if type(score) is not int or action not in ACTIONS:
        return ()
    if not 0 <= score <= BEST_SCORE:
        return ()

    threshold = context.threshold
    passes = score >= threshold
    approves = action == "APPROVE"
    if passes == approves:
        return ()

    if passes:
        expected = (
            f"APPROVE with a total_score of {score}, "
            f"or a total_score below {threshold} with {action}"
        )
    else:
        expected = (
            f"MODIFY or REQUEST_EXTERNAL_INPUT with a total_score of {score}, "
            f"or a total_score of at least {threshold} with APPROVE"
        )
    return (
        Violation(
            "score_contradicts_action",
            path="$.action_required",
            expected=expected,
            actual=str(action),
        ),
    )


def scores_stay_within_their_maximum(
    message: JsonObject, _: Context
) -> Iterable[Violation]:
    """Every dimension scores from 0 to its max_score."""
    violations: list[Violation] = []
    for index, dimension in enumerate(_dimensions(message)):
        score = dimension.get("score")
        maximum = dimension.get("max_score")
        if type(score) is not int or type(maximum) is not int:
            continue
        if not 0 <= score <= maximum:
            violations.append(
                Violation(
                    "out_of_range",
                    path=f"$.breakdown[{index}].score",
                    expected=f"an integer from 0 to {excerpt(maximum)}",
                    actual=excerpt(score),
                )
            )
    return violations


def scores_add_up(message: JsonObject, _: Context) -> Iterable[Notice]:
    """The breakdown should add up to the total (no seed demands it)."""
    total = message.get("total_score")
    if type(total) is not int:
        return ()

    added_up = 0
    for dimension in _dimensions(message):
        score = dimension.get("score")
        if type(score) is int:
            added_up += score
    if added_up == total:
        return ()
    text = f"is {excerpt(total)}, the breakdown adds up to {excerpt(added_up)}"
    return (
        Notice(
            "sum_differs",
            path="$.total_score",
            message=text,
        ),
    )


def _dimensions(message: JsonObject) -> list[JsonObject]:
    """Return the breakdown, or an empty list unless it is a list of objects."""
    breakdown = message.get("breakdown")
    if not isinstance(breakdown, list):
        return []
    are_objects = all(isinstance(dimension, dict) for dimension in breakdown)
    return breakdown if are_objects else []


def _id_asked_for(message: JsonObject, context: Context) -> str | None:
    if message.get("review_target") == "PLAN":
        return context.plan_id or context.task_id
    return context.task_id


_PRIORITY_ALIASES: Final = {
    "H": "HIGH",
    "HI": "HIGH",
    "URGENT": "HIGH",
    "CRITICAL": "HIGH",
    "M": "MED",
    "MID": "MED",
    "MEDIUM": "MED",
    "NORMAL": "MED",
    "L": "LOW",
    "MINOR": "LOW",
    "TRIVIAL": "LOW",
}
_TARGET_ALIASES: Final = {
    "PLAN_REVIEW": "PLAN",
    "PLAN_JSON": "PLAN",
    "TOP_TASK": "PLAN",
}
_SUGGESTION: Final = Shape(
    spellings={"priority": Spelling(PRIORITIES, _PRIORITY_ALIASES)}
)

REVIEW: Final = Contract(
    version="xiaojing_review_v1",
    name="review",
    about=(
        "A reviewer's score of a plan or of a task's product, with issues, evidence "
        "and what to do next."
    ),
    model=Review,
    scopes=(
        Scope(
            name="PLAN_REVIEW",
            narrows={"review_target": ("PLAN",)},
            enums=_ENUMS,
        ),
        Scope(
            name="TASK_CHECK",
            aliases=("TASK_REVIEW", "CHECK_NODE_REVIEW"),
            narrows={"review_target": ("NODE",)},
            enums=_ENUMS,
        ),
    ),
    shape=Shape(
        wrappers=("review_result",),
        marker="total_score",
        renames={"task_id": ("id", "taskId")},
        spellings={
            "review_target": Spelling(("PLAN", "NODE"), _TARGET_ALIASES),
            "action_required": Spelling(ACTIONS),
        },
        lists={"suggestions": _SUGGESTION},
    ),
    mends=(plan_reviews_carry_the_plan_id, blank_summaries_are_restated),
    rules=(
        is_about_what_was_asked,
        score_and_action_agree,
        scores_stay_within_their_maximum,
        scores_add_up,
    ),
)
