"""`xiaojing_review_v1`: a reviewer's score of a plan or a product (scopes PLAN_REVIEW, TASK_CHECK). Seeds 000 s3, 001 s2."""

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


def plan_reviews_carry_the_plan_id(
    message: JsonObject, context: Context
) -> tuple[JsonObject, list[Repair]]:
    """For a PLAN the system puts the plan's id where a task's id would be (seed 001 s2)."""
    wanted, found = _asked_for(message, context), message.get("task_id")
    has_no_id = found is None or (isinstance(found, str) and is_blank(found))
    if message.get("review_target") != "PLAN" or wanted is None or not has_no_id:
        return message, []
    return {**message, "task_id": wanted}, [
        Repair("plan_id_as_task_id", "$.task_id", found, wanted)
    ]


def blank_summaries_are_restated(
    message: JsonObject, _: Context
) -> tuple[JsonObject, list[Repair]]:
    """A summary must be there; a blank one is mended from the review's own decision and score (seed 001 s2)."""
    summary, action, score = (
        message.get("summary"),
        message.get("action_required"),
        message.get("total_score"),
    )
    if (
        not isinstance(summary, str)
        or not is_blank(summary)
        or action not in ACTIONS
        or type(score) is not int
    ):
        return message, []
    restated = f"{action} ({score}/{BEST_SCORE})"
    return {**message, "summary": restated}, [
        Repair("blank_summary", "$.summary", summary, restated)
    ]


def is_about_what_was_asked(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """A NODE review carries the task's id, a PLAN review the plan's."""
    wanted, found = _asked_for(message, context), message.get("task_id")
    if wanted is None or found == wanted or not isinstance(found, str):
        return ()
    return (wrong_task(wanted, found),)


def score_and_action_agree(
    message: JsonObject, context: Context
) -> Iterable[Violation]:
    """total_score reaches the threshold if and only if the action is APPROVE."""
    score, action = message.get("total_score"), message.get("action_required")
    if type(score) is not int or not 0 <= score <= BEST_SCORE or action not in ACTIONS:
        return ()
    passes = score >= context.threshold
    if passes == (action == "APPROVE"):
        return ()
    bar = context.threshold
    others = "MODIFY or REQUEST_EXTERNAL_INPUT"
    if passes:
        expected = f"APPROVE with a total_score of {score}, or a total_score below {bar} with {action}"
    else:
        expected = f"{others} with a total_score of {score}, or a total_score of at least {bar} with APPROVE"
    return (
        Violation(
            "score_contradicts_action", "$.action_required", expected, str(action)
        ),
    )


def scores_stay_within_their_maximum(
    message: JsonObject, _: Context
) -> Iterable[Violation]:
    """Every dimension scores from 0 to its max_score."""
    return [
        Violation(
            "out_of_range",
            f"$.breakdown[{at}].score",
            f"an integer from 0 to {excerpt(most)}",
            excerpt(score),
        )
        for at, dimension in enumerate(_dimensions(message))
        if type(score := dimension.get("score")) is int
        and type(most := dimension.get("max_score")) is int
        and not 0 <= score <= most
    ]


def scores_add_up(message: JsonObject, _: Context) -> Iterable[Notice]:
    """The breakdown of a full rubric should add up to the total; nothing in the seeds demands it."""
    total = message.get("total_score")
    scores = [
        score
        for dimension in _dimensions(message)
        if type(score := dimension.get("score")) is int
    ]
    if type(total) is not int or sum(scores) == total:
        return ()
    text = f"is {excerpt(total)}, the breakdown adds up to {excerpt(sum(scores))}"
    return (Notice("sum_differs", "$.total_score", text),)


def _dimensions(message: JsonObject) -> list[JsonObject]:
    breakdown = message.get("breakdown")
    are_objects = isinstance(breakdown, list) and all(
        isinstance(dimension, dict) for dimension in breakdown
    )
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
                ("PLAN", "NODE"),
                {"PLAN_REVIEW": "PLAN", "PLAN_JSON": "PLAN", "TOP_TASK": "PLAN"},
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
