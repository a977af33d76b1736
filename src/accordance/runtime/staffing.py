"""A runner with the executors of a project, which also publishes its branches."""

from __future__ import annotations

from accordance.project.settings import AtOnce
from accordance.runtime.attempt_runner import ProjectAttempts
from accordance.runtime.ports import Listener
from accordance.runtime.publishing import Publishing
from accordance.runtime.runner import Runner, WorkerTerms


def make_runner(
    attempts: ProjectAttempts,
    publishing: Publishing,
    place: str,
    worker_id: str,
    listener: Listener,
    bounds: AtOnce,
    *,
    terms: WorkerTerms = WorkerTerms(),  # noqa: B008 - a frozen value
) -> Runner:
    """Return a runner for the plan whose branch is published, or for all plans.

    Raises InvalidSettings or InvalidAgents before anything begins.
    """
    attempts.must_be_configured()
    return Runner(
        place,
        attempts.home,
        attempts,
        publishing.plan_id,
        worker_id,
        listener=listener,
        branches=publishing,
        bounds=bounds,
        terms=terms,
    )
