"""Snapshots: every file of a tree with its hash, by our own walk.

What git shows can be steered by the tree it looks at; this walk cannot. Links are never
followed and special files never opened. Of git directories only the steering files are
read (everything but objects, refs and the like), and they are kept apart. Take a
snapshot when nothing runs in the tree any more; if something does, the walk still does
not leave the tree.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Protocol, TypeAlias

from accordance.domain.facts import EntryKind, Snapshot, TreeEntry
from accordance.domain.left_out import IGNORED, LeftOut
from accordance.workspace.beneath import FOLDER, open_below, was_replaced
from accordance.workspace.describing import (
    Identity,
    describe_link_or_special,
    identity_of,
    is_file,
    not_seen,
    replaced,
    sha256_of,
    unreadable,
)
from accordance.workspace.names import text_of

Entries: TypeAlias = dict[str, TreeEntry]
SeenFiles: TypeAlias = dict[str, tuple[Identity, TreeEntry]]
"""The files of a walk, and what the kernel says of each. A walk adds to it."""

GIT_DIRECTORY: Final = ".git"
_MAX_LISTED: Final = 20_000  # names in ignored folders, of a whole walk

# What git itself changes in everyday work. Everything else in a git directory steers
# git, so a change to it is a fact.
_CHANGED_BY_GIT: Final = frozenset(
    [
        "objects",
        "refs",
        "logs",
        "index",
        "HEAD",
        "ORIG_HEAD",
        "FETCH_HEAD",
        "MERGE_HEAD",
        "MERGE_MSG",
        "MERGE_MODE",
        "AUTO_MERGE",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
        "SQUASH_MSG",
        "COMMIT_EDITMSG",
        "TAG_EDITMSG",
        "MERGE_RR",
        "packed-refs",
        "shallow",
        "gc.pid",
        "gc.log",
        "rebase-merge",
        "rebase-apply",
        "sequencer",
        "rr-cache",
        "index.lock",
        "opencode",  # opencode's name for the project; git never reads it
    ]
)
_STEERING_OBJECTS: Final = frozenset(("alternates", "http-alternates"))
_GIT_MARKS: Final = frozenset(("HEAD", "objects", "refs"))


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """How far a walk goes before it gives up as incomplete."""

    entries: int = 1_000_000
    path_length: int = 1_024  # a longer path could not be copied elsewhere
    file_bytes: int = 4 << 30
    total_bytes: int = 64 << 30


class LeavingRule(Protocol):
    """Decides whether a walk passes an entry by, with all that is in it."""

    def __call__(
        self, path: str, *, is_folder: bool, holds: Callable[[str], bool]
    ) -> str:
        """Return why it is left out, or nothing.

        `holds` tells whether the folder has a file of that name.
        """
        ...


def take_snapshot(
    root: Path,
    *,
    reach: WalkLimits | None = None,
    leaving: LeavingRule | None = None,
    seen: SeenFiles | None = None,
) -> Snapshot:
    """Walk the tree below `root` and describe every entry. Raises WorkspaceChanging.

    What `leaving` names is only listed: it is neither opened nor hashed. `seen` holds
    the files of an earlier walk: those that are the same are not hashed again.
    """
    walk = _Walk(os.fspath(root), reach or WalkLimits(), leaving, seen)
    walk.tree()
    nested = tuple(sorted(walk.nested))
    left_out = tuple(sorted(walk.left_out, key=lambda item: item.path))
    return Snapshot(walk.entries, walk.internals, nested, walk.incomplete, left_out)


class _LimitReached(Exception):
    """The walk has gone as far as it may."""


class _Folder(NamedTuple):
    """A folder that still has to be walked."""

    name: str  # below the root, as the disk has it; empty for the root itself
    prefix: str  # of the paths in it, as text; empty or ending in a slash

    @property
    def path(self) -> str:
        """The folder's own path, as text."""
        return self.prefix.rstrip("/")

    def below(self, name: str, path: str) -> _Folder:
        """Return a folder in this folder."""
        full_name = f"{self.name}/{name}" if self.name else name
        return _Folder(full_name, f"{path}/")


