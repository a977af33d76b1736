"""A blob store in a folder: beside a SQLite ledger, or on a disk that machines share."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from accordance.errors import BlobStoreDenied, BlobStoreUnavailable
from accordance.store.blobs.port import BlobStore, StoredObject

_UNFINISHED: Final = ".part"


class FolderStore(BlobStore):
    """Objects as files, each written aside and then renamed."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.place = str(root)

    def write(self, key: str, content: bytes) -> None:
        path = self.root / key
        aside = path.with_name(f".{secrets.token_hex(8)}{_UNFINISHED}")
        with self._translated():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                _write_through(aside, content)
                aside.replace(path)
                _sync_folder(path.parent)
            except OSError:
                aside.unlink(missing_ok=True)
                raise

    def read(self, key: str) -> bytes | None:
        with self._translated():
            try:
                return (self.root / key).read_bytes()
            except (FileNotFoundError, NotADirectoryError):
                return None

    def objects(self, prefix: str = "") -> Iterator[StoredObject]:
        with self._translated():
            yield from self._files(self.root / prefix)

    def _files(self, folder: Path) -> Iterator[StoredObject]:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self._files(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                key = Path(entry.path).relative_to(self.root).as_posix()
                yield StoredObject(key, entry.stat(follow_symlinks=False).st_size)

    def remove(self, keys: Iterable[str]) -> None:
        with self._translated():
            for key in keys:
                path = self.root / key
                path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # other parts are still there
                    path.parent.rmdir()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except PermissionError as error:
            raise BlobStoreDenied(
                f"the blob store {self.place} may not be read or written",
                way_out="check who owns the folder",
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise BlobStoreUnavailable(
                f"the blob store {self.place} cannot be used: {reason}",
                way_out="make room on its disk" if is_full else "check the folder",
            ) from error


def _write_through(path: Path, content: bytes) -> None:
    """Write a file, and let nothing return before it is on the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
