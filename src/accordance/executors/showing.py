"""A repository as it is shown to a model that cannot look at it: the files it may change, the tests it must pass, all names.

Files are shown whole or not at all: who sees half a file would write half a file.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from accordance.contracts.pins import Pins
from accordance.domain.context_pack import Piece
from accordance.domain.prompting import plain
from accordance.executors.leftover import read_left
from accordance.workspace.git import Git

LARGEST_FILE: Final = 200_000  # bytes; larger ones are only named
_PINNED, _TESTS, _NAMES = 80, 50, 30  # weights: what is kept longest when room is short


def show(work: Path, change: Mapping[str, Any]) -> tuple[Piece, ...]:
    """The pieces for a task of scc.task.v1 that changes the clone in `work`. Raises GitFailed."""
    paths = tracked_files(work)
    pins = Pins.of(change["pins"]["allowed_paths"], change["pins"].get("forbidden_paths", ()))
    pinned = [path for path in paths if path in pins]
    tests = sorted(_named_by(change.get("allowedTests", ()), paths).difference(pinned))
    shown = [
        *_contents(work, pinned, "file you may change", _PINNED),
        *_contents(work, tests, "file you may not change", _TESTS),
    ]
    names = "\n".join(paths)
    return (*shown, *((Piece("the names of all files of the repository", names, _NAMES),) if names else ()))


def tracked_files(work: Path) -> list[str]:
    """Every ordinary file that is not ignored; no link is one."""
    listed = Git(work / ".git", work)("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    found = {name for name in map(os.fsdecode, listed.split(b"\0")) if name and name.isprintable()}
    return sorted(path for path in found if (work / path).is_file() and not (work / path).is_symlink())


def _named_by(commands: Iterable[str], paths: Iterable[str]) -> set[str]:
    """The files that test commands name, as a path or as a module of Python."""
    words = {word for command in commands for word in _words(command)}
    spelled = {spelling for word in words for spelling in (word, f"{word.replace('.', '/')}.py")}
    return spelled.intersection(paths)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:  # an open quote; a shell would complain, too
        return command.split()


def _contents(work: Path, paths: Iterable[str], what: str, weight: int) -> Iterator[Piece]:
    """The texts among them. A name that cannot stand in a line as it is would be misread: it is only listed."""
    for path in paths:
        raw = read_left(work, path, LARGEST_FILE + 1) if plain(path) == path else None
        if raw is None or len(raw) > LARGEST_FILE or b"\0" in raw:
            continue
        try:
            yield Piece(f"{what}: {path}", raw.decode(), weight, is_whole=True)
        except UnicodeDecodeError:
            continue  # no text
