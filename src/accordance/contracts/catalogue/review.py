"""`xiaojing_review_v1`: a reviewer's score of a plan or a product (scopes PLAN_REVIEW, TASK_CHECK). Seeds 000 s3, 001 s2."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal

from pydantic import Field

from accordance.contracts.context import Context
from accordance.contracts.contract import Contract, Scope
from accordance.contracts.fields import Open, Text
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.normalising import Shape, Spelling
from accordance.contracts.violation import Fix, Notice, Repair, Violation, excerpt

ACTIONS: Final = ("APPROVE", "MODIFY", "REQUEST_EXTERNAL_INPUT")
PRIORITIES: Final = ("HIGH", "MED", "LOW")
BEST_SCORE: Final = 100
_ENUMS: Final = ("review_target", "action_required", "suggestions[*].priority")


class Issue(Open):
    """One fault, with its evidence and the test by which it counts as mended."""

    problem: Text
    evidence: Text
    impact: Text
    suggestion: Text
    acceptance_criteria: Text


class Dimension(Open):
    """The score in one dimension of the rubric."""

    dimension: Text
    score: int
    max_score: Annotated[int, Field(ge=0)]
    issues: list[Issue]


class Suggestion(Open):
    """One change that is asked for."""

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


def plan_reviews_carry_the_plan_id(message: JsonObject, context: Context) -> tuple[JsonObject, list[Repair]]:
    """For a PLAN the system puts the plan's id where a task's id would be (seed 001 s2)."""
    wanted, found = _asked_for(message, context), message.get("task_id")
    is_blank = found is None or (isinstance(found, str) and not found.strip())
    if message.get("review_target") != "PLAN" or wanted is None or not is_blank:
        return message, []
    return {**message, "task_id": wanted}, [Repair("plan_id_as_task_id", "$.task_id", found, wanted)]


def blank_summaries_are_restated(message: JsonObject, _: Context) -> tuple[JsonObject, list[Repair]]:
    """A summary must be there; a blank one is mended from the review's own decision and score (seed 001 s2)."""
    summary, action, score = (
        message.get("summary"),
        message.get("action_required"),
        message.get("total_score"),
    )
    if not isinstance(summary, str) or summary.strip() or action not in ACTIONS or type(score) is not int:
        return message, []
    restated = f"{action} ({score}/{BEST_SCORE})"
    return {**message, "summary": restated}, [Repair("blank_summary", "$.summary", summary, restated)]


def is_about_what_was_asked(message: JsonObject, context: Context) -> Iterable[Violation]:
    """A NODE review carries the task's id, a PLAN review the plan's."""
    wanted, found = _asked_for(message, context), message.get("task_id")
    if wanted is None or found == wanted or not isinstance(found, str):
        return ()
    return (Violation("wrong_task", "$.task_id", excerpt(wanted), excerpt(found), Fix("$.task_id", wanted)),)


def score_and_action_agree(message: JsonObject, context: Context) -> Iterable[Violation]:
    """total_score reaches the threshold if and only if the action is APPROVE."""
    score, action = message.get("total_score"), message.get("action_required")
    if type(score) is not int or not 0 <= score <= BEST_SCORE or action not in ACTIONS:
        return ()
    passes = score >= context.threshold
    if passes == (action == "APPROVE"):
        return ()
    if passes:
        expected, fix = f"APPROVE, because total_score {score} is {context.threshold} or more", "APPROVE"
    else:
        expected = (
            f"MODIFY or REQUEST_EXTERNAL_INPUT, because total_score {score} is below {context.threshold}"
        )
        fix = "MODIFY"
    where = "$.action_required"
    return (Violation("score_contradicts_action", where, expected, str(action), Fix(where, fix)),)


def scores_stay_within_their_maximum(message: JsonObject, _: Context) -> Iterable[Violation]:
    """Every dimension scores from 0 to its max_score."""
    return [
        Violation("out_of_range", f"$.breakdown[{at}].score", f"an integer from 0 to {most}", str(score))
        for at, dimension in enumerate(_dimensions(message))
        if type(score := dimension.get("score")) is int
        and type(most := dimension.get("max_score")) is int
        and not 0 <= score <= most
    ]


def scores_add_up(message: JsonObject, _: Context) -> Iterable[Notice]:
    """The breakdown of a full rubric should add up to the total; nothing in the seeds demands it."""
    total = message.get("total_score")
    scores = [score for dimension in _dimensions(message) if type(score := dimension.get("score")) is int]
    if type(total) is not int or sum(scores) == total:
        return ()
    return (Notice("sum_differs", "$.total_score", f"is {total}, the breakdown adds up to {sum(scores)}"),)


def _dimensions(message: JsonObject) -> list[JsonObject]:
    breakdown = message.get("breakdown")
    are_objects = isinstance(breakdown, list) and all(isinstance(dimension, dict) for dimension in breakdown)
    return breakdown if isinstance(breakdown, list) and are_objects else []


def _asked_for(message: JsonObject, context: Context) -> str | None:
    is_plan = message.get("review_target") == "PLAN"
    return (context.plan_id or context.task_id) if is_plan else context.task_id


REVIEW: Final = Contract(
    version="xiaojing_review_v1",
    name="review",
    about="A reviewer's score of a plan or of a task's product, with issues, evidence and what to do next.",
    model=Review,
    scopes=(
        Scope(name="PLAN_REVIEW", narrows={"review_target": ("PLAN",)}, enums=_ENUMS),
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
            "review_target": Spelling(
                ("PLAN", "NODE"), {"PLAN_REVIEW": "PLAN", "PLAN_JSON": "PLAN", "TOP_TASK": "PLAN"}
            ),
            "action_required": Spelling(ACTIONS),
        },
        lists={
            "suggestions": Shape(
                spellings={
                    "priority": Spelling(
                        PRIORITIES,
                        {
                            **dict.fromkeys(("H", "HI", "URGENT", "CRITICAL"), "HIGH"),
                            **dict.fromkeys(("M", "MID", "MEDIUM", "NORMAL"), "MED"),
                            **dict.fromkeys(("L", "MINOR", "TRIVIAL"), "LOW"),
                        },
                    )
                }
            )
        },
    ),
    mends=(plan_reviews_carry_the_plan_id, blank_summaries_are_restated),
    rules=(
        is_about_what_was_asked,
        score_and_action_agree,
        scores_stay_within_their_maximum,
        scores_add_up,
    ),
)
