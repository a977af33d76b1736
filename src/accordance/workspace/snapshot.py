"""Snapshots: every file of a tree with its hash, by our own walk. What git shows can be steered by what it looks at.

Links are never followed, special files never opened. Of git directories only the steering files are read (everything but
objects, refs and the like), and they stand apart. Take a snapshot only when nothing runs in the tree any more.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, TypeAlias

from accordance.domain.facts import Entry, EntryKind, Snapshot
from accordance.workspace.errors import WorkspaceChanging
from accordance.workspace.names import text_of

Identity: TypeAlias = tuple[tuple[int, ...], int, int]

GIT_DIRECTORY: Final = ".git"
RACY_NS: Final = 2_000_000_000  # a file younger than this when hashed is hashed again: clocks tick coarsely
_ONCE: Final = 1 << 20  # files up to this size are read in one go
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

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
    ]
)
_STEERING_OBJECTS: Final = ("objects/info/alternates", "objects/info/http-alternates")
_GIT_MARKS: Final = frozenset(("HEAD", "objects", "refs"))


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a walk goes before it says that it is incomplete."""

    entries: int = 1_000_000
    file_bytes: int = 4 << 30
    total_bytes: int = 64 << 30


@dataclass(slots=True)
class StatCache:
    """Entries by what the kernel says of a file: inode, size, mode, owner, when modified and when changed.

    The change time cannot be set by anybody, so a file with a restored modification time is still seen. A file that was
    younger than two seconds when it was hashed is not kept, since a later write could fall into the same tick.
    """

    entries: dict[str, tuple[Identity, Entry]] = field(default_factory=dict)

    def keep(self, place: str, identity: Identity, entry: Entry, now_ns: int) -> None:
        """Remember an entry, unless its file is too young for its change time to prove anything."""
        if max(identity[1:]) < now_ns - RACY_NS:
            self.entries[place] = (identity, entry)
        else:
            self.entries.pop(place, None)


def take_snapshot(root: Path, *, cache: StatCache | None = None, reach: Reach | None = None) -> Snapshot:
    """Walk the tree below `root` and describe every entry. Raises WorkspaceChanging."""
    walk = _Walk(cache if cache is not None else StatCache(), reach or Reach())
    walk.tree(os.fspath(root), "")
    entries = {entry.path: entry for entry in walk.found}
    internals = {entry.path: entry for entry in walk.internals}
    return Snapshot(entries, internals, tuple(sorted(walk.nested)), walk.incomplete)


class _TooMuch(Exception):  # ends the walk, not the program
    """The walk has gone as far as it may."""


