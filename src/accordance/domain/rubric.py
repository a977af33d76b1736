"""Rubrics: what a review scores, dimension by dimension.

A rubric is data; `follows` is the rule that holds a review to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from accordance.contracts.context import APPROVE_AT, Context
from accordance.contracts.contract import Rule
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Violation, excerpt
from accordance.errors import InvalidRubric

BEST_SCORE: Final = 100


@dataclass(frozen=True, slots=True)
class Rubric:
    """Dimensions with their maxima, and the score from which a product passes.

    The maxima add up to 100.
    """

    name: str
    maxima: Mapping[str, int]
    approve_at: int = APPROVE_AT

    def __post_init__(self) -> None:
        maxima = self.maxima.values()
        all_positive = all(maximum > 0 for maximum in maxima)
        if sum(maxima) != BEST_SCORE or not all_positive:
            raise InvalidRubric(
                f"{self.name}: the maxima must be positive and add up to {BEST_SCORE}"
            )
        if not 0 <= self.approve_at <= BEST_SCORE:
            raise InvalidRubric(
                f"{self.name}: approve_at must be from 0 to {BEST_SCORE}"
            )


PLAN_RUBRIC: Final = Rubric(
    "plan",
    MappingProxyType(
        {
            "Completeness": 40,
            "Dependency Soundness": 25,
            "Executability": 20,
            "Clarity": 15,
        }
    ),
)
NODE_RUBRIC: Final = Rubric(
    "node",
    MappingProxyType(
        {
            "Correctness": 40,
            "Coverage": 30,
            "Traceability": 20,
            "Actionability": 10,
        }
    ),
)


def follows(rubric: Rubric) -> Rule:
    """Return the rule that a review scores exactly the dimensions of a rubric.

    The maxima must be the rubric's, and the scores must add up to the total. For use
    with any review contract: `REVIEW.with_rules(follows(NODE_RUBRIC))`.
    """

    def follows_the_rubric(message: JsonObject, _: Context) -> Iterator[Violation]:
        """The breakdown follows the rubric and adds up to total_score."""
        breakdown = message.get("breakdown")
        if not isinstance(breakdown, list):
            return
        if all(isinstance(entry, dict) for entry in breakdown):
            yield from _dimensions(rubric, breakdown)
            yield from _sum(message.get("total_score"), breakdown)

    return follows_the_rubric


def _dimensions(rubric: Rubric, breakdown: list[JsonObject]) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, entry in enumerate(breakdown):
        name = entry.get("dimension")
        path = f"$.breakdown[{index}]"
        if not isinstance(name, str):
            continue
        if name in seen or name not in rubric.maxima:
            expected = f"each of {', '.join(rubric.maxima)} once"
            actual = excerpt(name)
            yield Violation(
                code="rubric_dimension",
                path=f"{path}.dimension",
                expected=expected,
                actual=actual,
            )
        else:
            yield from _maximum(rubric.maxima[name], entry.get("max_score"), path)
        seen.add(name)

    for name in rubric.maxima:
        if name not in seen:
            expected = f"the dimension {name}"
            yield Violation(
                code="rubric_dimension",
                path="$.breakdown",
                expected=expected,
                actual="nothing",
            )


def _maximum(maximum: int, max_score: object, path: str) -> Iterator[Violation]:
    if type(max_score) is int and max_score != maximum:
        expected = f"{maximum}, with a score out of that many"
        actual = excerpt(max_score)
        yield Violation(
            code="rubric_maximum",
            path=f"{path}.max_score",
            expected=expected,
            actual=actual,
        )


def _sum(total: object, breakdown: list[JsonObject]) -> Iterator[Violation]:
    """Compare the sum with the total. The contract checks that scores are integers."""
    if type(total) is not int:
        return
    sum_of_scores = 0
    for entry in breakdown:
        score = entry.get("score")
        if type(score) is not int:
            return
        sum_of_scores += score
    if sum_of_scores != total:
        expected = f"{sum_of_scores}, the sum of the breakdown"
        yield Violation(
            code="rubric_sum",
            path="$.total_score",
            expected=expected,
            actual=str(total),
        )
