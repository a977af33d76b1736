"""Snapshots: every file of a tree with its hash, by our own walk. What git shows can be steered by what it looks at.

Links are never followed, special files never opened. Of git directories only the steering files are read (everything but
objects, refs and the like), and they stand apart. Take a snapshot when nothing runs in the tree any more; where something
does, the walk still does not leave it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from accordance.domain.facts import EntryKind, Snapshot, TreeEntry
from accordance.workspace.beneath import FILE, FOLDER, open_below, was_replaced
from accordance.workspace.errors import WorkspaceChanging
from accordance.workspace.names import text_of

Identity: TypeAlias = tuple[tuple[int, ...], int, int]

GIT_DIRECTORY: Final = ".git"
RACY_NS: Final = 2_000_000_000  # a file younger than this when hashed is hashed again: clocks tick coarsely
_ONCE: Final = 1 << 20  # files up to this size are read in one go

# What git itself changes in everyday work. All else in a git directory steers git, so a change to it is a fact.
_VOLATILE: Final = frozenset(
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
        "opencode",  # what opencode calls the project; git never looks at it
    ]
)
_STEERING_OBJECTS: Final = frozenset(("alternates", "http-alternates"))
_GIT_MARKS: Final = frozenset(("HEAD", "objects", "refs"))


@dataclass(frozen=True, slots=True)
class WalkLimits:
    """How far a walk goes before it says that it is incomplete."""

    entries: int = 1_000_000
    path_length: int = 1_024  # deeper is only who wants to break something: a copy elsewhere could not be made
    file_bytes: int = 4 << 30
    total_bytes: int = 64 << 30


@dataclass(slots=True)
class StatCache:
    """Entries by what the kernel says of a file: inode, size, mode, owner, when modified and when changed.

    The change time cannot be set by anybody, so a file with a restored modification time is still seen. A file that was
    younger than two seconds when it was hashed is not kept, since a later write could fall into the same tick.
    """

    folders: dict[str, dict[str, tuple[Identity, TreeEntry]]] = field(
        default_factory=dict
    )  # by folder, then by name

    def of(self, directory: str) -> dict[str, tuple[Identity, TreeEntry]]:
        """What is known of one folder."""
        return self.folders.setdefault(directory, {})


def take_snapshot(
    root: Path, *, cache: StatCache | None = None, reach: WalkLimits | None = None
) -> Snapshot:
    """Walk the tree below `root` and describe every entry. Raises WorkspaceChanging."""
    walk = _Walk(
        os.fspath(root),
        cache if cache is not None else StatCache(),
        reach or WalkLimits(),
    )
    walk.tree()
    return Snapshot(
        walk.found, walk.internals, tuple(sorted(walk.nested)), walk.incomplete
    )


class _TooMuch(Exception):  # ends the walk, not the program
    """The walk has gone as far as it may."""


class _Walk:
    """One walk through one tree. Files are asked about relative to their open folder: half the work for the kernel."""

    def __init__(self, root: str, cache: StatCache, reach: WalkLimits) -> None:
        self.place = root
        self.root = -1
        self.cache = cache
        self.reach = reach
        self.now_ns = time.time_ns()
        self.bytes = 0
        self.found: dict[str, TreeEntry] = {}
        self.internals: dict[str, TreeEntry] = {}
        self.nested: list[str] = []
        self.incomplete = ""

    def tree(self) -> None:
        """Everything below the root, by a list and not by recursion: trees can be deep."""
        try:
            self.root = os.open(self.place, FOLDER)
        except OSError as error:
            self.found["."] = _unreadable(".", error)
            return
        waiting = [("", "")]
        try:
            while waiting:
                waiting += self._directory(*waiting.pop())
        except _TooMuch as limit:
            self.incomplete = str(limit)
        finally:
            os.close(self.root)

    def _directory(self, directory: str, prefix: str) -> list[tuple[str, str]]:
        """Describe one directory's entries; hand back the directories below. The hot loop: known files come first."""
        known, found, below = (
            self.cache.of(_joined(self.place, directory)),
            self.found,
            [],
        )
        with self._opened(directory, prefix, found) as (folder, names):
            for name in names:
                if name == GIT_DIRECTORY:
                    self._git(folder, directory, prefix)
                    continue
                try:
                    status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                except OSError as error:
                    found[prefix + text_of(name)] = _not_seen(
                        prefix + text_of(name), error
                    )
                    continue
                cached = known.get(name)
                if cached is not None and cached[0] == _identity(status):
                    found[cached[1].path] = cached[1]
                    continue
                path = prefix + text_of(name)
                if len(path) > self.reach.path_length:
                    found[path] = self._too_long(path)
                elif stat.S_ISDIR(status.st_mode):
                    found[path] = TreeEntry(
                        path, EntryKind.DIRECTORY, stat.S_IMODE(status.st_mode)
                    )
                    below.append((_joined(directory, name), f"{path}/"))
                else:
                    entry = found[path] = self._entry(folder, name, path, status)
                    self._remember(known, name, status, entry)
        return below

    @contextmanager
    def _opened(
        self, directory: str, prefix: str, into: dict[str, TreeEntry]
    ) -> Iterator[tuple[int, list[str]]]:
        """A folder and the names in it; none if it cannot be read, which is then a fact."""
        try:
            folder = (
                open_below(self.root, directory, FOLDER)
                if directory
                else os.dup(self.root)
            )
        except OSError as error:
            if was_replaced(error):
                raise _replaced(prefix) from None
            path = prefix.rstrip("/") or "."
            into[path] = _unreadable(path, error)
            yield -1, []
            return
        try:
            names = os.listdir(folder)  # noqa: PTH208 - a descriptor
            if len(self.found) + len(self.internals) + len(names) > self.reach.entries:
                raise _TooMuch(f"more than {self.reach.entries:,} entries")
            yield folder, names
        finally:
            os.close(folder)

    def _remember(
        self,
        known: dict[str, tuple[Identity, TreeEntry]],
        name: str,
        status: os.stat_result,
        entry: TreeEntry,
    ) -> None:
        """Keep a file's entry, unless it is too young for its change time to prove anything."""
        identity = _identity(status)
        if entry.kind is EntryKind.FILE and max(identity[1:]) < self.now_ns - RACY_NS:
            known[name] = (identity, entry)
        else:
            known.pop(name, None)

    def _entry(
        self, folder: int, name: str, path: str, status: os.stat_result
    ) -> TreeEntry:
        """One entry that is no directory."""
        mode = stat.S_IMODE(status.st_mode)
        try:
            if stat.S_ISREG(status.st_mode):
                return self._hashed(folder, name, path, status)
            if stat.S_ISLNK(status.st_mode):
                target = os.readlink(name, dir_fd=folder)
                return TreeEntry(path, EntryKind.SYMLINK, 0o777, target=text_of(target))
        except OSError as error:
            return _unreadable(path, error)
        return TreeEntry(path, EntryKind.SPECIAL, mode, note=_special(status.st_mode))

    def _too_long(self, path: str) -> TreeEntry:
        return TreeEntry(
            path,
            EntryKind.UNREADABLE,
            note=f"a path of more than {self.reach.path_length:,} characters",
        )

    def _hashed(
        self, folder: int, name: str, path: str, status: os.stat_result
    ) -> TreeEntry:
        """A regular file with its hash, or why there is none."""
        mode, size = stat.S_IMODE(status.st_mode), status.st_size
        if size > self.reach.file_bytes:
            note = f"larger than {self.reach.file_bytes:,} bytes"
            return TreeEntry(path, EntryKind.UNREADABLE, mode, size, note=note)
        self.bytes += size
        if self.bytes > self.reach.total_bytes:
            raise _TooMuch(f"more than {self.reach.total_bytes:,} bytes")
        return TreeEntry(
            path, EntryKind.FILE, mode, size, _sha256(folder, name, status)
        )

    def _git(self, folder: int, directory: str, prefix: str) -> None:
        """A `.git`: a directory, or a file that points at one. Its steering files stand apart."""
        if prefix:
            self.nested.append(prefix.rstrip("/"))
        waiting = self._internal(folder, GIT_DIRECTORY, directory, prefix)
        while waiting:
            place, inside = waiting.pop()
            with self._opened(place, inside, self.internals) as (inner, names):
                is_git = _GIT_MARKS.issubset(names)
                for name in names:
                    if not (is_git and name in _VOLATILE):
                        waiting += self._internal(inner, name, place, inside)
                if is_git:
                    self._steering_objects(
                        inner, f"{place}/objects/info", f"{inside}objects/info/"
                    )

    def _internal(
        self, folder: int, name: str, directory: str, prefix: str
    ) -> list[tuple[str, str]]:
        """One thing in or around a git directory: described, or handed back when it is a folder."""
        path = prefix + text_of(name)
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError as error:
            self.internals[path] = _not_seen(path, error)
            return []
        if len(path) > self.reach.path_length:
            self.internals[path] = self._too_long(path)
        elif stat.S_ISDIR(status.st_mode):
            return [(_joined(directory, name), f"{path}/")]
        else:
            self.internals[path] = self._entry(folder, name, path, status)
        return []

    def _steering_objects(self, git: int, directory: str, prefix: str) -> None:
        """Where else git looks for objects; in most repositories there is no such folder."""
        try:
            os.close(open_below(git, "objects/info", FOLDER))
        except OSError as error:
            if (
                error.errno != errno.ENOENT
            ):  # a link, say: then git looks where we do not
                self.internals[prefix.rstrip("/")] = _unreadable(
                    prefix.rstrip("/"), error
                )
            return
        with self._opened(directory, prefix, self.internals) as (folder, names):
            for name in _STEERING_OBJECTS.intersection(names):
                self._internal(folder, name, directory, prefix)


