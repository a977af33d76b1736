"""A patch of ours, file by file and line by line, with the numbers of its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accordance.domain.patch import parts_of, read_patch

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_BINARY: Final = ("Binary files ", "GIT binary patch")


@dataclass(frozen=True, slots=True)
class PatchLine:
    """A line of a patch. `kind` is its sign; `@` is the head of a hunk."""

    kind: str
    text: str
    old: int = 0  # its number in the old version; 0: it has none
    new: int = 0


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The part of a patch that is about a file."""

    path: str
    old_path: str | None
    is_binary: bool
    lines: tuple[PatchLine, ...]

    @property
    def added(self) -> int:
        """How many lines are new."""
        return sum(line.kind == "+" for line in self.lines)

    @property
    def removed(self) -> int:
        """How many lines are gone."""
        return sum(line.kind == "-" for line in self.lines)


def files_in(patch: str) -> tuple[FilePatch, ...]:
    """Return the files of a patch. A part that names no file is left out."""
    return tuple(file for part in parts_of(patch) if (file := _file_in(part)))


def _file_in(part: str) -> FilePatch | None:
    touched = read_patch(part).touched
    if not touched:
        return None
    header, *_ = part.split("\n@@ ", 1)
    path, old_path = _ends(header, touched)
    is_binary = any(line.startswith(_BINARY) for line in header.split("\n"))
    return FilePatch(path, old_path, is_binary, tuple(_lines(part)))


def _ends(header: str, touched: tuple[str, ...]) -> tuple[str, str | None]:
    """Return the path of a file now, and before it was renamed."""
    if len(touched) == 1:
        return touched[0], None
    renamed_from = [
        line.removeprefix("rename from ").strip('"')
        for line in header.split("\n")
        if line.startswith("rename from ")
    ]
    first, last = touched[0], touched[-1]
    return (last, first) if first in renamed_from else (first, last)


def _lines(part: str) -> Iterator[PatchLine]:
    """Yield the lines of all hunks, which are counted off."""
    old = new = old_left = new_left = 0
    for line in part.removesuffix("\n").split("\n"):
        if old_left <= 0 and new_left <= 0:
            hunk = _HUNK.match(line)
            if hunk is not None:
                old, new = int(hunk[1]), int(hunk[3])
                old_left, new_left = int(hunk[2] or 1), int(hunk[4] or 1)
                yield PatchLine("@", line)
            elif line.startswith("\\"):
                yield PatchLine("\\", line)
            continue
        kind = line[:1] or " "
        text = line[1:]
        if kind == "\\":
            yield PatchLine(kind, line)
            continue
        in_old, in_new = kind != "+", kind != "-"
        yield PatchLine(kind, text, old if in_old else 0, new if in_new else 0)
        old, old_left = old + in_old, old_left - in_old
        new, new_left = new + in_new, new_left - in_new
