"""Files of git that would keep a reader waiting for ever.

An agent can put a pipe or a device where git expects a file. Git would open it and wait.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from accordance.workspace.errors import WorkspaceError


def refuse_endless_files(git_directory: Path) -> None:
    """Raise WorkspaceError if a git directory holds a pipe or a device."""
    for folder in _directories(git_directory):
        for place in _entries(folder):
            if _is_endless(place):
                raise WorkspaceError(
                    f"{place.path} is a pipe or a device, and git would read it without end",
                    way_out="delete it and judge again",
                )


def _directories(git_directory: Path) -> Iterator[Path]:
    """Yield a git directory, and what it shares with other working trees."""
    yield git_directory
    common = git_directory / "commondir"
    if common.is_file():
        shared = git_directory / common.read_text("utf-8", "surrogateescape").strip()
        yield shared


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield everything below a folder that is neither a folder nor a plain file."""
    waiting = [os.fspath(folder)]
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif not entry.is_file(follow_symlinks=False):
                    yield entry


def _is_endless(entry: os.DirEntry[str]) -> bool:
    """Whether an entry, or what a link leads to, is a pipe or a device.

    A socket is none: it cannot be opened, and git itself may have sockets.
    """
    try:
        mode = entry.stat().st_mode
    except OSError:
        return False
    return stat.S_IFMT(mode) in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK)
