"""A watch over the user's repository while an agent works in a clone of it.

What it notices is an observation of the run. It is kept with the run's work, so a
judgement after a kill knows it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from accordance.domain.case import Breach
from accordance.domain.constitution import constitution_breaches
from accordance.executors.protocol import Observation, RunOutcome
from accordance.workspace.git_settings import git_settings, programs_added

PROGRAMS_ADDED: Final = "git_programs_added"
"""The record of programs that git's settings gained during a run."""


@dataclass(frozen=True, slots=True)
class RepositoryWatch:
    """Git's settings of a repository before an agent began."""

    repository: Path
    settings: Mapping[str, str]

    @classmethod
    def over(cls, repository: Path) -> Self:
        """Begin to watch a repository."""
        return cls(repository, git_settings(repository))

    def report_in(self, produced: RunOutcome) -> RunOutcome:
        """Return the outcome of the run, with what was noticed meanwhile."""
        added = programs_added(self.settings, git_settings(self.repository))
        if not added:
            return produced
        observation = Observation(PROGRAMS_ADDED, {"programs": list(added)})
        return replace(produced, seen=(*produced.seen, observation))


def breaches_in(produced: RunOutcome) -> tuple[Breach, ...]:
    """Return the breaches that the observations of a run amount to."""
    programs: list[str] = []
    for observation in produced.seen:
        if observation.what == PROGRAMS_ADDED:
            noticed = observation.details["programs"]
            programs += noticed if isinstance(noticed, list) else ()
    return constitution_breaches(programs, produced.isolation)
