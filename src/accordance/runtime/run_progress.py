"""The result of a look at the plans: whether a run goes on, and why it rests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from accordance.runtime.offers import Obstacle
from accordance.work.taking import PLAN_IS_OVER, NoTaskReason


class RunProgress(Enum):
    """Whether a run goes on."""

    FULL = "there is no room: each attempt that ends takes up what comes next"
    BEGAN = "something was taken up"
    UNDER_WAY = "something is in work, or waited for"
    AT_REST = "nothing moves without a person"
    STOPPED = "the run was stopped before it could look"


@dataclass(frozen=True, slots=True)
class Look:
    """A look at a plan, or at all of them."""

    progress: RunProgress
    rest: NoTaskReason | None = None  # why nothing was taken up
    unstartable: Mapping[str, Obstacle] = field(default_factory=dict)  # by task
    waits_for_budget: str = ""  # why a task waits until running attempts have ended

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is left to do."""
        return self.progress is RunProgress.AT_REST


def resting(
    reason: NoTaskReason, unstartable: Mapping[str, Obstacle] | None = None
) -> Look:
    """Return a look at a plan in which nothing was taken up."""
    is_busy = reason is NoTaskReason.BUSY
    progress = RunProgress.UNDER_WAY if is_busy else RunProgress.AT_REST
    return Look(progress, reason, unstartable or {})


def combined(looks: Sequence[Look], *, is_stranded: bool) -> Look:
    """Return the looks at several plans as a single look.

    `is_stranded`: everything in work waits for workers of another version. Then the run
    rests, because no worker here can end it.
    """
    progresses = [look.progress for look in looks]
    if RunProgress.BEGAN in progresses:
        return Look(RunProgress.BEGAN)
    if RunProgress.UNDER_WAY in progresses:
        progress = RunProgress.AT_REST if is_stranded else RunProgress.UNDER_WAY
        return Look(progress, NoTaskReason.BUSY)

    for look in looks:
        if look.rest not in PLAN_IS_OVER:
            return Look(RunProgress.AT_REST, look.rest)
    rests = {look.rest for look in looks}
    rest = rests.pop() if len(rests) == 1 else NoTaskReason.FINISHED
    return Look(RunProgress.AT_REST, rest)
