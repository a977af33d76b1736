"""Describing single entries of a tree: files, links and what is neither.

Nothing is followed. What is replaced or changes while it is read raises
WorkspaceChanging, because then no description would hold for it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Final, TypeAlias

from accordance.domain.facts import EntryKind, TreeEntry
from accordance.workspace.beneath import FILE
from accordance.workspace.errors import WorkspaceChanging
from accordance.workspace.names import text_of

Identity: TypeAlias = tuple[tuple[int, ...], int, int]
"""What tells a file from another, and from itself after a change."""

_READ_AT_ONCE: Final = 1 << 20  # files up to this size are read at once
_SPECIAL_KINDS: Final = {
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFBLK: "block device",
    stat.S_IFCHR: "device",
}


def describe_link_or_special(
    folder: int,
    name: str,
    path: str,
    status: os.stat_result,
) -> TreeEntry:
    """Describe an entry that is neither a directory nor a regular file."""
    if stat.S_ISLNK(status.st_mode):
        try:
            target = text_of(os.readlink(name, dir_fd=folder))
        except OSError as error:
            return unreadable(path, error)
        return TreeEntry(path, EntryKind.SYMLINK, 0o777, target=target)

    mode = stat.S_IMODE(status.st_mode)
    kind = _SPECIAL_KINDS.get(stat.S_IFMT(status.st_mode), "unknown")
    return TreeEntry(path, EntryKind.SPECIAL, mode, note=kind)


def is_file(name: str, parent: int) -> bool:
    """Whether a folder holds a regular file of that name."""
    try:
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode)


def not_seen(path: str, error: OSError) -> TreeEntry:
    """Describe a name that was listed and cannot be looked up.

    Raises WorkspaceChanging where it is gone.
    """
    if isinstance(error, FileNotFoundError):
        raise replaced(path) from None
    return unreadable(path, error)


def replaced(name: str) -> WorkspaceChanging:
    """Return the error of an entry that is not what it was."""
    return WorkspaceChanging(
        f"{name!r} was replaced while it was read; something still runs there"
    )


def identity_of(status: os.stat_result) -> Identity:
    """Return the identity of a file.

    The slice holds mode, inode, device, links, owner, group and size.
    """
    return (status[:7], status.st_mtime_ns, status.st_ctime_ns)


def sha256_of(folder: int, name: str, expected: os.stat_result) -> str:
    """Hash a file, and make sure that it stays the same from first byte to last."""
    descriptor = os.open(name, FILE, dir_fd=folder)
    try:
        if identity_of(os.fstat(descriptor)) != identity_of(expected):
            raise replaced(name)

        if expected.st_size <= _READ_AT_ONCE:
            digest = hashlib.sha256(os.read(descriptor, expected.st_size + 1))
        else:
            with open(descriptor, "rb", closefd=False) as file:
                digest = hashlib.file_digest(file, "sha256")

        if identity_of(os.fstat(descriptor)) != identity_of(expected):
            raise WorkspaceChanging(
                f"{name!r} changed while it was read; something still runs there"
            )
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def unreadable(path: str, error: OSError) -> TreeEntry:
    """Describe an entry that cannot be read, with the reason."""
    note = error.strerror or type(error).__name__
    return TreeEntry(path, EntryKind.UNREADABLE, 0, note=note)
