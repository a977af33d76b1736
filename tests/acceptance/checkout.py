"""A repository in which an agent worked itself, as in anybody's CI, and the command that judges it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.cli import Ran, accordance
from tests.hostile.stage import FOLDER, Stage, git


class Checkout(Stage):
    """A repository in which the agent worked itself, as in anybody's CI."""

    begun_at: str = ""

    @property
    def work(self) -> Path:
        """The repository."""
        return self.place / "repository"

    @property
    def bundle(self) -> Path:
        """The evidence of the first attempt."""
        return self.work / FOLDER / "attempt-1"

    def judge(self, *options: str | Path, submit: bool = False) -> Ran:
        """The command, with the task beside the repository, counted from where the agent began."""
        (self.place / "task.json").write_text(json.dumps(self.task), "utf-8")
        said = ("--submit", self.work / FOLDER / "submit.json") if submit else ()
        begun = (
            () if {"--base", "--baseline"} & {*options} else ("--base", self.begun_at)
        )
        return accordance(
            "judge",
            "--task",
            self.place / "task.json",
            "--repo",
            self.work,
            *begun,
            *said,
            *options,
            cwd=self.place,
        )

    def build(self) -> None:
        """The repository, and the commit that whoever works there begins at."""
        super().build()
        self.begun_at = self.head

    @property
    def head(self) -> str:
        """Where the repository stands now."""
        return git(self.work, "rev-parse", "HEAD").strip()

    def commit(self, message: str) -> None:
        """Everything, as it is; by the agent."""
        git(self.work, "add", "--all")
        git(self.work, "commit", "--quiet", "--message", message)

    def begin_with(self, message: str) -> None:
        """Everything, as it is; by the person, before the agent begins."""
        self.commit(message)
        self.begun_at = self.head
