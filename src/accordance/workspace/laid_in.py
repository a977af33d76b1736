"""Files that are laid into the copy for tests, whatever the agent left in their place.

Given tests come from the base, hidden tests from a folder that no agent sees. Both are
laid in where nothing of the agent's stands in the way: a link, a file or a folder of its
making is left out of the copy first. So no write can lead anywhere else.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from accordance.domain.facts import EntryKind, TreeEntry
from accordance.workspace.entries import folders_above, without_directories
from accordance.workspace.errors import WorkspaceError
from accordance.workspace.overlay import laid_over
from accordance.workspace.snapshot import take_snapshot


@dataclass(frozen=True, slots=True)
class LaidIn:
    """Files in a folder of ours, by the path that they get in the copy."""

    place: Path
    entries: Mapping[str, TreeEntry]
    replaces: Callable[[str], bool] = field(default=lambda _: False)
    """Which of the agent's files are left out, besides those in the way."""

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all files, in order."""
        return tuple(sorted(without_directories(self.entries)))

    def stands_for(self, path: str) -> bool:
        """Whether the copy has something of ours at a path, or nothing."""
        return path in self.entries or self.replaces(path)

    def without(self, paths: Collection[str]) -> LaidIn:
        """Return all but these files."""
        kept = {
            path: entry for path, entry in self.entries.items() if path not in paths
        }
        return replace(self, entries=kept)

    def over(self, tree: Mapping[str, TreeEntry]) -> dict[str, TreeEntry]:
        """Return a tree with these files in it, and nothing in their way."""
        kept = {path: entry for path, entry in tree.items() if not self.replaces(path)}
        return laid_over(self.entries, kept)


def hidden_files(folder: Path) -> LaidIn:
    """Read the hidden tests in a folder. Raises WorkspaceError.

    Only files and folders are laid in: a link could lead to anything.
    """
    if not folder.is_dir():
        raise WorkspaceError(f"there are no hidden tests at {folder}")
    snapshot = take_snapshot(folder)
    if snapshot.internals or snapshot.nested or snapshot.incomplete:
        raise WorkspaceError(
            f"hidden tests are plain files, not a repository: {folder}"
        )

    chosen = without_directories(snapshot.entries)
    for path, entry in chosen.items():
        is_plain = entry.kind is EntryKind.FILE and not entry.mode & stat.S_ISUID
        if not is_plain:
            raise WorkspaceError(f"hidden tests are plain files; {path} is none")
    if not chosen:
        raise WorkspaceError(f"there are no hidden tests at {folder}")
    return LaidIn(folder, with_folders(chosen))


def with_folders(entries: Mapping[str, TreeEntry]) -> dict[str, TreeEntry]:
    """Return entries with the folders that lead to them."""
    complete = dict(entries)
    for folder in folders_above(entries):
        directory = TreeEntry(folder, EntryKind.DIRECTORY, 0o755)
        complete.setdefault(folder, directory)
    return complete
