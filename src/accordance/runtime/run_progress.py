"""What a look at the plans has come to: something began, something is in work, or nothing moves without a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from accordance.runtime.offers import NoTaker
from accordance.work.tasks import NoTaskReason


class RunProgress(Enum):
    """Why a run goes on, or does not."""

    FULL = "there is no room: each attempt that ends takes up what comes next"
    BEGAN = "something was taken up"
    UNDER_WAY = "something is in work, or waited for"
    AT_REST = "nothing moves without a person"
    STOPPED = "the run was stopped before it could look"


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a plan, or at all of them."""

    progress: RunProgress
    rest: NoTaskReason | None = None  # why nothing was taken up
    without_taker: Mapping[str, NoTaker] = field(
        default_factory=dict
    )  # tasks nobody here can begin

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing is left to do."""
        return self.progress is RunProgress.AT_REST


def resting(
    why: NoTaskReason, without_taker: Mapping[str, NoTaker] | None = None
) -> Look:
    """A look at a plan in which nothing was taken up."""
    progress = (
        RunProgress.UNDER_WAY if why is NoTaskReason.BUSY else RunProgress.AT_REST
    )
    return Look(progress, why, without_taker or {})


def combined(looks: Sequence[Look], *, is_stranded: bool) -> Look:
    """The looks at several plans as one.

    `is_stranded`: all that is in work waits for workers of another version. Then the run rests, for nobody here ends it.
    """
    if any(look.progress is RunProgress.BEGAN for look in looks):
        return Look(RunProgress.BEGAN)
    if any(look.progress is RunProgress.UNDER_WAY for look in looks):
        progress = RunProgress.AT_REST if is_stranded else RunProgress.UNDER_WAY
        return Look(progress, NoTaskReason.BUSY)
    reasons = [look.rest for look in looks if look.rest is not NoTaskReason.FINISHED]
    return Look(RunProgress.AT_REST, reasons[0] if reasons else NoTaskReason.FINISHED)
