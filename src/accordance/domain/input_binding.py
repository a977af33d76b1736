"""Which input file answers which requirement. A score rule, pure: the same files and requirements bind the same way.

A file counts for a requirement by its folder (the requirement's name, or the place it was asked to be put, +100), by each of the requirement's keywords in its
name (+40, at most +200 together), by an allowed type (+10) and by a source that may be the user (+10). It binds from 60 on.
A type that is not allowed never binds. Where two requirements come out equal a person is asked, nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

FOLDER: Final = 100
KEYWORD: Final = 40
KEYWORDS_AT_MOST: Final = 200
TYPE: Final = 10
FROM_USER: Final = 10
BINDS_FROM: Final = 60


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file under workspace/inputs/, by its path below that folder and its content."""

    path: str
    sha256: str

    @property
    def kind(self) -> str:
        """Its type: the last suffix, without the dot, in small letters."""
        return (
            self.path.rpartition("/")[2].rpartition(".")[2].casefold()
            if "." in self.path.rpartition("/")[2]
            else ""
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNeed:
    """What a FILE requirement asks for."""

    requirement_id: str
    name: str
    allowed_types: tuple[str, ...] = ()  # none: any type
    keywords: tuple[str, ...] = ()
    source: str = "USER"
    path: str | None = (
        None  # where it was asked to be put: the file itself, or its folder
    )


@dataclass(frozen=True, slots=True)
class Bindings:
    """What was decided: which file answers what, which could answer several, which answers nothing."""

    bound: tuple[tuple[InputFile, FileNeed], ...]
    ties: tuple[tuple[InputFile, tuple[FileNeed, ...]], ...]
    unbound: tuple[InputFile, ...]


def score(file: InputFile, need: FileNeed) -> int:
    """How well a file answers a need. 0 if its type is not allowed."""
    if need.allowed_types and file.kind not in {
        kind.lstrip(".").casefold() for kind in need.allowed_types
    }:
        return 0
    folder, _, name = file.path.rpartition("/")
    hits = sum(
        1
        for keyword in need.keywords
        if keyword and keyword.casefold() in name.casefold()
    )
    in_its_folder = folder.partition("/")[
        0
    ].casefold() == need.name.casefold() or _is_where_asked(file, need)
    return (
        FOLDER * in_its_folder
        + min(KEYWORD * hits, KEYWORDS_AT_MOST)
        + TYPE * bool(need.allowed_types)
        + FROM_USER * (need.source in ("USER", "ANY"))
    )


def _is_where_asked(file: InputFile, need: FileNeed) -> bool:
    if not need.path:
        return False
    return file.path == need.path or (
        need.path.endswith("/") and file.path.startswith(need.path)
    )


def bind(files: Iterable[InputFile], needs: Sequence[FileNeed]) -> Bindings:
    """Bind each file to the need it answers best."""
    bound, ties, unbound = [], [], []
    for file in files:
        scored = [
            (points, need)
            for need in needs
            if (points := score(file, need)) >= BINDS_FROM
        ]
        best = max((points for points, _ in scored), default=0)
        leading = tuple(need for points, need in scored if points == best)
        if not leading:
            unbound.append(file)
        elif len(leading) == 1:
            bound.append((file, leading[0]))
        else:
            ties.append((file, leading))
    return Bindings(tuple(bound), tuple(ties), tuple(unbound))


def stale(
    bound: Iterable[InputFile], present: Iterable[InputFile]
) -> tuple[InputFile, ...]:
    """Evidence that no longer holds: the file has changed or has gone."""
    now = {file.path: file.sha256 for file in present}
    return tuple(file for file in bound if now.get(file.path) != file.sha256)
