"""A repository as it is shown to a model that cannot look at it: the files it may change, those it is given to read, all names.

The clone holds nothing that may not be read, so nothing else can be shown. Files are shown whole or not at all: who sees half a file would write half a file.
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
from accordance.executors.run_folder import read_left
from accordance.workspace.git import Git

LARGEST_FILE: Final = 200_000  # bytes; larger ones are only named
_PINNED, _GIVEN, _NAMES = 80, 50, 30  # weights: what is kept longest when room is short


def show(work: Path, change: Mapping[str, Any]) -> tuple[Piece, ...]:
    """The pieces for a task of scc.task.v1 that changes the clone in `work`. Raises GitFailed."""
    paths = tracked_files(work)
    pins = Pins.of(
        change["pins"]["allowed_paths"], change["pins"].get("forbidden_paths", ())
    )
    pinned = [path for path in paths if path in pins]
    given = sorted(_given(change, paths).difference(pinned))
    shown = [
        *_contents(work, pinned, "file you may change", _PINNED),
        *_contents(work, given, "file you may not change", _GIVEN),
    ]
    names = "\n".join(paths)
    return (
        *shown,
        *(
            (Piece("the names of all files you may read", names, _NAMES),)
            if names
            else ()
        ),
    )


def tracked_files(work: Path) -> list[str]:
    """Every ordinary file that is not ignored; no link is one."""
    listed = Git(work / ".git", work)(
        "ls-files", "-z", "--cached", "--others", "--exclude-standard"
    )
    found = {
        name
        for name in map(os.fsdecode, listed.split(b"\0"))
        if name and name.isprintable()
    }
    return sorted(
        path
        for path in found
        if (work / path).is_file() and not (work / path).is_symlink()
    )


def _given(change: Mapping[str, Any], paths: Collection[str]) -> set[str]:
    """The files a task gives to read, and those its test commands name."""
    patterns = (*(change.get("files") or ()), *change["pins"].get("read_paths", ()))
    given = Pins.of(pattern for pattern in patterns if normal_path(pattern) is not None)
    named = {
        place
        for command in change.get("allowedTests") or ()
        for place in places_named(command, paths)
    }
    return {path for path in paths if path in given or path in named}


def _contents(
    work: Path, paths: Iterable[str], what: str, weight: int
) -> Iterator[Piece]:
    """The texts among them. A name that cannot stand in a line as it is would be misread: it is only listed."""
    for path in paths:
        raw = read_left(work, path, LARGEST_FILE + 1) if plain(path) == path else None
        if raw is None or len(raw) > LARGEST_FILE or b"\0" in raw:
            continue
        try:
            yield Piece(f"{what}: {path}", raw.decode(), weight, is_whole=True)
        except UnicodeDecodeError:
            continue  # no text
