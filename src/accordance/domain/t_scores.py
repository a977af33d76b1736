"""T-scores: how typical an option is. Classes on the raw number, never on the rounded one (seed 002)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from accordance.errors import InvalidTScore

TClass: TypeAlias = Literal["modal", "established", "emerging", "creative"]


def t_class(score: object) -> TClass:
    """Modal above 0.8; established from 0.5 to 0.8; emerging from 0.3 up to 0.5; creative below 0.3."""
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise InvalidTScore("type", score)
    if not 0 <= score <= 1:
        raise InvalidTScore("range", score)
    if score > 0.8:  # noqa: PLR2004 - the bounds are the seed's, said above
        return "modal"
    if score >= 0.5:  # noqa: PLR2004
        return "established"
    return "emerging" if score >= 0.3 else "creative"  # noqa: PLR2004
