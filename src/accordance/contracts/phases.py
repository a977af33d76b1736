"""The phases of verbalized sampling and the demands of each level (seed 002)."""

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
_FULL: Final = frozenset(PHASES)
_ENHANCED: Final = frozenset((0, 1, 2, 4))

DEMANDS: Final[Mapping[str, Mapping[str, frozenset[int]]]] = MappingProxyType(
    {
        "contract": {
            "Full": _FULL,
            "Enhanced": _ENHANCED,
            "Light": frozenset((1, 4)),
        },
        "harness": {
            "Full": _FULL,
            "Enhanced": _ENHANCED,
            "Light": frozenset((0, 1, 4)),
        },
    }
)
"""The phases that a level must have executed.

The contract is the table of the seed; the harness of the same origin demands more.
"""


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
    level: str,
    executed: Sequence[object],
    table: str = "contract",
) -> PhaseReport:
    """Compare the executed phases with those a level demands.

    Order and repeats do not matter. Raises InvalidPhases for an unknown level or phase.
    """
    if level not in LEVELS:
        raise InvalidPhases("enum", "vs_level", level)
    done: set[int] = set()
    for index, phase in enumerate(executed):
        if type(phase) is not int:
            raise InvalidPhases("type", f"phase_executed[{index}]", phase)
        if phase not in PHASES:
            raise InvalidPhases("range", f"phase_executed[{index}]", phase)
        done.add(phase)

    required = DEMANDS[table][level]
    missing = tuple(sorted(required - done))
    extra = tuple(sorted(done - required))
    score = len(done & required) / len(required)
    return PhaseReport(missing, extra, score)
