"""Laying trusted folders into the copy that tests run on."""

from __future__ import annotations

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
