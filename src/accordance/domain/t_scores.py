"""T-scores: how typical an option is.

The class depends on the raw number, never on the rounded number (seed 002).
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from accordance.domain.json_numbers import as_number
from accordance.errors import InvalidTScore

TClass: TypeAlias = Literal["modal", "established", "emerging", "creative"]

_ESTABLISHED_UP_TO: Final = 0.8
_ESTABLISHED_FROM: Final = 0.5
_EMERGING_FROM: Final = 0.3


def t_class(score: object) -> TClass:
    """Return the class of a score.

    Modal above 0.8; established from 0.5 to 0.8; emerging from 0.3 up to 0.5; creative
    below 0.3. Raises InvalidTScore.
    """
    number = as_number(score)
    if number is None:
        raise InvalidTScore("type", score)
    if not 0 <= number <= 1:
        raise InvalidTScore("range", score)
    if number > _ESTABLISHED_UP_TO:
        return "modal"
    if number >= _ESTABLISHED_FROM:
        return "established"
    if number >= _EMERGING_FROM:
        return "emerging"
    return "creative"
