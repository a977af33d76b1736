"""Constraints that agents hand on: what they are about, and which is stricter."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from accordance.domain.json_numbers import as_number
from accordance.domain.research.names import plain

QUALITY_LEVELS: Final = ("draft", "standard", "publication_ready")
"""The quality levels of a request, the lowest first."""


def merged(constraints: Sequence[object]) -> list[object]:
    """Return the constraints without repetition.

    Of two budgets the smaller counts, of two quality levels the higher.
    """
    kept: dict[str, object] = {}

    for constraint in constraints:
        subject = subject_of(constraint)
        if subject not in kept or _limit(constraint) < _limit(kept[subject]):
            kept[subject] = constraint

    return list(kept.values())


def subject_of(constraint: object) -> str:
    """Return the key that two constraints share if they are about the same subject."""
    limited = _limited(constraint)
    if limited is not None:
        name, _ = limited
        return f"\n{name}"

    if isinstance(constraint, str):
        return f'"{plain(constraint)}'

    return json.dumps(constraint, sort_keys=True, ensure_ascii=False)


def _limited(constraint: object) -> tuple[str, object] | None:
    """Return name and value of a budget or quality level, None for anything else."""
    if not isinstance(constraint, dict) or len(constraint) != 1:
        return None

    name, value = next(iter(constraint.items()))
    return (name, value) if name in _LIMITS else None


def _limit(constraint: object) -> float:
    """Return how much a constraint allows: the stricter constraint allows less."""
    limited = _limited(constraint)
    if limited is None:
        return 0.0

    name, value = limited
    return _LIMITS[name](value)


def _amount(value: object) -> float:
    number = as_number(value)
    return float("inf") if number is None else number


def _quality(value: object) -> float:
    if value not in QUALITY_LEVELS:
        return 1.0
    return -QUALITY_LEVELS.index(value)


_LIMITS: Final[Mapping[str, Callable[[object], float]]] = MappingProxyType(
    {
        "time_budget": _amount,
        "context_budget": _amount,
        "quality_level": _quality,
    }
)
