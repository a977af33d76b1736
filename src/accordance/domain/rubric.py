"""Rubrics: what a review scores, dimension by dimension. Data first; one rule that holds a review to its rubric."""

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
    """Dimensions with their maxima, which add up to 100, and from which score a product passes."""

    name: str
    maxima: Mapping[str, int]
    approve_at: int = APPROVE_AT

    def __post_init__(self) -> None:
        if (
            sum(self.maxima.values()) != BEST_SCORE
            or min(self.maxima.values(), default=0) <= 0
        ):
            raise InvalidRubric(
                f"{self.name}: the maxima must be positive and add up to {BEST_SCORE}"
            )
        if not 0 <= self.approve_at <= BEST_SCORE:
            raise InvalidRubric(f"{self.name}: approve_at is a score")


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
        {"Correctness": 40, "Coverage": 30, "Traceability": 20, "Actionability": 10}
    ),
)


def follows(rubric: Rubric) -> Rule:
    """The rule that a review scores exactly these dimensions, with these maxima, and that they add up to its total.

    For use with any review contract: `REVIEW.with_rules(follows(NODE_RUBRIC))`.
    """

    def follows_the_rubric(message: JsonObject, _: Context) -> Iterator[Violation]:
        """The breakdown has the rubric's dimensions and maxima, and adds up to total_score."""
        breakdown = message.get("breakdown")
        if isinstance(breakdown, list) and all(
            isinstance(entry, dict) for entry in breakdown
        ):
            yield from _dimensions(rubric, breakdown)
            yield from _sum(message.get("total_score"), breakdown)

    return follows_the_rubric


def _dimensions(rubric: Rubric, breakdown: list[JsonObject]) -> Iterator[Violation]:
    seen: set[str] = set()
    for at, entry in enumerate(breakdown):
        name, where = entry.get("dimension"), f"$.breakdown[{at}]"
        if not isinstance(name, str):
            continue
        if name in seen or name not in rubric.maxima:
            expected = f"each of {', '.join(rubric.maxima)} once"
            yield Violation(
                "rubric_dimension", f"{where}.dimension", expected, excerpt(name)
            )
        elif (
            entry.get("max_score") != rubric.maxima[name]
            and type(entry.get("max_score")) is int
        ):
            expected = f"{rubric.maxima[name]}, with a score out of that many"
            yield Violation(
                "rubric_maximum",
                f"{where}.max_score",
                expected,
                excerpt(entry["max_score"]),
            )
        seen.add(name)
    for name in rubric.maxima:
        if name not in seen:
            yield Violation(
                "rubric_dimension", "$.breakdown", f"the dimension {name}", "nothing"
            )


def _sum(total: object, breakdown: list[JsonObject]) -> Iterator[Violation]:
    scores = [score for entry in breakdown if type(score := entry.get("score")) is int]
    if type(total) is int and len(scores) == len(breakdown) and sum(scores) != total:
        yield Violation(
            "rubric_sum",
            "$.total_score",
            f"{sum(scores)}, the sum of the breakdown",
            str(total),
        )