def _joined(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory and name else directory or name


def _not_seen(path: str, error: OSError) -> TreeEntry:
    """A name that was listed and cannot be looked at. Raises WorkspaceChanging where it is gone."""
    if isinstance(error, FileNotFoundError):
        raise _replaced(path) from None
    return _unreadable(path, error)


def _replaced(name: str) -> WorkspaceChanging:
    return WorkspaceChanging(
        f"{name!r} was replaced while it was read; something still runs there"
    )


def _identity(status: os.stat_result) -> Identity:
    """Mode, inode, device, links, owner, group and size at once, then the two times: called for every file."""
    return (status[:7], status.st_mtime_ns, status.st_ctime_ns)


def _sha256(folder: int, name: str, expected: os.stat_result) -> str:
    """Hash a file that is still the one we looked at, from its first byte to its last."""
    descriptor = os.open(name, FILE, dir_fd=folder)
    try:
        if _identity(os.fstat(descriptor)) != _identity(expected):
            raise _replaced(name)
        if expected.st_size <= _ONCE:
            digest = hashlib.sha256(os.read(descriptor, expected.st_size + 1))
        else:
            with open(descriptor, "rb", closefd=False) as file:
                digest = hashlib.file_digest(file, "sha256")
        if _identity(os.fstat(descriptor)) != _identity(expected):
            raise WorkspaceChanging(
                f"{name!r} changed while it was read; something still runs there"
            )
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def _unreadable(path: str, error: OSError) -> TreeEntry:
    return TreeEntry(
        path, EntryKind.UNREADABLE, 0, note=error.strerror or type(error).__name__
    )


def _special(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
        stat.S_IFBLK: "block device",
        stat.S_IFCHR: "device",
    }
    return kinds.get(stat.S_IFMT(mode), "unknown")
