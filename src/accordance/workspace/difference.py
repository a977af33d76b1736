"""The difference of two snapshots: what an attempt really changed."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final

from accordance.contracts.pins import is_gits_own
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

_MOST_HOPS: Final = 40  # as many links as the kernel follows
_JUDGED_APART: Final = (EntryKind.SPECIAL, EntryKind.UNREADABLE)


def difference(
    before: Snapshot,
    after: Snapshot,
    *,
    evidence: str = "",
    ignored: Callable[[Collection[str]], Collection[str]] | None = None,
    internals_known: bool = True,
) -> ChangeSet:
    """Everything that differs. `evidence` is the folder that holds the agent's evidence and is no part of the change.

    `ignored` names those of the given paths that the base's rules ignore; without it known caches are ignored.
    """
    was, now = _judged(before, evidence), _judged(after, evidence)
    changes = list(_changes(was, now))
    touched = {path for change in changes for path in change.paths}
    quiet = frozenset((ignored or in_caches)(touched))
    apart = [change for change in changes if quiet.issuperset(change.paths)]
    loud = [change for change in changes if not quiet.issuperset(change.paths)]
    return ChangeSet(
        changes=tuple(loud),
        ignored=tuple(apart),
        internals=tuple(_changes(before.internals, after.internals))
        if internals_known
        else (),
        directories=tuple(_directories(before, after, evidence)),
        escaping_links=tuple(_escaping(changes, after.entries)),
        special=tuple(_special(changes)),
        unreadable=tuple(
            sorted(
                path
                for path, entry in now.items()
                if entry.kind is EntryKind.UNREADABLE
            )
        ),
        twins=tuple(_twins(was, now)),
        nested_added=tuple(sorted(set(after.nested) - set(before.nested))),
        nested=after.nested,
        incomplete=before.incomplete or after.incomplete,
        internals_known=internals_known,
    )


def in_caches(paths: Collection[str]) -> frozenset[str]:
    """Those paths that lie in a folder which is known to be a cache."""
    return frozenset(
        path for path in paths if CACHES.keys() & set(path.split("/")[:-1])
    )


def _judged(snapshot: Snapshot, evidence: str) -> dict[str, TreeEntry]:
    """What can be a change on its own: no directories, nothing of the evidence folder."""
    below = f"{evidence}/" if evidence else "\0"
    return {
        path: entry
        for path, entry in snapshot.entries.items()
        if entry.kind is not EntryKind.DIRECTORY and not path.startswith(below)
    }


def _changes(
    before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]
) -> Iterator[PathChange]:
    """Every change, by path; a file that went and one with the same content that came are one rename."""
    gone = {path: entry for path, entry in before.items() if path not in after}
    came = {path: entry for path, entry in after.items() if path not in before}
    found = [*_renames(gone, came)]
    found += (
        PathChange(path, ChangeKind.DELETED, before=entry)
        for path, entry in gone.items()
    )
    found += (
        PathChange(path, ChangeKind.ADDED, after=entry) for path, entry in came.items()
    )
    for path, entry in after.items():
        earlier = before.get(path)
        if earlier is not None and (kind := _changed(earlier, entry)) is not None:
            found.append(PathChange(path, kind, before=earlier, after=entry))
    return iter(sorted(found, key=lambda change: change.path))


def _renames(
    gone: dict[str, TreeEntry], came: dict[str, TreeEntry]
) -> Iterator[PathChange]:
    """Pair what went with what came by equal content, and take the pairs out of both."""
    sources: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        if (
            gone[path].size or gone[path].target
        ):  # empty files are all alike, which proves nothing
            sources[gone[path].content].append(path)
    for path in sorted(came):
        candidates = sources.get(came[path].content)
        if candidates:
            old = candidates.pop()
            yield PathChange(
                path, ChangeKind.RENAMED, old, gone.pop(old), came.pop(path)
            )


def _changed(earlier: TreeEntry, entry: TreeEntry) -> ChangeKind | None:
    if earlier.kind is not entry.kind:
        return ChangeKind.TYPE
    if earlier.content != entry.content or (
        entry.kind in _JUDGED_APART and earlier != entry
    ):
        return ChangeKind.MODIFIED
    return ChangeKind.MODE if earlier.carried_mode != entry.carried_mode else None


def _directories(
    before: Snapshot, after: Snapshot, evidence: str
) -> Iterator[PathChange]:
    """Empty directories that came or went, and changed modes: all that files do not imply."""
    was, now = _folders(before), _folders(after)
    filled = {path.rpartition("/")[0] for path in (*before.entries, *after.entries)}
    folder = f"{evidence}/" if evidence else "\0"
    for path in sorted(was.keys() | now.keys()):
        if folder.startswith(f"{path}/") or path.startswith(folder):
            continue
        earlier, entry = was.get(path), now.get(path)
        if earlier is None and path not in filled:
            yield PathChange(path, ChangeKind.ADDED, after=entry)
        elif entry is None and path not in filled:
            yield PathChange(path, ChangeKind.DELETED, before=earlier)
        elif earlier and entry and earlier.mode & 0o7000 != entry.mode & 0o7000:
            yield PathChange(path, ChangeKind.MODE, before=earlier, after=entry)


def _folders(snapshot: Snapshot) -> dict[str, TreeEntry]:
    return {
        path: entry
        for path, entry in snapshot.entries.items()
        if entry.kind is EntryKind.DIRECTORY
    }


def _special(changes: Iterable[PathChange]) -> Iterator[str]:
    return (
        change.path
        for change in changes
        if change.after and change.after.kind is EntryKind.SPECIAL
    )


def _escaping(
    changes: Iterable[PathChange], entries: Mapping[str, TreeEntry]
) -> Iterator[EscapingLink]:
    """Links that are new, changed or moved and whose target leaves the workspace."""
    for change in changes:
        entry = change.after
        if entry is not None and entry.kind is EntryKind.SYMLINK:
            escape = link_escape(entry.path, entry.target, entries)
            if escape is not None:
                yield EscapingLink(entry.path, entry.target, escape)


def link_escape(
    path: str, target: str, entries: Mapping[str, TreeEntry]
) -> LinkEscape | None:
    """How a link leaves the workspace, or None when it stays. Other links on its way are followed in the snapshot."""
    reached = path.split("/")[:-1]
    ahead = target.split("/")[::-1]
    if target.startswith("/"):
        return LinkEscape.ABSOLUTE
    hops = 0
    while ahead:
        segment = ahead.pop()
        if segment == "..":
            if not reached:
                return LinkEscape.OUTSIDE
            reached.pop()
        elif segment not in ("", "."):
            if is_gits_own(segment):
                return LinkEscape.INTERNALS
            reached.append(segment)
            link = entries.get("/".join(reached))
            if link is not None and link.kind is EntryKind.SYMLINK:
                hops += 1
                if link.target.startswith("/"):
                    return LinkEscape.ABSOLUTE
                if hops > _MOST_HOPS:
                    return None  # a circle leads nowhere
                reached.pop()
                ahead += link.target.split("/")[::-1]
    return None


def _twins(
    before: Mapping[str, TreeEntry], after: Mapping[str, TreeEntry]
) -> Iterator[str]:
    """New paths that a disk which folds letter case or Unicode forms would take for another path."""
    came = [path for path in after if path not in before]
    if not came:
        return
    spellings: dict[str, set[str]] = defaultdict(set)
    for path in (*before, *after):
        spellings[_folded(path)].add(path)
    yield from sorted(path for path in came if len(spellings[_folded(path)]) > 1)


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
