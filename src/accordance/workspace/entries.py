"""Small rules about the entries of a tree that several modules share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeGuard

from accordance.domain.facts import EntryKind, TreeEntry

SET_ID_BITS: Final = 0o7000
_EXECUTABLE_BIT: Final = 0o100


def is_executable(mode: int) -> bool:
    """Whether the owner of a file may run it."""
    return bool(mode & _EXECUTABLE_BIT)


def plain_mode(*, executable: bool) -> int:
    """Return the mode of a file we write: executable or not, with no other bit."""
    return 0o755 if executable else 0o644


def directories(entries: Mapping[str, TreeEntry]) -> dict[str, TreeEntry]:
    """Return those entries that are directories."""
    return {
        path: entry
        for path, entry in entries.items()
        if entry.kind is EntryKind.DIRECTORY
    }


def without_directories(entries: Mapping[str, TreeEntry]) -> dict[str, TreeEntry]:
    """Return those entries that are not directories."""
    return {
        path: entry
        for path, entry in entries.items()
        if entry.kind is not EntryKind.DIRECTORY
    }


def is_file(entry: TreeEntry | None) -> TypeGuard[TreeEntry]:
    """Whether there is an entry, and it is a regular file."""
    return entry is not None and entry.kind is EntryKind.FILE


def parents(paths: Iterable[str]) -> set[str]:
    """Return the folders that these paths lie in."""
    return {path.rpartition("/")[0] for path in paths}


def folders_above(paths: Iterable[str]) -> set[str]:
    """Return the folders that these paths lie in, and all folders above them."""
    folders: set[str] = set()
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    return folders


def sha256_of(file: Path) -> str:
    """Return the hash of a file's content; nothing where there is no file."""
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
