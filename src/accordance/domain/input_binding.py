"""Decide which input file answers which requirement, by a score.

Pure: the same files and requirements always bind the same way. A file earns

- 100 for its folder: the requirement's name, or the place it was asked to be put,
- 40 for each keyword of the requirement in its name, at most 200 together,
- 10 for an allowed type,
- 10 for a source that may be the user.

It binds from 60 on. A type that is not allowed never binds. Where two requirements come
out equal a person is asked; nothing is guessed.
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
        """Its type: the last suffix, without the dot, in lower case."""
        name = self.path.rpartition("/")[2]
        if "." not in name:
            return ""
        suffix = name.rpartition(".")[2]
        return suffix.casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileNeed:
    """What a FILE requirement asks for.

    `path` is where the file was asked to be put: the file itself, or its folder.
    """

    requirement_id: str
    name: str
    allowed_types: tuple[str, ...] = ()  # none: any type
    keywords: tuple[str, ...] = ()
    source: str = "USER"
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Bindings:
    """Which file answers what, which could answer several, which answers nothing."""

    bound: tuple[tuple[InputFile, FileNeed], ...]
    ties: tuple[tuple[InputFile, tuple[FileNeed, ...]], ...]
    unbound: tuple[InputFile, ...]


def score(file: InputFile, need: FileNeed) -> int:
    """Return how well a file answers a need; 0 if its type is not allowed."""
    points = 0
    if need.allowed_types:
        allowed = {kind.lstrip(".").casefold() for kind in need.allowed_types}
        if file.kind not in allowed:
            return 0
        points += TYPE

    if _is_in_named_folder(file, need) or _is_where_asked(file, need):
        points += FOLDER
    if need.source in ("USER", "ANY"):
        points += FROM_USER

    keyword_points = KEYWORD * _keyword_hits(file, need)
    return points + min(keyword_points, KEYWORDS_AT_MOST)


def _keyword_hits(file: InputFile, need: FileNeed) -> int:
    name = file.path.rpartition("/")[2].casefold()
    hits = 0
    for keyword in need.keywords:
        if keyword and keyword.casefold() in name:
            hits += 1
    return hits


def _is_in_named_folder(file: InputFile, need: FileNeed) -> bool:
    """Whether the outermost folder of the file has the name of the requirement."""
    folder = file.path.rpartition("/")[0]
    outermost = folder.partition("/")[0]
    return outermost.casefold() == need.name.casefold()


def _is_where_asked(file: InputFile, need: FileNeed) -> bool:
    if not need.path:
        return False
    if need.path.endswith("/"):
        return file.path.startswith(need.path)
    return file.path == need.path


def bind(files: Iterable[InputFile], needs: Sequence[FileNeed]) -> Bindings:
    """Bind each file to the need it answers best."""
    bound, ties, unbound = [], [], []
    for file in files:
        best_needs = _best_needs(file, needs)
        if not best_needs:
            unbound.append(file)
        elif len(best_needs) == 1:
            bound.append((file, best_needs[0]))
        else:
            ties.append((file, tuple(best_needs)))
    return Bindings(tuple(bound), tuple(ties), tuple(unbound))


def _best_needs(file: InputFile, needs: Sequence[FileNeed]) -> list[FileNeed]:
    """Return the needs that a file answers best, if it answers any."""
    scores = [score(file, need) for need in needs]
    best = max(scores, default=0)
    if best < BINDS_FROM:
        return []
    return [need for need, points in zip(needs, scores, strict=True) if points == best]


def stale(
    bound: Iterable[InputFile], present: Iterable[InputFile]
) -> tuple[InputFile, ...]:
    """Return the evidence that no longer holds: the file has changed or has gone."""
    current_hashes = {file.path: file.sha256 for file in present}
    outdated = [file for file in bound if current_hashes.get(file.path) != file.sha256]
    return tuple(outdated)
