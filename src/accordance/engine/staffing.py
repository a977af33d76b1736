"""A runner with the executors of a project, which keeps the branches of its plans where they should be."""

from __future__ import annotations

from accordance.engine.executing import Executing
from accordance.engine.publishing import Heard, Publishing
from accordance.engine.running import Runner
from accordance.engine.settings_tables import AtOnce


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
