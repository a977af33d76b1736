"""The working tree as it is now, as a commit that no branch shows.

An agent may begin in a tree that differs from its commit: a person has edited it. What
was there before is not the agent's change, so it is judged from such a commit.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.workspace.branch import Branch
from accordance.workspace.clone import adopt, scratch
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.git import resolve
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.patching import readable_patch
from accordance.workspace.snapshot import take_snapshot

KEPT_UNDER: Final = "accordance/begin"
_NAME: Final = "tree"
_MESSAGE: Final = "The tree as an agent found it"


@dataclass(frozen=True, slots=True)
class TreeCommit:
    """A commit of a working tree, and the paths in which the tree differs from HEAD."""

    commit: str
    changed: tuple[str, ...]


def commit_of_tree(repository: Path, at: str) -> TreeCommit:
    """Return the commit that holds the tree as it is: HEAD, or a new commit on it.

    A new commit is kept under `refs/accordance/begin/`; no branch, no index and no
    file changes. What the tree's own rules ignore is left out. `at` is the time of the
    commit. Raises UnknownBase, WorkspaceError.
    """
    head = resolve(repository, "HEAD")
    with scratch() as folder:
        workspace = adopt(repository, folder / "ours", base=head)
        changes = difference(
            base_snapshot(workspace),
            take_snapshot(repository),
            ignored=BaseRules(workspace),
            internals_known=False,
        )
        if not changes:
            return TreeCommit(head, ())
        patch = readable_patch(workspace, changes)
        branch = Branch(repository, KEPT_UNDER)
        commit = branch.write(workspace, patch, _NAME, _MESSAGE, at)
    return TreeCommit(commit, tuple(sorted(changes.paths())))


def forget_tree(repository: Path, commit: str) -> None:
    """Let git throw the commit of a tree away."""
    Branch(repository, KEPT_UNDER).forget(commit, _NAME)
