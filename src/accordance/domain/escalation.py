"""What follows a failure: the ladder of five levels, its fast tracks, and the rule about errors that come again.

0 retry, 1 a stronger model, 2 a role that may do more, 3 a person, 4 the dead letters. A failure goes to the level its fast
track names; else it is retried while attempts remain and the error is not the same one again; else to the first level above
that can be had. A person comes in only by a fast track: what is no matter of policy ends in the dead letters instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.attempts import SAME_ERROR_LIMIT, why_not_again


class Level(IntEnum):
    """The rungs."""

    RETRY = 0
    MODEL_UPGRADE = 1
    ROLE_ESCALATION = 2
    HUMAN = 3
    DEAD_LETTER = 4


class NextAction(StrEnum):
    """What is done next, in the words of seed 003."""

    NONE = "none"
    RETRY = "retry"
    MODEL_UPGRADE = "model_upgrade"
    ROLE_ESCALATION = "role_escalation"
    HUMAN = "human"
    DLQ = "dlq"


ACTIONS: Final[Mapping[Level, NextAction]] = MappingProxyType(
    {
        Level.RETRY: NextAction.RETRY,
        Level.MODEL_UPGRADE: NextAction.MODEL_UPGRADE,
        Level.ROLE_ESCALATION: NextAction.ROLE_ESCALATION,
        Level.HUMAN: NextAction.HUMAN,
        Level.DEAD_LETTER: NextAction.DLQ,
    }
)
LEVELS: Final[Mapping[Level, str]] = MappingProxyType(
    {
        Level.RETRY: "The same agent tries again and is told what was found.",
        Level.MODEL_UPGRADE: "A stronger model among allowedModels tries.",
        Level.ROLE_ESCALATION: "A role tries that may do everything this one may, and more.",
        Level.HUMAN: "A person decides. If it is resolved, the task begins again at level 0, else it goes to level 4.",
        Level.DEAD_LETTER: "The task is given up; everything that is needed to begin it again is kept.",
    }
)
FAST_TRACKS: Final[Mapping[str, Level]] = MappingProxyType(
    {
        "CONSTITUTION_VIOLATION": Level.DEAD_LETTER,
        "BUDGET_EXCEEDED": Level.DEAD_LETTER,
        "POLICY_VIOLATION": Level.HUMAN,
        "ROLE_POLICY_VIOLATION": Level.HUMAN,
        "SCOPE_CONFLICT": Level.HUMAN,
        "PINS_INSUFFICIENT": Level.HUMAN,
        "NEED_INPUT_REQUIRED": Level.HUMAN,
        "ISOLATION_UNAVAILABLE": Level.HUMAN,
        "SPLIT_REQUIRED": Level.HUMAN,
        "PERMISSION_DENIED": Level.HUMAN,
        "DEPENDENCY_MISSING": Level.HUMAN,
        "PREFLIGHT_FAILED": Level.HUMAN,
    }
)
"""Failures that no further attempt can mend, and where they go at once."""

NEEDS_ANOTHER_MODEL: Final = frozenset(("MODEL_UNAVAILABLE",))
"""Failures that another model may mend, and the same one cannot; without another, a person decides."""

MODEL_TIERS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "glm-4.7": 3,
        "kimi-k2.5": 3,
        "claude-sonnet": 2,
        "gpt-4o-mini": 2,
        "claude-opus": 1,
        "gpt-4o": 1,
    }
)
"""The origin's models, 1 is the strongest. A deployment brings its own table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderPosition:
    """Where a task stands on the ladder, and what could still be had."""

    attempt: int = 1  # runs already made, this one included
    max_attempts: int
    same_error_count: int = (
        1  # how often running this error has come, this time included
    )
    repeat_threshold: int = SAME_ERROR_LIMIT
    level: Level = Level.RETRY
    model_tier: int | None = None  # None: not known, so no stronger one can be named
    allowed_tiers: frozenset[int] = frozenset()
    higher_role: bool = False
    role_above: str | None = None  # its name
    upgrades_at_once: bool = False  # every failure is followed by the next stronger model, where there is one
    human_resolved: bool | None = (
        None  # what became of the person's turn, if there was one
    )

    @property
    def repeats(self) -> bool:
        """Whether the same error has come too often running."""
        return self.same_error_count >= self.repeat_threshold

    @property
    def may_retry(self) -> bool:
        """Whether the same agent may try again in the same way."""
        same = self.same_error_count
        return (
            why_not_again(self.attempt, self.max_attempts, same, self.repeat_threshold)
            is None
        )

    @property
    def stronger_tier(self) -> int | None:
        """The next stronger tier that is allowed."""
        now = self.model_tier
        return (
            None
            if now is None
            else max((tier for tier in self.allowed_tiers if tier < now), default=None)
        )


@dataclass(frozen=True, slots=True)
class Step:
    """The level that a failure leads to, and what is done there."""

    level: Level
    model_tier: int | None = (
        None  # the tier to go on with, where the step is to another model
    )
    role: str | None = None  # the role to go on with, where the step is to another role

    @property
    def action(self) -> NextAction:
        """What is done at that level."""
        return ACTIONS[self.level]


def next_step(reason: str, standing: LadderPosition) -> Step:
    """Where a failure with this reason leads a task that stands there."""
    if standing.human_resolved is not None:
        return Step(Level.RETRY if standing.human_resolved else Level.DEAD_LETTER)
    if (level := FAST_TRACKS.get(reason)) is not None:
        return Step(level)
    if standing.level >= Level.HUMAN:
        return Step(standing.level)
    stronger = standing.stronger_tier
    if reason in NEEDS_ANOTHER_MODEL:
        return (
            Step(Level.HUMAN)
            if stronger is None
            else Step(Level.MODEL_UPGRADE, stronger)
        )
    if standing.may_retry and stronger is not None and standing.upgrades_at_once:
        return Step(Level.MODEL_UPGRADE, stronger)
    if standing.may_retry:
        return Step(Level.RETRY)
    return _first_above(standing)


def _first_above(standing: LadderPosition) -> Step:
    """The lowest level that can still be had; an error that repeats leaves the level it stands on."""
    lowest = standing.level + 1 if standing.repeats else standing.level
    if lowest <= Level.MODEL_UPGRADE and standing.stronger_tier is not None:
        return Step(Level.MODEL_UPGRADE, standing.stronger_tier)
    if lowest <= Level.ROLE_ESCALATION and standing.higher_role:
        return Step(Level.ROLE_ESCALATION, role=standing.role_above)
    return Step(Level.DEAD_LETTER)


def tiers_of(
    models: Iterable[str], tiers: Mapping[str, int] = MODEL_TIERS
) -> frozenset[int]:
    """The tiers of the models that are in the table."""
    return frozenset(tiers[model] for model in models if model in tiers)
