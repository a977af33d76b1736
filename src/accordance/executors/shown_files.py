"""A repository as it is shown to a model that cannot look at it itself.

It sees the files it may change, the files it is given to read, and all names. The clone
holds nothing that may not be read, so nothing else can leak. Files are shown whole or
not at all: a model that sees half a file would write half a file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from accordance.contracts.pins import Pins, normal_path
from accordance.domain.context_pack import Piece
from accordance.domain.prompting import plain
from accordance.domain.sight import places_named
from accordance.executors.left_files import read_file_inside
from accordance.workspace.git import Git

LARGEST_FILE: Final = 200_000  # bytes; larger files are only named

# Weights: the heavier a piece, the longer it is kept when room is short.
_CHANGEABLE_WEIGHT: Final = 80
_READABLE_WEIGHT: Final = 50
_NAMES_WEIGHT: Final = 30


def show(work: Path, change: Mapping[str, Any]) -> tuple[Piece, ...]:
    """Return the pieces for a task of scc.task.v1 on the clone in `work`.

    Raises GitFailed.
    """
    paths = tracked_files(work)
    changeable = pinned_paths(change, paths)
    readable = sorted(_readable_paths(change, paths).difference(changeable))

    pieces = [
        *_contents(work, changeable, "file you may change", _CHANGEABLE_WEIGHT),
        *_contents(work, readable, "file you may not change", _READABLE_WEIGHT),
    ]
    if paths:
        names = "\n".join(paths)
        title = "the names of all files you may read"
        pieces.append(Piece(title, names, _NAMES_WEIGHT))
    return tuple(pieces)


def tracked_files(work: Path) -> list[str]:
    """Return every ordinary file that git does not ignore; links are left out."""
    git = Git(work / ".git", work)
    listing = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = {os.fsdecode(name) for name in listing.split(b"\0")}

    files = []
    for name in sorted(names):
        if not name or not name.isprintable():
            continue
        place = work / name
        if place.is_file() and not place.is_symlink():
            files.append(name)
    return files


def pinned_paths(change: Mapping[str, Any], paths: Iterable[str]) -> list[str]:
    """Return the paths that the pins of a task allow to change."""
    allowed = change["pins"]["allowed_paths"]
    forbidden = change["pins"].get("forbidden_paths", ())
    pins = Pins.of(allowed, forbidden)
    return [path for path in paths if path in pins]


def _readable_paths(change: Mapping[str, Any], paths: Collection[str]) -> set[str]:
    """Return the files a task gives to read, and those its test commands name."""
    files = change.get("files") or ()
    read_paths = change["pins"].get("read_paths", ())
    patterns = []
    for pattern in (*files, *read_paths):
        if normal_path(pattern) is not None:
            patterns.append(pattern)
    given = Pins.of(patterns)

    readable = {path for path in paths if path in given}
    for command in change.get("allowedTests") or ():
        named = places_named(command, paths)
        readable.update(named.intersection(paths))
    return readable


def _contents(
    work: Path,
    paths: Iterable[str],
    what: str,
    weight: int,
) -> Iterator[Piece]:
    """Yield the texts among the files.

    A file whose name cannot stand in a line as it is would be misread, so it is only
    listed.
    """
    for path in paths:
        if plain(path) != path:
            continue
        text = _text_of(work, path)
        if text is not None:
            yield Piece(f"{what}: {path}", text, weight, is_whole=True)


def _text_of(work: Path, path: str) -> str | None:
    """Return the text of a file; None if it is too large or no text."""
    raw = read_small_file(work, path)
    if raw is None or b"\0" in raw:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def read_small_file(work: Path, path: str) -> bytes | None:
    """Return the content of a file in a clone; None if it is too large to be shown."""
    raw = read_file_inside(work, path, LARGEST_FILE + 1)
    if raw is None or len(raw) > LARGEST_FILE:
        return None
    return raw
