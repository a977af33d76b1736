"""Which paths the base's own rules ignore. Rules the agent added or changed do not count."""

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
    """The .gitignore files of the base commit. A path that the base tracks is never ignored."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def __call__(self, paths: Collection[str]) -> frozenset[str]:
        """Those of the paths that are ignored."""
        git, commit = self.workspace.base, self.workspace.commit
        if not commit:
            return in_caches(paths)
        names = {path: os.fsencode(name_of(path)) for path in paths}
        tree = git("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit).split(
            b"\0"
        )
        tracked = frozenset(tree)
        asked = b"\0".join(name for name in names.values() if name not in tracked)
        if not asked:
            return frozenset()
        with tempfile.TemporaryDirectory(prefix="accordance-") as folder:
            rules = Git(git.directory, Path(folder) / "tree", Path(folder) / "index")
            (Path(folder) / "tree").mkdir()
            files = [name for name in tree if name.rpartition(b"/")[2] == _RULES]
            rules("read-tree", commit)
            rules("checkout-index", "-z", "--stdin", given=b"\0".join(files))
            return frozenset(map(text_of, map(os.fsdecode, _ignored(rules, asked))))


def _ignored(git: Git, asked: bytes) -> list[bytes]:
    try:
        found = git("check-ignore", "--no-index", "--stdin", "-z", given=asked)
    except GitFailed as failure:
        if failure.exit_code == _NONE_IGNORED:
            return []
        raise
    return found.rstrip(b"\0").split(b"\0")