class _Walk:
    """One walk through one tree."""

    def __init__(self, cache: StatCache, reach: Reach) -> None:
        self.cache = cache
        self.reach = reach
        self.now_ns = time.time_ns()
        self.bytes = 0
        self.found: list[Entry] = []
        self.internals: list[Entry] = []
        self.nested: list[str] = []
        self.incomplete = ""

    def tree(self, root: str, prefix: str) -> None:
        """Everything below `root`, depth first by a list and not by recursion: trees can be deep."""
        waiting = [(root, prefix)]
        try:
            while waiting:
                directory, prefix = waiting.pop()
                waiting.extend(self._directory(directory, prefix))
        except _TooMuch as limit:
            self.incomplete = str(limit)

    def _directory(self, directory: str, prefix: str) -> Iterator[tuple[str, str]]:
        """Describe one directory's entries; hand back the directories below. The hot loop: known files come first."""
        known, found = self.cache.entries, self.found
        for item in self._list(directory, prefix, found):
            if item.name == GIT_DIRECTORY:
                self._git(item, prefix + GIT_DIRECTORY, prefix)
                continue
            place = item.path
            try:
                status = item.stat(follow_symlinks=False)
            except OSError as error:
                self._add(found, _unreadable(prefix + text_of(item.name), error))
                continue
            cached = known.get(place)
            if cached is not None and cached[0] == _identity(status):
                found.append(cached[1])
                continue
            path = prefix + text_of(item.name)
            if stat.S_ISDIR(status.st_mode):
                self._add(found, Entry(path, EntryKind.DIRECTORY, stat.S_IMODE(status.st_mode)))
                yield place, f"{path}/"
            else:
                self._add(found, self._entry(place, path, status))

    def _list(self, directory: str, prefix: str, into: list[Entry]) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as items:
                return list(islice(items, self.reach.entries + 1))
        except OSError as error:
            self._add(into, _unreadable(prefix.rstrip("/") or ".", error))
            return []

    def _entry(self, place: str, path: str, status: os.stat_result) -> Entry:
        """One entry that is no directory."""
        mode = stat.S_IMODE(status.st_mode)
        if stat.S_ISREG(status.st_mode):
            entry = self._hashed(place, path, status)
            if entry.kind is EntryKind.FILE:
                self.cache.keep(place, _identity(status), entry, self.now_ns)
            return entry
        if stat.S_ISLNK(status.st_mode):
            try:
                return Entry(path, EntryKind.SYMLINK, 0o777, target=text_of(os.readlink(place)))  # noqa: PTH115 - texts
            except OSError as error:
                return _unreadable(path, error)
        return Entry(path, EntryKind.SPECIAL, mode, note=_special(status.st_mode))

    def _hashed(self, place: str, path: str, status: os.stat_result) -> Entry:
        """A regular file with its hash, or why there is none."""
        mode, size = stat.S_IMODE(status.st_mode), status.st_size
        if size > self.reach.file_bytes:
            return Entry(
                path, EntryKind.UNREADABLE, mode, size, note=f"larger than {self.reach.file_bytes:,} bytes"
            )
        self.bytes += size
        if self.bytes > self.reach.total_bytes:
            raise _TooMuch(f"more than {self.reach.total_bytes:,} bytes")
        try:
            digest = _sha256(place, status)
        except OSError as error:
            return _unreadable(path, error)
        return Entry(path, EntryKind.FILE, mode, size, digest)

    def _git(self, item: os.DirEntry[str], path: str, prefix: str) -> None:
        """A `.git`: a directory, or a file that points at one. Its steering files stand apart."""
        if prefix:
            self.nested.append(prefix.rstrip("/"))
        if item.is_dir(follow_symlinks=False):
            self._git_directory(item.path, f"{path}/")
        else:
            self._add(self.internals, self._entry(item.path, path, item.stat(follow_symlinks=False)))

    def _git_directory(self, directory: str, prefix: str) -> None:
        """The steering files of one git directory and of the submodules kept in it."""
        for name in _STEERING_OBJECTS:
            place = os.path.join(directory, name)  # noqa: PTH118 - the walk speaks text, 100,000 times
            if os.path.lexists(place):
                self._add(self.internals, self._entry(place, prefix + name, os.lstat(place)))
        waiting = [(directory, prefix)]
        while waiting:
            directory, prefix = waiting.pop()
            items = self._list(directory, prefix, self.internals)
            is_git = {item.name for item in items} >= _GIT_MARKS
            for item in items:
                if is_git and item.name in _VOLATILE:
                    continue
                path = prefix + text_of(item.name)
                if item.is_dir(follow_symlinks=False):
                    waiting.append((item.path, f"{path}/"))
                else:
                    self._add(self.internals, self._entry(item.path, path, item.stat(follow_symlinks=False)))

    def _add(self, into: list[Entry], entry: Entry) -> None:
        into.append(entry)
        if len(self.found) + len(self.internals) > self.reach.entries:
            raise _TooMuch(f"more than {self.reach.entries:,} entries")


def _identity(status: os.stat_result) -> Identity:
    """Mode, inode, device, links, owner, group and size at once, then the two times: called for every file."""
    return (status[:7], status.st_mtime_ns, status.st_ctime_ns)


def _sha256(place: str, expected: os.stat_result) -> str:
    """Hash a file that is still the one we looked at, from its first byte to its last."""
    descriptor = os.open(place, _FLAGS)
    try:
        if _identity(os.fstat(descriptor)) != _identity(expected):
            raise WorkspaceChanging(f"{place!r} was replaced while it was read; something still runs there")
        if expected.st_size <= _ONCE:
            digest = hashlib.sha256(os.read(descriptor, expected.st_size + 1))
        else:
            with open(descriptor, "rb", closefd=False) as file:
                digest = hashlib.file_digest(file, "sha256")
        if _identity(os.fstat(descriptor)) != _identity(expected):
            raise WorkspaceChanging(f"{place!r} changed while it was read; something still runs there")
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def _unreadable(path: str, error: OSError) -> Entry:
    return Entry(path, EntryKind.UNREADABLE, 0, note=error.strerror or type(error).__name__)


def _special(mode: int) -> str:
    kinds = {
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
        stat.S_IFBLK: "block device",
        stat.S_IFCHR: "device",
    }
    return kinds.get(stat.S_IFMT(mode), "unknown")
