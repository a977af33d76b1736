"""Everything an agent left in its clone, evidence included, as a patch.

The patch can be applied to another clone of the same base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from accordance.domain.facts import (
    ChangeKind,
    ChangeSet,
    PathChange,
    Snapshot,
    beyond_caches,
)
from accordance.domain.left_out import LeftOut
from accordance.workspace.branch import apply_patch
from accordance.workspace.clone import Workspace
from accordance.workspace.difference import difference
from accordance.workspace.entries import SET_ID_BITS, directories, parents
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.leaving import tree_left
from accordance.workspace.names import name_of
from accordance.workspace.patching import readable_patch


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What an agent left, against the base."""

    base: str
    patch: bytes
    tree: str  # git's id of the whole tree
    folders: tuple[str, ...] = ()  # the empty ones, which no patch can carry
    left_out: tuple[LeftOut, ...] = ()  # what tools left: listed, and not carried


def leftovers_in(
    workspace: Workspace,
    before: Snapshot,
    carry: Sequence[str] = (),
    after: Snapshot | None = None,
    evidence: Sequence[str] = (),
) -> Leftovers | None:
    """Return what was left, or None where a patch could not carry all of it.

    Caches and what the base ignores do not matter, unless tests `carry` it or it is
    `evidence`. `after` is the tree as it is now, where it has been read already.
    """
    if after is None:
        after = tree_left(workspace, before, (*carry, *evidence))
    differences = difference(before, after, ignored=BaseRules(workspace, carry))

    needed = {change.path for change in beyond_caches(differences.ignored)}
    needed.update(_carried_paths(differences.ignored, carry))
    kept = [change for change in differences.ignored if change.path in needed]
    changes = (*differences.changes, *kept)

    if not workspace.commit or _is_beyond_patches(differences, changes):
        return None

    patch = readable_patch(workspace, replace(differences, changes=changes))
    if patch.left_out:
        return None
    return Leftovers(
        workspace.commit,
        patch.text,
        patch.tree,
        _empty_folders(after),
        after.left_out,
    )


def restore_leftovers(
    left: Leftovers,
    workspace: Workspace,
    before: Snapshot,
    carry: Sequence[str] = (),
    evidence: Sequence[str] = (),
) -> bool:
    """Apply it to a fresh clone of its base, and return whether the tree is the same.

    The same means: to the last bit.
    """
    if not apply_patch(left.patch, workspace.work):
        return False
    for folder in left.folders:
        place = workspace.work / name_of(folder)
        place.mkdir(parents=True, exist_ok=True)

    again = leftovers_in(workspace, before, carry, evidence=evidence)
    if again is None:
        return False
    return again.tree == left.tree and again.folders == left.folders


def _is_beyond_patches(differences: ChangeSet, changes: Sequence[PathChange]) -> bool:
    """Whether something changed that a patch cannot carry.

    That is: git's own files, what is no ordinary file, and bits that git does not know.
    """
    unpatchable = (
        differences.incomplete,
        differences.internals,
        differences.nested_added,
        differences.special,
        differences.unreadable,
    )
    if any(unpatchable):
        return True

    folder_changes = {change.kind for change in differences.directories}
    if folder_changes - {ChangeKind.ADDED}:
        return True
    return any(_has_set_id_bits(change) for change in changes)


def _has_set_id_bits(change: PathChange) -> bool:
    return change.after is not None and bool(change.after.mode & SET_ID_BITS)


def _empty_folders(tree: Snapshot) -> tuple[str, ...]:
    folders = directories(tree.entries)
    empty = folders.keys() - parents(tree.entries)
    return tuple(sorted(empty))


def _carried_paths(ignored: Sequence[PathChange], carry: Sequence[str]) -> set[str]:
    """Return the paths of ignored changes in the folders that tests need."""
    prefixes = tuple(f"{folder.rstrip('/')}/" for folder in carry)
    carried = set()
    for change in ignored:
        for path in change.paths:
            if path.startswith(prefixes):
                carried.add(change.path)
    return carried
