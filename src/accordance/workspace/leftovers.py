"""Everything an agent has left in its clone, evidence and all, as one patch that can be laid into another clone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from accordance.domain.facts import (
    ChangeKind,
    ChangeSet,
    EntryKind,
    PathChange,
    Snapshot,
    beyond_caches,
)
from accordance.workspace.branch import lay
from accordance.workspace.clone import Workspace
from accordance.workspace.difference import difference
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.names import name_of
from accordance.workspace.overlay import whole_tree
from accordance.workspace.patching import readable_patch


@dataclass(frozen=True, slots=True)
class Left:
    """What was left, against the base."""

    base: str
    patch: bytes
    tree: str  # git's id of the whole tree
    folders: tuple[str, ...] = ()  # empty ones, which no patch tells


def left_in(
    workspace: Workspace,
    before: Snapshot,
    carry: Sequence[str] = (),
    after: Snapshot | None = None,
) -> Left | None:
    """What was left; None where a patch would not tell all of it. Ignored caches do not matter, unless tests `carry` them.

    `after` is the tree as it is now, where it was read already.
    """
    if after is None:
        after = whole_tree(workspace)
    found = difference(before, after, ignored=BaseRules(workspace))
    needed = {
        change.path
        for change in (*beyond_caches(found.ignored), *_carried(found.ignored, carry))
    }
    changes = (
        *found.changes,
        *(change for change in found.ignored if change.path in needed),
    )
    if not workspace.commit or _is_beyond_patches(found, changes):
        return None
    patch = readable_patch(workspace, replace(found, changes=changes))
    return (
        None
        if patch.left_out
        else Left(workspace.commit, patch.text, patch.tree, _empty(after))
    )


def lay_again(
    left: Left, workspace: Workspace, before: Snapshot, carry: Sequence[str] = ()
) -> bool:
    """Lay it into a fresh clone of its base; whether that is now the same tree, to the last bit."""
    if not lay(left.patch, workspace.work):
        return False
    for folder in left.folders:
        (workspace.work / name_of(folder)).mkdir(parents=True, exist_ok=True)
    again = left_in(workspace, before, carry)
    return again is not None and (again.tree, again.folders) == (
        left.tree,
        left.folders,
    )


def _is_beyond_patches(found: ChangeSet, changes: Sequence[PathChange]) -> bool:
    """Changes of git's own files, what is no ordinary file, and bits that git does not know."""
    odd = (
        found.internals,
        found.special,
        found.unreadable,
        found.nested_added,
        found.incomplete,
    )
    return (
        any(odd)
        or any(change.kind is not ChangeKind.ADDED for change in found.directories)
        or any(
            change.after is not None and change.after.mode & 0o7000
            for change in changes
        )
    )


def _empty(tree: Snapshot) -> tuple[str, ...]:
    filled = {path.rpartition("/")[0] for path in tree.entries}
    folders = (
        path
        for path, entry in tree.entries.items()
        if entry.kind is EntryKind.DIRECTORY
    )
    return tuple(sorted(path for path in folders if path not in filled))


def _carried(ignored: Sequence[PathChange], carry: Sequence[str]) -> list[PathChange]:
    below = tuple(f"{folder.rstrip('/')}/" for folder in carry)
    return [
        change
        for change in ignored
        if any(path.startswith(below) for path in change.paths)
    ]
