"""The judged tree where an agent was given only part of the base.

It is the base with what the agent left on top. What was withheld is still there, so its
absence is no deletion. What the agent put in its place counts as a change of that path,
which no pin allows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from accordance.domain.facts import EntryKind, Snapshot, TreeEntry
from accordance.workspace.clone import Workspace
from accordance.workspace.entries import directories
from accordance.workspace.snapshot import (
    LeavingRule,
    SeenFiles,
    WalkLimits,
    take_snapshot,
)


def whole_tree(
    workspace: Workspace,
    *,
    reach: WalkLimits | None = None,
    leaving: LeavingRule | None = None,
    seen: SeenFiles | None = None,
) -> Snapshot:
    """Return the agent's tree as it is now, completed by what was withheld.

    What `leaving` names is left out, and what is as `seen` before is not read again.
    Raises WorkspaceChanging.
    """
    agents_tree = take_snapshot(
        workspace.work,
        reach=reach,
        leaving=leaving,
        seen=seen,
    )
    if workspace.withheld is None:
        return agents_tree

    entries = laid_over(agents_tree.entries, workspace.withheld.entries)
    return replace(agents_tree, entries=entries)


def laid_over(
    above: Mapping[str, TreeEntry], below: Mapping[str, TreeEntry]
) -> dict[str, TreeEntry]:
    """Return two trees as a single tree, in which the upper tree hides the lower.

    A file above also hides whatever lies below a folder of the same path.
    """
    folders = directories(above).keys()
    files = above.keys() - folders

    merged = {}
    for path, entry in below.items():
        replaced_by_folder = path in folders and entry.kind is not EntryKind.DIRECTORY
        if not replaced_by_folder and not _is_hidden(path, files):
            merged[path] = entry

    merged.update(above)
    return merged


def _is_hidden(path: str, files: set[str]) -> bool:
    """Whether a file stands at a path, or in place of a folder on the way to it."""
    if path in files:
        return True

    folder = path.rpartition("/")[0]
    while folder:
        if folder in files:
            return True
        folder = folder.rpartition("/")[0]
    return False
