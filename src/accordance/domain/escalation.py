"""What follows a failure: the ladder of five levels.

0 retry, 1 a stronger model, 2 a role that may do more, 3 a person, 4 the dead letters.
A failure goes to the level of its fast track. Without a track it is retried while
attempts remain and the error does not repeat, and then goes to the first level above
that is available. Only a fast track leads to a person: a failure that is no matter of
policy ends in the dead letters instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Final

from accordance.domain.attempts import SAME_ERROR_LIMIT, why_not_again


class Level(IntEnum):
    """The rungs of the ladder."""

    RETRY = 0
    MODEL_UPGRADE = 1
    ROLE_ESCALATION = 2
    HUMAN = 3
    DEAD_LETTER = 4


class NextAction(StrEnum):
    """The next action, in the words of seed 003."""

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
        Level.RETRY: "The same agent tries again, with the findings as feedback.",
        Level.MODEL_UPGRADE: "A stronger model from allowedModels tries.",
        Level.ROLE_ESCALATION: "A role with more rights tries.",
        Level.HUMAN: (
            "A person decides. If resolved, the task is retried; otherwise it goes to the"
            " dead letters."
        ),
        Level.DEAD_LETTER: (
            "The task is given up; everything needed to start it again is kept."
        ),
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
        "REPOSITORY_UNAVAILABLE": Level.HUMAN,
        "ISOLATION_UNAVAILABLE": Level.HUMAN,
        "ENVIRONMENT_BROKEN": Level.HUMAN,
        "SPLIT_REQUIRED": Level.HUMAN,
        "PERMISSION_DENIED": Level.HUMAN,
        "DEPENDENCY_MISSING": Level.HUMAN,
        "PREFLIGHT_FAILED": Level.HUMAN,
    }
)
"""Failures that no further attempt can fix, and the level they go to at once."""

NEEDS_ANOTHER_MODEL: Final = frozenset(("MODEL_UNAVAILABLE",))
"""Failures that only another model can fix; without another, a person decides."""

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
"""The origin's models; 1 is the strongest. A deployment brings its own table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderPosition:
    """Where a task stands on the ladder, and which levels are available.

    `attempt` and `same_error_count` include the failure at hand. `role_above` is the
    name of the role that may do more. With `upgrades_at_once` every failure leads to
    the next stronger model, where it exists. `human_resolved` is the outcome of a
    person's decision, if any.
    """

    attempt: int = 1
    max_attempts: int
    same_error_count: int = 1
    repeat_threshold: int = SAME_ERROR_LIMIT
    level: Level = Level.RETRY
    model_tier: int | None = None  # None: unknown, so no stronger model can be named
    allowed_tiers: frozenset[int] = frozenset()
    higher_role: bool = False
    role_above: str | None = None
    upgrades_at_once: bool = False
    human_resolved: bool | None = None

    @property
    def repeats(self) -> bool:
        """Whether the same error has come too often in a row."""
        return self.same_error_count >= self.repeat_threshold

    @property
    def may_retry(self) -> bool:
        """Whether the same agent may try again in the same way."""
        why_not = why_not_again(
            self.attempt,
            self.max_attempts,
            self.same_error_count,
            self.repeat_threshold,
        )
        return why_not is None

    @property
    def stronger_tier(self) -> int | None:
        """The next stronger tier that is allowed."""
        current = self.model_tier
        if current is None:
            return None
        stronger = [tier for tier in self.allowed_tiers if tier < current]
        return max(stronger, default=None)


@dataclass(frozen=True, slots=True)
class LadderStep:
    """The level that a failure leads to.

    `model_tier` and `role` are those to continue with, where the step is to another
    model or role.
    """

    level: Level
    model_tier: int | None = None
    role: str | None = None

    @property
    def action(self) -> NextAction:
        """The action at that level."""
        return ACTIONS[self.level]


def next_step(reason: str, standing: LadderPosition) -> LadderStep:
    """Return where a failure leads a task that stands there."""
    if standing.human_resolved is not None:
        return LadderStep(Level.RETRY if standing.human_resolved else Level.DEAD_LETTER)
    if reason in FAST_TRACKS:
        return LadderStep(FAST_TRACKS[reason])
    if standing.level >= Level.HUMAN:
        return LadderStep(standing.level)

    stronger = standing.stronger_tier
    if reason in NEEDS_ANOTHER_MODEL:
        if stronger is None:
            return LadderStep(Level.HUMAN)
        return LadderStep(Level.MODEL_UPGRADE, stronger)
    if not standing.may_retry:
        return _first_above(standing)
    if standing.upgrades_at_once and stronger is not None:
        return LadderStep(Level.MODEL_UPGRADE, stronger)
    return LadderStep(Level.RETRY)


def _first_above(standing: LadderPosition) -> LadderStep:
    """Return the lowest level that is available.

    An error that repeats leaves the level it stands on.
    """
    lowest = standing.level + 1 if standing.repeats else standing.level
    stronger = standing.stronger_tier
    if lowest <= Level.MODEL_UPGRADE and stronger is not None:
        return LadderStep(Level.MODEL_UPGRADE, stronger)
    if lowest <= Level.ROLE_ESCALATION and standing.higher_role:
        return LadderStep(Level.ROLE_ESCALATION, role=standing.role_above)
    return LadderStep(Level.DEAD_LETTER)


def tiers_of(
    models: Iterable[str], tiers: Mapping[str, int] = MODEL_TIERS
) -> frozenset[int]:
    """Return the tiers of the models that are in the table."""
    known = [model for model in models if model in tiers]
    return frozenset(tiers[model] for model in known)
