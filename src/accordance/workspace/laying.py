"""Laying what was prepared into the copy that tests run on.

Trusted folders replace what the agent left. Generated files, such as a `_version.py`
that git ignores, only fill gaps.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from accordance.domain.facts import IsolationLevel
from accordance.workspace.clone import discard
from accordance.workspace.isolation import Room


def lay_folders(room: Room, level: IsolationLevel) -> None:
    """Make room for trusted folders, in place of what the agent left there.

    Bubblewrap shows them there; at other levels a link leads to them.
    """
    for name, source in room.laid.items():
        place = _cleared(room.work, name)
        if level is IsolationLevel.BWRAP:
            place.mkdir()
        else:
            place.symlink_to(source)


def lay_generated(room: Room) -> frozenset[str]:
    """Copy the generated files that the copy lacks, and return their paths."""
    if room.generated is None:
        return frozenset()
    laid = set()
    for source in sorted(room.generated.rglob("*")):
        path = source.relative_to(room.generated)
        if source.is_file() and _is_free(room.work, path):
            target = room.work / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
            laid.add(path.as_posix())
    return frozenset(laid)


def _is_free(work: Path, path: Path) -> bool:
    """Whether nothing is there, and no link or file of the agent is above it."""
    for above in reversed(path.parents):
        folder = work / above
        if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
            return False
    return not os.path.lexists(work / path)


def _cleared(work: Path, name: str) -> Path:
    """Return an empty place in a copy of ours; no link of the agent leads to it."""
    *above, last = name.split("/")
    folder = work
    for part in above:
        folder /= part
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink(missing_ok=True)
            folder.mkdir()

    place = folder / last
    if place.is_dir() and not place.is_symlink():
        discard(place)
    else:
        place.unlink(missing_ok=True)
    return place
