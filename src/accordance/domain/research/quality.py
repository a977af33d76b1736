"""What a single answer is worth: its T-scores, its self-critique, its provenance.

The rules are those of the harness beside seed 002. Where that harness counts characters
as if they were items, profile `seed` does so too; the default counts items that say
something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.json_numbers import as_number

Profile: TypeAlias = Literal["strict", "seed"]

MODAL_ABOVE: Final = 0.8
DIVERSE_BELOW: Final = 0.6
CRITIQUE_PASSES_AT: Final = 0.75
FEWEST_STRENGTHS: Final = 2
FEWEST_WEAKNESSES: Final = 2


@dataclass(frozen=True, slots=True)
class Distribution:
    """How the T-scores of an answer are distributed."""

    count: int
    lowest: float
    highest: float
    selected: float | None

    @property
    def modal_only(self) -> bool:
        """Whether every option is obvious."""
        return self.count > 0 and self.lowest > MODAL_ABOVE

    @property
    def spread(self) -> float:
        """The distance from the least to the most typical option."""
        return self.highest - self.lowest

    @property
    def passed(self) -> bool:
        """Whether some option is off the beaten track and the selection not modal."""
        if self.count == 0 or self.selected is None:
            return False
        return self.lowest < DIVERSE_BELOW and self.selected <= MODAL_ABOVE


def distribution(answer: JsonObject) -> Distribution:
    """Return the distribution of an answer's T-scores.

    Entries that are not scores are left out: they violate the contract, which says so.
    """
    metadata = part(answer, "vs_metadata")
    selection = part(metadata, "final_selection")
    selected = as_number(selection.get("t_score"))

    scores = []
    for entry in items(metadata, "t_scores"):
        score = None
        if isinstance(entry, dict):
            score = as_number(entry.get("score"))
        if score is not None:
            scores.append(float(score))

    lowest = min(scores, default=0.0)
    highest = max(scores, default=0.0)
    return Distribution(
        count=len(scores),
        lowest=lowest,
        highest=highest,
        selected=selected,
    )


@dataclass(frozen=True, slots=True)
class Checklist:
    """Named checks, and the share of them that must hold."""

    checks: Mapping[str, bool]
    passes_at: float = 1.0

    @property
    def score(self) -> float:
        """The share that holds."""
        return sum(self.checks.values()) / len(self.checks)

    @property
    def passed(self) -> bool:
        """Whether enough of them hold."""
        return self.score >= self.passes_at


def critique_quality(answer: JsonObject, profile: Profile = "strict") -> Checklist:
    """Check the self-critique of an answer.

    It has two strengths, two weaknesses, an improvement and another perspective; a
    weakness can stand in for the perspective.
    """
    critique = part(answer, "self_critique")
    strengths = _count(critique.get("strengths"), profile)
    weaknesses = _count(critique.get("weaknesses"), profile)
    improvements = _count(critique.get("improvement_suggestions"), profile)

    if profile == "seed":
        has_perspectives = "alternative_perspectives" in critique
    else:
        perspectives = critique.get("alternative_perspectives")
        has_perspectives = _count(perspectives, profile) >= 1

    checks = {
        "has_strengths": strengths >= FEWEST_STRENGTHS,
        "has_weaknesses": weaknesses >= FEWEST_WEAKNESSES,
        "has_improvements": improvements >= 1,
        "has_alternatives": has_perspectives or weaknesses >= 1,
    }
    return Checklist(checks, CRITIQUE_PASSES_AT)


def provenance_completeness(
    answer: JsonObject, profile: Profile = "strict"
) -> Checklist:
    """Check that an answer has a source, a step of reasoning, and its assumptions.

    The list of assumptions may be empty, but it has to be there.
    """
    provenance = part(answer, "provenance")
    sources = _count(provenance.get("sources"), profile)
    reasoning = _count(provenance.get("reasoning_trace"), profile)
    checks = {
        "has_sources": sources >= 1,
        "has_reasoning": reasoning >= 1,
        "has_assumptions": "assumptions" in provenance,
    }
    return Checklist(checks)


def _count(value: object, profile: Profile) -> int:
    if profile == "seed":
        if isinstance(value, str | list | dict):
            return len(value)
        return 0
    if not isinstance(value, list):
        return 0
    return sum(_says_something(item) for item in value)


def _says_something(item: object) -> bool:
    if isinstance(item, str):
        return bool(item.strip())
    return bool(item)


def part(message: JsonObject, key: str) -> JsonObject:
    """Return the object under a key, or an empty object."""
    value = message.get(key)
    return value if isinstance(value, dict) else {}


def items(message: JsonObject, key: str) -> list[object]:
    """Return the list under a key, or an empty list."""
    value = message.get(key)
    return value if isinstance(value, list) else []
