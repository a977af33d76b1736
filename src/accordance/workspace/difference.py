"""The difference between two snapshots: what an attempt really changed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from accordance.contracts.jsonpath import without
from accordance.contracts.pins import is_git_file
from accordance.domain.facts import (
    CACHES,
    ChangeKind,
    ChangeSet,
    EntryKind,
    EscapingLink,
    LinkEscape,
    PathChange,
    Snapshot,
    TreeEntry,
)
from accordance.workspace.entries import (
    SET_ID_BITS,
    directories,
    parents,
    without_directories,
)

_MAX_LINKS: Final = 40  # as many as the kernel follows
_COMPARED_AS_A_WHOLE: Final = (EntryKind.SPECIAL, EntryKind.UNREADABLE)


def difference(
    before: Snapshot,
    after: Snapshot,
    *,
    evidence: str = "",
    ignored: Callable[[Collection[str]], Collection[str]] | None = None,
    internals_known: bool = True,
) -> ChangeSet:
    """Return everything that differs between two snapshots.

    `evidence` is the folder of the agent's evidence, which is not part of the change.
    `ignored` returns those of the given paths that the base's rules ignore; without
    it, only folders that are known caches are ignored.
    """
    old_entries = _entries_outside(before, evidence)
    new_entries = _entries_outside(after, evidence)
    all_changes = _changes(old_entries, new_entries)
    ignored_paths = _ignored_paths(all_changes, ignored or in_caches)

    judged_changes = []
    ignored_changes = []
    for change in all_changes:
        if ignored_paths.issuperset(change.paths):
            ignored_changes.append(change)
        else:
            judged_changes.append(change)

    internals: list[PathChange] = []
    if internals_known:
        internals = _changes(before.internals, after.internals)

    return ChangeSet(
        changes=tuple(judged_changes),
        ignored=tuple(ignored_changes),
        internals=tuple(internals),
        directories=tuple(_directory_changes(before, after, evidence)),
        escaping_links=tuple(_escaping_links(all_changes, after.entries)),
        special=tuple(_special_files(all_changes)),
        unreadable=_unreadable_paths(new_entries),
        twins=tuple(_twins(old_entries, new_entries)),
        nested_added=tuple(sorted(set(after.nested) - set(before.nested))),
        nested=after.nested,
        incomplete=before.incomplete or after.incomplete,
        internals_known=internals_known,
        left_out=after.left_out,
    )


def in_caches(paths: Collection[str]) -> frozenset[str]:
    """Return those paths that lie in a folder known to be a cache."""
    cached = set()
    for path in paths:
        folders = path.split("/")[:-1]
        if not CACHES.keys().isdisjoint(folders):
            cached.add(path)
    return frozenset(cached)


def _entries_outside(snapshot: Snapshot, evidence: str) -> dict[str, TreeEntry]:
    """Return what can be a change on its own: no directories, and no evidence."""
    entries = without_directories(snapshot.entries)
    if not evidence:
        return entries
    prefix = f"{evidence}/"
    in_evidence = {path for path in entries if path.startswith(prefix)}
    return without(entries, in_evidence)


def _ignored_paths(
    changes: Iterable[PathChange],
    ignored: Callable[[Collection[str]], Collection[str]],
) -> frozenset[str]:
    touched: set[str] = set()
    for change in changes:
        touched.update(change.paths)

    return frozenset(ignored(touched))


def _changes(
    before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]
) -> list[PathChange]:
    """Return every change, sorted by path.

    A file that vanished and a new file with the same content make a rename.
    """
    deleted = without(before, after)
    added = without(after, before)

    changes = _take_renames(deleted, added)
    for path, entry in deleted.items():
        changes.append(PathChange(path, ChangeKind.DELETED, before=entry))
    for path, entry in added.items():
        changes.append(PathChange(path, ChangeKind.ADDED, after=entry))

    for path in before.keys() & after.keys():
        earlier = before[path]
        entry = after[path]
        kind = _kind_of_change(earlier, entry)
        if kind is not None:
            changes.append(PathChange(path, kind, before=earlier, after=entry))

    return sorted(changes, key=lambda change: change.path)


def _take_renames(
    deleted: dict[str, TreeEntry], added: dict[str, TreeEntry]
) -> list[PathChange]:
    """Pair deleted and added entries of equal content, and remove them from both."""
    sources: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for path in sorted(deleted, reverse=True):
        entry = deleted[path]
        is_empty = not entry.size and not entry.target
        if not is_empty:  # all empty files are alike, which proves nothing
            sources[entry.content].append(path)

    renames = []
    for path in sorted(added):
        candidates = sources.get(added[path].content)
        if not candidates:
            continue
        old_path = candidates.pop()
        before = deleted.pop(old_path)
        after = added.pop(path)
        renames.append(PathChange(path, ChangeKind.RENAMED, old_path, before, after))
    return renames


def _kind_of_change(earlier: TreeEntry, entry: TreeEntry) -> ChangeKind | None:
    """Return how an entry changed in place, or None where it did not."""
    if earlier.kind is not entry.kind:
        return ChangeKind.TYPE
    if earlier.content != entry.content:
        return ChangeKind.MODIFIED
    if entry.kind in _COMPARED_AS_A_WHOLE and earlier != entry:
        return ChangeKind.MODIFIED
    if earlier.carried_mode != entry.carried_mode:
        return ChangeKind.MODE
    return None


def _directory_changes(
    before: Snapshot,
    after: Snapshot,
    evidence: str,
) -> Iterator[PathChange]:
    """Yield empty directories that came or went, and changed modes.

    Every other change of a directory is implied by the files in it.
    """
    old_folders = directories(before.entries)
    new_folders = directories(after.entries)
    not_empty = parents(before.entries) | parents(after.entries)

    for path in sorted(old_folders.keys() | new_folders.keys()):
        if _belongs_to_evidence(path, evidence):
            continue

        earlier = old_folders.get(path)
        entry = new_folders.get(path)
        kind = _kind_of_directory_change(earlier, entry)
        is_implied = path in not_empty and kind is not ChangeKind.MODE
        if kind is not None and not is_implied:
            yield PathChange(path, kind, before=earlier, after=entry)


def _kind_of_directory_change(
    earlier: TreeEntry | None, entry: TreeEntry | None
) -> ChangeKind | None:
    """Return how a directory changed, or None where it did not."""
    if earlier is None:
        return ChangeKind.ADDED
    if entry is None:
        return ChangeKind.DELETED
    if earlier.mode & SET_ID_BITS != entry.mode & SET_ID_BITS:
        return ChangeKind.MODE
    return None


def _belongs_to_evidence(path: str, evidence: str) -> bool:
    """Whether a folder is the evidence folder, lies in it, or lies above it."""
    if not evidence:
        return False
    is_it_or_above = f"{evidence}/".startswith(f"{path}/")
    is_below = path.startswith(f"{evidence}/")
    return is_it_or_above or is_below


def _special_files(changes: Iterable[PathChange]) -> Iterator[str]:
    for change in changes:
        entry = change.after
        if entry is not None and entry.kind is EntryKind.SPECIAL:
            yield change.path


def _unreadable_paths(entries: Mapping[str, TreeEntry]) -> tuple[str, ...]:
    unreadable = []
    for path, entry in entries.items():
        if entry.kind is EntryKind.UNREADABLE:
            unreadable.append(path)
    return tuple(sorted(unreadable))


def _escaping_links(
    changes: Iterable[PathChange], entries: Mapping[str, TreeEntry]
) -> Iterator[EscapingLink]:
    """Yield the new, changed or moved links whose target leaves the workspace."""
    for change in changes:
        entry = change.after
        if entry is None or entry.kind is not EntryKind.SYMLINK:
            continue
        escape = link_escape(entry.path, entry.target, entries)
        if escape is not None:
            yield EscapingLink(entry.path, entry.target, escape)


def link_escape(
    path: str,
    target: str,
    entries: Mapping[str, TreeEntry],
) -> LinkEscape | None:
    """Return how a link leaves the workspace, or None where it stays inside.

    Other links on its way are followed within the snapshot, as the kernel would
    follow them on disk.
    """
    if target.startswith("/"):
        return LinkEscape.ABSOLUTE

    reached = path.split("/")[:-1]
    ahead = _reversed_segments(target)
    links_followed = 0

    while ahead:
        segment = ahead.pop()
        if segment in ("", "."):
            continue

        if segment == "..":
            if not reached:
                return LinkEscape.OUTSIDE
            reached.pop()
            continue

        if is_git_file(segment):
            return LinkEscape.INTERNALS

        reached.append(segment)
        link = entries.get("/".join(reached))
        if link is None or link.kind is not EntryKind.SYMLINK:
            continue

        if link.target.startswith("/"):
            return LinkEscape.ABSOLUTE
        links_followed += 1
        if links_followed > _MAX_LINKS:
            return None  # a circle leads nowhere
        reached.pop()
        ahead += _reversed_segments(link.target)

    return None


def _reversed_segments(target: str) -> list[str]:
    segments = target.split("/")
    segments.reverse()
    return segments


def _twins(
    before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]
) -> Iterator[str]:
    """Yield new paths that some disks would take for another path.

    Such disks fold letter case or Unicode forms.
    """
    added = [path for path in after if path not in before]
    if not added:
        return

    spellings: dict[str, set[str]] = defaultdict(set)
    for path in (*before, *after):
        spellings[_folded(path)].add(path)

    for path in sorted(added):
        if len(spellings[_folded(path)]) > 1:
            yield path


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
