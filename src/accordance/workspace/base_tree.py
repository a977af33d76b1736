"""The base of a change: its files, its tags, and a copy of it."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from accordance.domain.facts import EntryKind, Snapshot
from accordance.domain.test_environments import (
    files_of_interest,
)
from accordance.workspace.clone import Workspace, copy_tree
from accordance.workspace.errors import EnvironmentBroken, GitFailed
from accordance.workspace.git import Git, git_directory
from accordance.workspace.testing import give_history

_TAG_FORMAT: Final = "--format=%(refname:strip=2) %(objectname) %(*objectname)"


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseTree:
    """The base, and where the judged tree stands."""

    workspace: Workspace
    before: Snapshot
    stands_at: Path
    """Where tests see their copy, for isolation that can move it."""

    def files(self) -> dict[str, str]:
        """Return the files that say what tests need, with their content."""
        names = files_of_interest(self.before.entries)
        return {name: self._content(name).decode("utf-8", "replace") for name in names}

    def digest(self, names: Sequence[str]) -> str:
        """Return a hash of some files of the base; of all, if none is named.

        Raises EnvironmentBroken.
        """
        entries = self.before.entries
        missing = [name for name in names if name not in entries]
        if missing:
            raise EnvironmentBroken(
                f"[judge.environment] inputs: {missing[0]} is not in the base"
            )
        hashes = {name: entries[name].content for name in names or sorted(entries)}
        return hash_of(hashes)

    def _content(self, name: str) -> bytes:
        if self.before.entries[name].kind is not EntryKind.FILE:
            return b""
        if self.workspace.pristine is not None:
            return (self.workspace.pristine / name).read_bytes()
        return self.workspace.base(
            "cat-file", "blob", f"{self.workspace.commit}:{name}"
        )

    def lay_out(self, target: Path) -> None:
        """Write the base's files to a new folder, with its history."""
        workspace = self.workspace
        if not workspace.commit:
            copy_tree(workspace.pristine or workspace.work, target)
            return
        target.mkdir(parents=True)
        give_history(workspace, target)
        git = Git(target / ".git", target)
        git("checkout-index", "--all", "--force")
        updates = [
            f"create refs/tags/{name} {commit}\n"
            for name, commit in self.tags().items()
        ]
        git("update-ref", "--stdin", given="".join(updates).encode())

    def tags(self) -> dict[str, str]:
        """Return the tags of the base's history, from which versions are made."""
        directory = git_directory(self.stands_at)
        if directory is None or not self.workspace.commit:
            return {}
        tags = {}
        lines = ""
        with contextlib.suppress(GitFailed):  # the commit need not be there
            lines = Git(directory).text(
                "for-each-ref",
                f"--merged={self.workspace.commit}",
                _TAG_FORMAT,
                "refs/tags",
            )
        for line in lines.splitlines():
            name, *objects = line.split()
            tags[name] = objects[-1]  # of an annotated tag, the commit comes last
        return tags


def hash_of(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
