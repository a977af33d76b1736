"""What follows from tests that ran and passed, and still prove little.

The policy is part of the terms of a verdict, so that the verdict can be recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Consequence(StrEnum):
    """What a verdict makes of a weak proof."""

    IGNORE = "ignore"
    WARN = "warn"  # a notice beside the verdict
    REFUSE = "refuse"  # a finding


@dataclass(frozen=True, slots=True)
class TestPolicy:
    """How much the tests of a change have to prove."""

    __test__ = False  # the name means something else to pytest

    do_not_tell: Consequence = Consequence.WARN
    """Where every test passes without the change, too."""
    not_reached: Consequence = Consequence.IGNORE
    """Where no test runs some of the changed lines."""
    mutants_survive: Consequence = Consequence.WARN
    """Where no test notices a fault in a changed line, if any were tried."""
