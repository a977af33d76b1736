"""What tests find: programs, packages, variables and folders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from accordance.domain.facts import IsolationLevel
from accordance.workspace.isolation import Room


@dataclass(frozen=True, slots=True)
class TestEnvironment:
    """What the rooms of tests are furnished with."""

    __test__ = False  # the name means something else to pytest

    programs: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    folders: Mapping[str, Path] = field(default_factory=dict)
    """Trusted folders, by the place in the copy where tests see them."""
    generated: Path | None = None
    """A folder of files that preparing made in the tree."""
    source_roots: tuple[str, ...] = ()
    """Where the tree's own packages lie, if they were installed to be edited."""
    broken: str = ""
    """Why tests cannot be run; empty where they can."""

    def furnished(self, room: Room, level: IsolationLevel) -> Room:
        """Return the room with this environment."""
        variables = {**self.variables, **room.environment}
        seen_at = room.work_seen_at(level)
        if self.source_roots and seen_at != room.appears_at:
            # the installed links lead to where the repository stands
            roots = [os.fspath(seen_at / root) for root in self.source_roots]
            given = variables.get("PYTHONPATH")
            variables["PYTHONPATH"] = ":".join((*roots, given) if given else roots)
        return replace(
            room,
            programs=(*self.programs, *room.programs),
            readable=(*room.readable, *self.readable),
            environment=variables,
            laid=self.folders,
            generated=self.generated,
        )
