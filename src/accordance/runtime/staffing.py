"""A runner with the executors of a project, which keeps the branches of its plans where they should be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from accordance.project.settings import AtOnce
from accordance.runtime.attempt_runner import ProjectAttempts
from accordance.runtime.ports import Attempt
from accordance.runtime.publishing import Publishing
from accordance.runtime.runner import Runner

Heard: TypeAlias = Callable[[Attempt, Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class FaceListener:
    """A listener made of what a face does with ended attempts, and of how it warns."""

    heard: Heard
    warn: Callable[[str], None]

    def attempt_ended(self, attempt: Attempt, answer: Mapping[str, Any]) -> None:
        """An attempt was settled."""
        self.heard(attempt, answer)

    def notice(self, text: str) -> None:
        """Something that whoever watches should know."""
        self.warn(text)


def runner_of(
    attempts: ProjectAttempts, publishing: Publishing, place: str, name: str, heard: Heard, bounds: AtOnce
) -> Runner:
    """Works on the plan that is published, or on all, under a name; `heard` is told of every attempt that has ended.

    Raises InvalidSettings or InvalidAgents, before anything has begun.
    """
    attempts.must_be_configured()
    return Runner(
        place,
        attempts.home,
        attempts,
        publishing.plan_id,
        name,
        listener=FaceListener(heard, publishing.warn),
        branches=publishing,
        bounds=bounds,
    )
