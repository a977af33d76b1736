"""The fuses of a plan in a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.fuses import Fuses
from accordance.rendering.amounts import counted
from accordance.rendering.durations import duration_text

_RAISE: Final = "to allow more, raise {fuse} under [fuses] for the next plan"


def fuses_text(fuses: Fuses) -> str:
    """Return what a plan and a task may use up, without the fuses that are off."""
    of_plan = ", ".join(_plan_limits(fuses)) or "no limit"
    of_task = ", ".join(_task_limits(fuses))
    return f"fuses: plan {of_plan}; task {of_task}"


def _plan_limits(fuses: Fuses) -> Iterator[str]:
    if fuses.calls_per_run is not None:
        yield counted(fuses.calls_per_run, "call")
    if fuses.tokens_per_run is not None:
        yield counted(fuses.tokens_per_run, "token")
    if fuses.cost_per_run is not None:
        yield f"cost {fuses.cost_per_run:g}"
    if fuses.run_seconds is not None:
        yield duration_text(fuses.run_seconds)


def _task_limits(fuses: Fuses) -> Iterator[str]:
    yield counted(fuses.attempts, "failed attempt")
    if fuses.calls_per_task is not None:
        yield counted(fuses.calls_per_task, "call")
    if fuses.tokens_per_task is not None:
        yield counted(fuses.tokens_per_task, "token")
    if fuses.cost_per_task is not None:
        yield f"cost {fuses.cost_per_task:g}"


def blown_fuse_text(fuse: str, program: str = "accordance") -> str:
    """Return how a plan whose fuse has blown goes on."""
    return f"{program} run --resume  # counts from zero; {_RAISE.format(fuse=fuse)}"
