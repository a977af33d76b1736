"""The task of a proposed change, read from the base it is to be merged into."""

from __future__ import annotations

from pathlib import Path

from accordance.errors import AccordanceError, Category
from accordance.workspace.evidence import evidence_folder
from accordance.workspace.git import Git, git_directory, show


class NoTaskAtBase(AccordanceError):
    """The base has no file for the task of an agent's branch."""

    code = "no-task-at-base"
    category = Category.NOT_FOUND

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(path)

    @property
    def text(self) -> str:
        """The file that is missing."""
        return f"the base has no {self.path}"

    @property
    def way_out(self) -> str:
        """Where a task must be."""
        return "commit the task to the base branch before the agent starts"


class EvidenceWouldBeMerged(AccordanceError):
    """The change contains its own evidence folder, which no gate judges."""

    code = "evidence-would-be-merged"
    category = Category.REJECTED

    def __init__(self, folder: str) -> None:
        self.folder = folder
        super().__init__(folder)

    @property
    def text(self) -> str:
        """The folder, and what is wrong with it."""
        return f"{self.folder}/ is committed, and would be merged without being judged"

    @property
    def way_out(self) -> str:
        """What to do."""
        return "remove it from the branch; accordance collects the evidence itself"


def task_at_base(repository: Path, base: str, tasks: str, task_id: str) -> bytes:
    """Return the task as the base has it: the agent cannot have changed it.

    Raises NoTaskAtBase.
    """
    path = f"{tasks.strip('/')}/{task_id}.json"
    content = show(repository, base, path)
    if content is None:
        raise NoTaskAtBase(path)
    return content


def must_not_merge_evidence(repository: Path, base: str, task_id: str) -> None:
    """Raise EvidenceWouldBeMerged where the change adds to its evidence folder."""
    folder = evidence_folder(task_id)
    directory = git_directory(repository)
    if directory is None:
        return  # nothing can be merged from a tree without git
    changed = Git(directory)("diff", "--name-only", base, "HEAD", "--", folder)
    if changed:
        raise EvidenceWouldBeMerged(folder)
