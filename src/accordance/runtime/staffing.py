"""A runner with the executors of a project, which keeps the branches of its plans where they should be."""

from __future__ import annotations

from accordance.project.settings import AtOnce
from accordance.runtime.attempt_runner import Executing
from accordance.runtime.publishing import Heard, Publishing
from accordance.runtime.runner import Runner


def runner_of(
    executing: Executing, publishing: Publishing, place: str, name: str, heard: Heard, bounds: AtOnce
) -> Runner:
    """Works on the plan that is published, or on all, under a name; `heard` is told of every attempt that has ended."""
    return Runner(
        place,
        executing.home,
        executing.run,
        executing.queue_of,
        executing.queues(),
        publishing.plan_id,
        name,
        holding=executing.holding,
        heard=publishing.landing(heard),
        told=publishing.told,
        catch_up=publishing.catch_up,
        bounds=bounds,
    )
