"""Errors of research: agents, golden sets, phases and T-scores."""

from __future__ import annotations

from accordance.errors.base import AccordanceError


class InvalidTScore(AccordanceError):
    """A T-score that is not a number from 0 to 1."""

    code = "invalid-t-score"

    def __init__(self, fault: str, score: object) -> None:
        super().__init__(fault, score)
        self.fault = fault
        self.score = score

    @property
    def text(self) -> str:
        """The fault, and the score."""
        return f"{self.fault}: a T-score is a number from 0 to 1, got {self.score!r}"


class InvalidAgents(AccordanceError):
    """A registry of research agents that contradicts itself."""

    code = "invalid-agents"


class InvalidGolden(AccordanceError):
    """A golden set, or its report, cannot be read."""

    code = "invalid-golden"


class InvalidComparator(AccordanceError):
    """An expectation that cannot be read. Names what can be written instead."""

    code = "invalid-comparator"


class InvalidRun(AccordanceError):
    """An answer that cannot be counted: it selects nothing, or has no time."""

    code = "invalid-run"


class InvalidPhases(AccordanceError):
    """An unknown level, or an executed phase that does not exist."""

    code = "invalid-phases"

    def __init__(self, fault: str, where: str, value: object) -> None:
        super().__init__(fault, where, value)
        self.fault = fault
        self.where = where
        self.value = value

    @property
    def text(self) -> str:
        """The fault, its place, and what stands there."""
        return f"{self.fault}:{self.where}: got {self.value!r}"
