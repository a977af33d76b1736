"""Where the tests of an attempt are run, as those see it who ask for further runs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from accordance.domain.facts import Snapshot
from accordance.workspace.clone import Workspace
from accordance.workspace.laid_in import LaidIn
from accordance.workspace.testing import TestRuns


class Bench(Protocol):
    """Runs commands on copies of the judged tree, and of the base."""

    @property
    def workspace(self) -> Workspace:
        """Where the attempt happened."""

    @property
    def scratch(self) -> Path:
        """A folder of ours."""

    @property
    def is_stopped(self) -> bool:
        """Whether no further test is to be run."""

    @property
    def laid_in(self) -> tuple[LaidIn, ...]:
        """What stands in every copy of the judged tree."""

    def within(self, seconds: float) -> Bench:
        """Return a bench whose commands may not take longer than that."""

    def run(
        self,
        commands: Sequence[str],
        tree: Snapshot,
        name: str,
        *,
        with_history: bool = True,
        laid_in: Sequence[LaidIn] | None = None,
        only: str = "",
        traced: Collection[str] = (),
    ) -> TestRuns:
        """Run commands on a new copy of a tree, which is called `name`."""

    def run_on_base(
        self,
        commands: Sequence[str],
        before: Snapshot,
        after: Snapshot,
        name: str,
        laid_in: Sequence[LaidIn] = (),
        only: str = "",
    ) -> TestRuns:
        """Run commands on a new copy of the base."""
