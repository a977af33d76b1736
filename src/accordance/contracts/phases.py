"""The phases of verbalized sampling and what each level demands. Data first (seed 002, "VS Phase"), one question after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from accordance.errors import InvalidPhases

PHASES: Final[Mapping[int, str]] = MappingProxyType(
    {
        0: "Context Collection",
        1: "Modal Identification",
        2: "Long-Tail Sampling",
        3: "Low-Typicality Selection",
        4: "Execution",
        5: "Originality Verification",
    }
)
LEVELS: Final = ("Full", "Enhanced", "Light")
_FULL, _ENHANCED = frozenset(PHASES), frozenset((0, 1, 2, 4))

DEMANDS: Final[Mapping[str, Mapping[str, frozenset[int]]]] = MappingProxyType(
    {
        "contract": {"Full": _FULL, "Enhanced": _ENHANCED, "Light": frozenset((1, 4))},
        "harness": {
            "Full": _FULL,
            "Enhanced": _ENHANCED,
            "Light": frozenset((0, 1, 4)),
        },
    }
)
"""Which phases a level must have executed. The contract is the seed's table; the harness of the same origin asks more."""


@dataclass(frozen=True, slots=True)
class PhaseReport:
    """How complete an execution was."""

    missing: tuple[int, ...]
    extra: tuple[int, ...]
    score: float

    @property
    def passed(self) -> bool:
        """Whether nothing is missing."""
        return not self.missing


def phase_completion(
    level: str, executed: Sequence[object], table: str = "contract"
) -> PhaseReport:
    """Hold the executed phases against the demands of a level. Order and repeats do not matter.

    Raises InvalidPhases for an unknown level and for what is no phase.
    """
    if level not in LEVELS:
        raise InvalidPhases("enum", "vs_level", level)
    done: set[int] = set()
    for at, phase in enumerate(executed):
        if type(phase) is not int:
            raise InvalidPhases("type", f"phase_executed[{at}]", phase)
        if phase not in PHASES:
            raise InvalidPhases("range", f"phase_executed[{at}]", phase)
        done.add(phase)
    required = DEMANDS[table][level]
    score = len(done & required) / len(required)
    return PhaseReport(
        tuple(sorted(required - done)), tuple(sorted(done - required)), score
    )
