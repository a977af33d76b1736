"""Reading a tree that somebody else may still be changing: everything is opened below one folder, never through a link.

Whoever writes to a tree can replace a folder by a link between two looks at it. A path that is resolved anew each time would
then lead to any file that accordance can read. So the root is opened once, the rest from there, and the kernel is told not to
follow a link anywhere on the way. Content counts only if it has the hash that the snapshot saw.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO, Final

from accordance.domain.facts import TreeEntry
from accordance.workspace.errors import WorkspaceChanging
from accordance.workspace.names import name_of

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE: Final = (
    os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
)  # nobody is waited for at a fifo
_OPENAT2: Final = 437  # the same on every machine type
_NO_MAGIC_LINKS, _NO_LINKS, _BENEATH = 0x02, 0x04, 0x08
_NOT_TO_BE_HAD: Final = (
    errno.ENOSYS,
    errno.EPERM,
)  # an old kernel, or a container that forbids it
_REPLACED: Final = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT)
_PIECE: Final = 1 << 20
_NOWHERE: Final = frozenset(("", ".", ".."))


class _How(ctypes.Structure):
    """How the kernel opens a file: flags, mode, and what it may pass on the way."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@contextmanager
def opened(root: Path | str) -> Iterator[int]:
    """The root of a tree, good while the block runs."""
    descriptor = os.open(root, FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_below(root: int, name: str, flags: int) -> int:
    """Open what has this name below the root. Raises OSError, ELOOP or ENOTDIR where a link is on the way."""
    if not _NOWHERE.isdisjoint(name.split("/")):
        raise OSError(errno.EINVAL, "no name below a folder", name)
    if _kernel_can():
        return _openat2(root, name, flags)
    return _step_by_step(root, name, flags)


@cache
def _kernel_can() -> bool:
    """Whether the kernel itself keeps a path below a folder (Linux 5.6)."""
    try:
        with opened("/") as root:
            os.close(_openat2(root, "proc", FOLDER))
    except OSError as error:
        return error.errno not in _NOT_TO_BE_HAD
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(root: int, name: str, flags: int) -> int:
    how = _How(flags & ~os.O_NOFOLLOW, 0, _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH)
    answer: int = _libc().syscall(
        _OPENAT2, root, os.fsencode(name), ctypes.byref(how), ctypes.sizeof(how)
    )
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return answer


def _step_by_step(root: int, name: str, flags: int) -> int:
    *folders, last = name.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            below = _no_link(here, folder, FOLDER)
            os.close(here)
            here = below
        return _no_link(here, last, flags | os.O_NOFOLLOW)
    finally:
        os.close(here)


def _no_link(here: int, name: str, flags: int) -> int:
    """Open one name, and say of a link that it is one: where a folder was asked for, the kernel does not."""
    try:
        return os.open(name, flags, dir_fd=here)
    except NotADirectoryError:
        if stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def was_replaced(error: OSError) -> bool:
    """Whether what was just seen as a folder or a file is none any more."""
    return error.errno in _REPLACED


@contextmanager
def file_below(root: int, name: str) -> Iterator[BinaryIO]:
    """An ordinary file below the root. Raises OSError."""
    descriptor = open_below(root, name, FILE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no ordinary file", name)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def content_of(root: int, entry: TreeEntry) -> bytes:
    """The content of a file as the snapshot saw it. Raises WorkspaceChanging."""
    return b"".join(_pieces(root, entry))


def copy_below(root: int, entry: TreeEntry, place: Path) -> None:
    """Copy a file as the snapshot saw it to a new place. Raises WorkspaceChanging, and leaves nothing then."""
    try:
        with place.open("xb") as writer:
            for piece in _pieces(root, entry):
                writer.write(piece)
            os.fchmod(writer.fileno(), 0o755 if entry.mode & 0o100 else 0o644)
    except WorkspaceChanging:
        place.unlink()
        raise


def _pieces(root: int, entry: TreeEntry) -> Iterator[bytes]:
    """Piece by piece; what is read to its end has the hash that was seen, and no more bytes are read than were seen."""
    digest, left = hashlib.sha256(), entry.size
    try:
        with file_below(root, name_of(entry.path)) as file:
            while left > 0 and (piece := file.read(min(_PIECE, left))):
                digest.update(piece)
                left -= len(piece)
                yield piece
            is_same = not file.read(1) and digest.hexdigest() == entry.sha256
    except OSError:
        is_same = False
    if not is_same:
        raise WorkspaceChanging(
            f"{entry.path} is no longer what the snapshot saw; something still runs there"
        )
