"""What a single answer is worth, measured: its spread of T-scores, its self-critique, its provenance.

The rules are those of the harness that grew up beside seed 002. Where that harness counts characters as if they were
items, profile `seed` does so too; the default counts items that say something.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from accordance.contracts.jsonpath import JsonObject

Profile: TypeAlias = Literal["strict", "seed"]

MODAL_ABOVE: Final = 0.8
DIVERSE_BELOW: Final = 0.6
CRITIQUE_PASSES_AT: Final = 0.75


@dataclass(frozen=True, slots=True)
class Distribution:
    """How an answer's T-scores lie."""

    count: int
    lowest: float
    highest: float
    selected: float | None

    @property
    def modal_only(self) -> bool:
        """Whether every option is what everybody would say."""
        return self.count > 0 and self.lowest > MODAL_ABOVE

    @property
    def spread(self) -> float:
        """From the least to the most typical."""
        return self.highest - self.lowest

    @property
    def passed(self) -> bool:
        """Some option is off the beaten track, and the selection is not modal."""
        if self.count == 0 or self.selected is None:
            return False
        return self.lowest < DIVERSE_BELOW and self.selected <= MODAL_ABOVE


def distribution(answer: JsonObject) -> Distribution:
    """The single-answer check. What is no score is left out: the contract speaks of that."""
    metadata = part(answer, "vs_metadata")
    entries = metadata.get("t_scores")
    scores = [
        float(score)
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and (score := number(entry.get("score"))) is not None
    ]
    selected = number(part(metadata, "final_selection").get("t_score"))
    return Distribution(
        len(scores), min(scores, default=0.0), max(scores, default=0.0), selected
    )


@dataclass(frozen=True, slots=True)
class Checklist:
    """Named checks and the share of them that must hold."""

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
    """Two strengths, two weaknesses, one improvement, another perspective (or a weakness to stand in for it)."""
    critique = part(answer, "self_critique")
    strengths, weaknesses, improvements, others = (
        _count(critique.get(key), profile)
        for key in (
            "strengths",
            "weaknesses",
            "improvement_suggestions",
            "alternative_perspectives",
        )
    )
    has_others = (
        "alternative_perspectives" in critique if profile == "seed" else others >= 1
    )
    checks = {
        "has_strengths": strengths >= 2,  # noqa: PLR2004 - said above
        "has_weaknesses": weaknesses >= 2,  # noqa: PLR2004
        "has_improvements": improvements >= 1,
        "has_alternatives": has_others or weaknesses >= 1,
    }
    return Checklist(checks, CRITIQUE_PASSES_AT)


def provenance_completeness(
    answer: JsonObject, profile: Profile = "strict"
) -> Checklist:
    """At least one source, at least one step of reasoning, and a word on assumptions, though there may be none."""
    provenance = part(answer, "provenance")
    checks = {
        "has_sources": _count(provenance.get("sources"), profile) >= 1,
        "has_reasoning": _count(provenance.get("reasoning_trace"), profile) >= 1,
        "has_assumptions": "assumptions" in provenance,
    }
    return Checklist(checks)


def part(message: JsonObject, key: str) -> JsonObject:
    """An object inside of a message, empty if it is none."""
    found = message.get(key)
    return found if isinstance(found, dict) else {}


def _count(items: object, profile: Profile) -> int:
    if profile == "seed":
        return len(items) if isinstance(items, str | list | dict) else 0
    if not isinstance(items, list):
        return 0
    return sum(
        1 for item in items if item and (not isinstance(item, str) or item.strip())
    )


def number(value: object) -> float | None:
    """A number, which true is not."""
    return (
        value
        if isinstance(value, int | float) and not isinstance(value, bool)
        else None
    )