class _Walk:
    """A walk through a tree.

    Files are looked up relative to their open folder, which is half the work for the
    kernel.
    """

    def __init__(
        self,
        root: str,
        reach: WalkLimits,
        leaving: LeavingRule | None,
        seen: SeenFiles | None,
    ) -> None:
        self.place = root
        self.root = -1
        self.reach = reach
        self.leaving = leaving
        self.seen: SeenFiles = {} if seen is None else seen
        self.left_out: list[LeftOut] = []
        self.listed = 0
        self.bytes = 0
        self.entries: Entries = {}
        self.internals: Entries = {}
        self.nested: list[str] = []
        self.incomplete = ""

    def tree(self) -> None:
        """Describe everything below the root, without recursion: trees can be deep."""
        try:
            self.root = os.open(self.place, FOLDER)
        except OSError as error:
            self.entries["."] = unreadable(".", error)
            return

        waiting = [_Folder("", "")]
        try:
            while waiting:
                waiting += self._directory(waiting.pop())
        except _LimitReached as limit:
            self.incomplete = str(limit)
        finally:
            os.close(self.root)

    def _directory(self, directory: _Folder) -> list[_Folder]:
        """Describe the entries of a directory and return the directories below it."""
        entries = self.entries
        prefix = directory.prefix
        max_length = self.reach.path_length
        folders = []

        with self._opened(directory, entries) as (descriptor, names):
            for name in names:
                if name == GIT_DIRECTORY:
                    self._git(descriptor, directory)
                    continue

                path = prefix + text_of(name)
                try:
                    status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                except OSError as error:
                    entries[path] = not_seen(path, error)
                    continue

                if self._is_left_out(descriptor, name, path, status):
                    continue
                if len(path) > max_length:
                    entries[path] = self._too_long(path)
                elif stat.S_ISDIR(status.st_mode):
                    mode = stat.S_IMODE(status.st_mode)
                    entries[path] = TreeEntry(path, EntryKind.DIRECTORY, mode)
                    folders.append(directory.below(name, path))
                else:
                    entries[path] = self._entry(descriptor, name, path, status)
        return folders

    def _is_left_out(
        self, parent: int, name: str, path: str, status: os.stat_result
    ) -> bool:
        """Whether an entry is passed by; if so, it is listed."""
        if self.leaving is None:
            return False

        is_folder = stat.S_ISDIR(status.st_mode)

        def holds(inner: str) -> bool:
            return is_folder and is_file(f"{name}/{inner}", parent)

        why = self.leaving(path, is_folder=is_folder, holds=holds)
        if not why:
            return False

        files: tuple[str, ...] = ()
        if is_folder and why == IGNORED:
            files = self._names_in(parent, name, path)
        self.left_out.append(LeftOut(path, why, is_folder, files))
        return True

    def _names_in(self, parent: int, name: str, path: str) -> tuple[str, ...]:
        """Return the paths of an ignored folder, as far as they are listed.

        What is not listed is still left out.
        """
        names = []
        waiting = [(name, path)]
        while waiting and self.listed < _MAX_LISTED:
            folder, prefix = waiting.pop()
            try:
                descriptor = open_below(parent, folder, FOLDER)
            except OSError:
                continue  # replaced, or not readable: of no effect either way
            try:
                with os.scandir(descriptor) as entries:
                    for entry in entries:
                        inner = f"{prefix}/{text_of(entry.name)}"
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append((f"{folder}/{entry.name}", inner))
                        else:
                            names.append(inner)
                            self.listed += 1
                        if self.listed >= _MAX_LISTED:
                            break
            finally:
                os.close(descriptor)
        return tuple(sorted(names))

    @contextmanager
    def _opened(
        self, folder: _Folder, entries: Entries
    ) -> Iterator[tuple[int, list[str]]]:
        """Open a folder and list its names.

        A folder that cannot be read has no names, and is recorded in `entries`.
        """
        try:
            if folder.name:
                descriptor = open_below(self.root, folder.name, FOLDER)
            else:
                descriptor = os.dup(self.root)
        except OSError as error:
            if was_replaced(error):
                raise replaced(folder.prefix) from None
            path = folder.path or "."
            entries[path] = unreadable(path, error)
            yield -1, []
            return

        try:
            names = os.listdir(descriptor)  # noqa: PTH208 - a descriptor
            count = len(self.entries) + len(self.internals) + len(names)
            if count > self.reach.entries:
                raise _LimitReached(f"more than {self.reach.entries:,} entries")
            yield descriptor, names
        finally:
            os.close(descriptor)

    def _entry(
        self, folder: int, name: str, path: str, status: os.stat_result
    ) -> TreeEntry:
        """Describe an entry that is no directory."""
        if not stat.S_ISREG(status.st_mode):
            return describe_link_or_special(folder, name, path, status)
        try:
            return self._file(folder, name, path, status)
        except OSError as error:
            return unreadable(path, error)

    def _too_long(self, path: str) -> TreeEntry:
        note = f"a path of more than {self.reach.path_length:,} characters"
        return TreeEntry(path, EntryKind.UNREADABLE, note=note)

    def _file(
        self, folder: int, name: str, path: str, status: os.stat_result
    ) -> TreeEntry:
        """Describe a regular file by its hash, or say why it has none."""
        identity = identity_of(status)
        earlier = self.seen.get(path)
        if earlier is not None and earlier[0] == identity:
            return earlier[1]

        mode = stat.S_IMODE(status.st_mode)
        size = status.st_size
        if size > self.reach.file_bytes:
            note = f"larger than {self.reach.file_bytes:,} bytes"
            return TreeEntry(path, EntryKind.UNREADABLE, mode, size, note=note)

        self.bytes += size
        if self.bytes > self.reach.total_bytes:
            raise _LimitReached(f"more than {self.reach.total_bytes:,} bytes")

        digest = sha256_of(folder, name, status)
        entry = TreeEntry(path, EntryKind.FILE, mode, size, digest)
        self.seen[path] = (identity, entry)
        return entry

    def _git(self, descriptor: int, directory: _Folder) -> None:
        """Describe the steering files of a `.git`.

        It is a directory, or a file that points to a directory.
        """
        if directory.prefix:
            self.nested.append(directory.path)

        waiting = self._internal(descriptor, GIT_DIRECTORY, directory)
        while waiting:
            folder = waiting.pop()
            with self._opened(folder, self.internals) as (inner, names):
                is_git = _GIT_MARKS.issubset(names)
                for name in names:
                    is_everyday_work = is_git and name in _CHANGED_BY_GIT
                    if not is_everyday_work:
                        waiting += self._internal(inner, name, folder)
                if is_git:
                    self._steering_objects(inner, folder)

    def _internal(self, descriptor: int, name: str, folder: _Folder) -> list[_Folder]:
        """Describe an entry of a git directory, or return it if it is a folder."""
        path = folder.prefix + text_of(name)
        try:
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError as error:
            self.internals[path] = not_seen(path, error)
            return []

        if len(path) > self.reach.path_length:
            self.internals[path] = self._too_long(path)
            return []
        if stat.S_ISDIR(status.st_mode):
            return [folder.below(name, path)]
        self.internals[path] = self._entry(descriptor, name, path, status)
        return []

    def _steering_objects(self, git: int, directory: _Folder) -> None:
        """Describe the files that send git elsewhere for its objects.

        Most repositories have no such folder.
        """
        folder = _Folder(
            f"{directory.name}/objects/info", f"{directory.prefix}objects/info/"
        )
        try:
            os.close(open_below(git, "objects/info", FOLDER))
        except OSError as error:
            if error.errno != errno.ENOENT:  # such as a link: git follows, we do not
                self.internals[folder.path] = unreadable(folder.path, error)
            return

        with self._opened(folder, self.internals) as (descriptor, names):
            for name in _STEERING_OBJECTS.intersection(names):
                self._internal(descriptor, name, folder)
