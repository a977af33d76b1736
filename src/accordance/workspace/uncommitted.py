"""What a commit would leave out of a working tree.

Judged is the tree; committed is what is staged. Git names the index of the commit in
its environment when it runs a hook.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from accordance.workspace.clone import adopt, scratch
from accordance.workspace.collecting import base_snapshot
from accordance.workspace.difference import difference
from accordance.workspace.git import Git, git_directory, resolve
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.names import text_of
from accordance.workspace.patching import readable_patch
from accordance.workspace.snapshot import take_snapshot

_INDEX: Final = "GIT_INDEX_FILE"
_EVIDENCE: Final = "artifacts/"


def left_out_of_commit(root: Path, base: str) -> tuple[str, ...]:
    """Return the paths that would not be committed as they are judged.

    What is as it was at the base may stay uncommitted. Evidence is no part of a change,
    and neither is what the base ignores. No filter of the repository is run. Raises
    GitFailed, UnknownBase, WorkspaceError.
    """
    with scratch() as folder:
        workspace = adopt(root, folder / "ours", base=base)
        changes = difference(
            base_snapshot(workspace),
            take_snapshot(root),
            ignored=BaseRules(workspace),
            internals_known=False,
        )
        patch = readable_patch(workspace, changes)
        in_tree = _rows(workspace.base("ls-tree", "-r", "-z", patch.tree))
    git = _index_of(root)
    staged = _rows(git("ls-files", "--stage", "-z"))
    committed = _rows(git("ls-tree", "-r", "-z", resolve(root, "HEAD")))

    changed = changes.paths()
    left_out = []
    for path in {*in_tree, *staged} - set(patch.left_out):
        is_same = in_tree.get(path) == staged.get(path)
        is_untouched = path not in changed and staged.get(path) == committed.get(path)
        if not (is_same or is_untouched or path.startswith(_EVIDENCE)):
            left_out.append(path)
    return tuple(sorted(left_out))


def _index_of(root: Path) -> Git:
    """Return git with the index that the commit is made from."""
    directory = git_directory(root)
    if directory is None:  # the base was resolved, so it is one
        directory = root / ".git"
    named = os.environ.get(_INDEX)
    index = root / named if named else directory / "index"
    return Git(directory.resolve(), root, index.resolve())


def _rows(listing: bytes) -> Mapping[str, tuple[str, str]]:
    """Return the mode and the object of each path, of `ls-tree` or `ls-files`."""
    rows = {}
    for row in listing.split(b"\0"):
        if row:
            about, _, name = row.partition(b"\t")
            words = about.decode("ascii").split()
            is_tree_row = words[1] in ("blob", "commit", "tree")
            object_id = words[2] if is_tree_row else words[1]
            rows[text_of(os.fsdecode(name))] = (words[0], object_id)
    return rows
