"""Reading a tree that may still be changing, without ever leaving it.

A process that writes to a tree can replace a folder by a link between two looks at it.
A path that is resolved anew each time would then lead to any file that accordance can
read. So the root is opened once, everything else from there, and the kernel is asked not
to follow a link anywhere on the way. Content counts only if it has the hash that the
snapshot saw.
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

from accordance.domain.facts import EntryKind, TreeEntry
from accordance.workspace.entries import is_executable, plain_mode
from accordance.workspace.errors import WorkspaceChanging
from accordance.workspace.names import name_of

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""O_NONBLOCK, because opening a fifo would wait for a writer."""

_OPENAT2: Final = 437  # the same on every machine type
_NO_MAGIC_LINKS: Final = 0x02
_NO_LINKS: Final = 0x04
_BENEATH: Final = 0x08
_NOT_SUPPORTED: Final = (errno.ENOSYS, errno.EPERM)
"""From an old kernel, or a container that forbids the call."""
_REPLACED: Final = (errno.ELOOP, errno.ENOTDIR, errno.ENOENT)
_CHUNK: Final = 1 << 20
_NOT_BELOW: Final = frozenset(("", ".", ".."))


class _OpenHow(ctypes.Structure):
    """How the kernel opens a file: flags, mode, and what it may pass on the way."""

    _fields_ = (
        ("flags", ctypes.c_uint64),
        ("mode", ctypes.c_uint64),
        ("resolve", ctypes.c_uint64),
    )


@contextmanager
def opened(root: Path | str) -> Iterator[int]:
    """Open the root of a tree for as long as the block runs."""
    descriptor = os.open(root, FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_below(root: int, name: str, flags: int) -> int:
    """Open what has this name below the root.

    Raises OSError; ELOOP or ENOTDIR where a link is on the way.
    """
    if not _NOT_BELOW.isdisjoint(name.split("/")):
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
        return error.errno not in _NOT_SUPPORTED
    return True


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _openat2(root: int, name: str, flags: int) -> int:
    resolve = _NO_MAGIC_LINKS | _NO_LINKS | _BENEATH
    how = _OpenHow(flags & ~os.O_NOFOLLOW, 0, resolve)
    descriptor: int = _libc().syscall(
        _OPENAT2, root, os.fsencode(name), ctypes.byref(how), ctypes.sizeof(how)
    )
    if descriptor < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return descriptor


def _step_by_step(root: int, name: str, flags: int) -> int:
    """Open a name folder by folder, for kernels without openat2."""
    *folders, last = name.split("/")
    here = os.dup(root)
    try:
        for folder in folders:
            below = _open_no_link(here, folder, FOLDER)
            os.close(here)
            here = below
        return _open_no_link(here, last, flags | os.O_NOFOLLOW)
    finally:
        os.close(here)


def _open_no_link(here: int, name: str, flags: int) -> int:
    """Open a single name, and raise ELOOP for a link.

    Where a folder was wanted, the kernel does not tell a link from a file.
    """
    try:
        return os.open(name, flags, dir_fd=here)
    except NotADirectoryError:
        status = os.stat(name, dir_fd=here, follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from None
        raise


def was_replaced(error: OSError) -> bool:
    """Whether what was just seen as a folder or a file is none any more."""
    return error.errno in _REPLACED


@contextmanager
def file_below(root: int, name: str) -> Iterator[BinaryIO]:
    """Open an ordinary file below the root. Raises OSError."""
    descriptor = open_below(root, name, FILE)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "no ordinary file", name)
    with os.fdopen(descriptor, "rb") as file:
        yield file


def content_of(root: int, entry: TreeEntry) -> bytes:
    """Return the content of a file as the snapshot saw it. Raises WorkspaceChanging."""
    return b"".join(_chunks(root, entry))


def text_below(root: Path, entry: TreeEntry | None, largest: int = 1 << 20) -> str:
    """Return the text of a file; empty where there is none, or it is too large.

    Raises WorkspaceChanging.
    """
    if entry is None or entry.kind is not EntryKind.FILE or entry.size > largest:
        return ""
    with opened(root) as folder:
        return content_of(folder, entry).decode("utf-8", "replace")


def copy_below(root: int, entry: TreeEntry, place: Path) -> None:
    """Copy a file as the snapshot saw it to a new place.

    Raises WorkspaceChanging, and leaves nothing there then.
    """
    mode = plain_mode(executable=is_executable(entry.mode))
    try:
        with place.open("xb") as writer:
            for chunk in _chunks(root, entry):
                writer.write(chunk)
            os.fchmod(writer.fileno(), mode)
    except WorkspaceChanging:
        place.unlink()
        raise


def _chunks(root: int, entry: TreeEntry) -> Iterator[bytes]:
    """Yield the content of a file in chunks. Raises WorkspaceChanging at the end.

    It is raised unless the content has the size and the hash that the snapshot saw.
    """
    digest = hashlib.sha256()
    bytes_left = entry.size
    try:
        with file_below(root, name_of(entry.path)) as file:
            while bytes_left > 0:
                chunk = file.read(min(_CHUNK, bytes_left))
                if not chunk:
                    break
                digest.update(chunk)
                bytes_left -= len(chunk)
                yield chunk
            is_longer = bool(file.read(1))
    except OSError:
        is_longer = True

    if is_longer or digest.hexdigest() != entry.sha256:
        raise WorkspaceChanging(
            f"{entry.path} is no longer what the snapshot saw; something still runs "
            "there"
        )
