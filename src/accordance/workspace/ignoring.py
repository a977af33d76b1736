"""Which paths the base's own rules ignore. Rules that the agent added do not count."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Final

from accordance.workspace.clone import Workspace
from accordance.workspace.difference import in_caches
from accordance.workspace.errors import GitFailed
from accordance.workspace.git import Git
from accordance.workspace.names import name_of, text_of

_RULES: Final = b".gitignore"
_NONE_IGNORED: Final = 1  # the exit code of check-ignore when no path is ignored


class BaseRules:
    """The .gitignore files of the base commit.

    A path that the base tracks is never ignored.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def __call__(self, paths: Collection[str]) -> frozenset[str]:
        """Return those of the paths that are ignored."""
        git = self.workspace.base
        commit = self.workspace.commit
        if not commit:
            return in_caches(paths)

        listing = git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
        tracked = frozenset(listing.split(b"\0"))
        untracked = []
        for path in paths:
            name = os.fsencode(name_of(path))
            if name not in tracked:
                untracked.append(name)
        if not untracked:
            return frozenset()

        rule_files = [name for name in tracked if name.rpartition(b"/")[2] == _RULES]
        ignored = _ignored_names(git, commit, rule_files, untracked)
        return frozenset(text_of(os.fsdecode(name)) for name in ignored)


def _ignored_names(
    base: Git, commit: str, rule_files: list[bytes], names: list[bytes]
) -> list[bytes]:
    """Ask git which names are ignored, in a tree of nothing but the base's rules."""
    with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        git = Git(base.directory, tree, Path(folder) / "index")
        git("read-tree", commit)
        git("checkout-index", "-z", "--stdin", given=b"\0".join(rule_files))

        question = b"\0".join(names)
        try:
            answer = git("check-ignore", "--no-index", "--stdin", "-z", given=question)
        except GitFailed as failure:
            if failure.exit_code == _NONE_IGNORED:
                return []
            raise
    return answer.rstrip(b"\0").split(b"\0")
