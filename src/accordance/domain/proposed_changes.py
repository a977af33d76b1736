"""Pull and merge requests: which of them an agent made, and by which task."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from accordance.errors import AccordanceError, Category

AGENT_BRANCHES: Final = "agent/"
"""Agents push to agent/TASK_ID."""
_TASK_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")


@dataclass(frozen=True, slots=True)
class ProposedChange:
    """A pull or merge request, in the words of the forge."""

    branch: str
    author: str


class NoTaskOnBranch(AccordanceError):
    """An agent's change comes from a branch that names no task."""

    code = "no-task-on-branch"
    category = Category.REJECTED

    def __init__(self, change: ProposedChange) -> None:
        self.change = change
        super().__init__(change)

    @property
    def text(self) -> str:
        """The branch, and why it counts as an agent's."""
        return f"{self.change.author}'s branch {self.change.branch!r} names no task"

    @property
    def way_out(self) -> str:
        """How the branch must be called."""
        return f"agents push to {AGENT_BRANCHES}TASK_ID"


def task_of(change: ProposedChange, agents: Collection[str]) -> str | None:
    """Return the id of the task of an agent's change; None for a person's change.

    The branch decides, and the author where the branch says nothing: otherwise an
    agent could leave the gate out by naming its branch as people do.

    Raises NoTaskOnBranch.
    """
    is_on_agent_branch = change.branch.startswith(AGENT_BRANCHES)
    if not is_on_agent_branch:
        if change.author in agents:
            raise NoTaskOnBranch(change)
        return None

    task_id = change.branch.removeprefix(AGENT_BRANCHES)
    if not _TASK_ID.fullmatch(task_id):
        raise NoTaskOnBranch(change)
    return task_id
