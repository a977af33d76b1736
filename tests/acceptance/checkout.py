"""A repository in which an agent worked itself, as in anybody's CI, and the command that judges it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.cli import Ran, accordance
from tests.hostile.stage import FOLDER, Stage, git


class Checkout(Stage):
    """A repository in which the agent worked itself, as in anybody's CI."""

    @property
    def work(self) -> Path:
        """The repository."""
        return self.place / "repository"

    @property
    def bundle(self) -> Path:
        """The evidence of the first attempt."""
        return self.work / FOLDER / "attempt-1"

    def judge(self, *options: str | Path, submit: bool = False) -> Ran:
        """The command, with the task beside the repository."""
        (self.place / "task.json").write_text(json.dumps(self.task), "utf-8")
        said = ("--submit", self.work / FOLDER / "submit.json") if submit else ()
        return accordance(
            "judge", "--task", self.place / "task.json", "--repo", self.work, *said, *options, cwd=self.place
        )

    def commit(self, message: str) -> None:
        """Everything, as it is."""
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--message", message)
