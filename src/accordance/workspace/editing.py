"""Edits that a model only described, applied to a clone and taken out again.

Edits are whole files below the clone's root, and nothing is written through a link.
Whether they are allowed is for the judge to decide, who looks at the tree afterwards;
here only what lies outside the clone is protected. Nothing else may write to the clone
meanwhile.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from accordance.contracts.pins import is_git_file, normal_path
from accordance.workspace.entries import is_executable, plain_mode


class FileEdit(Protocol):
    """A file as it shall be; no content means that it shall be deleted."""

    @property
    def path(self) -> str: ...
    @property
    def content(self) -> str | None: ...
    @property
    def executable(self) -> bool | None: ...


class Refusal(NamedTuple):
    """An edit that cannot be made, and why.

    `leaves` is true where the edit would have led out of the clone.
    """

    path: str
    why: str
    leaves: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


class _EditRefused(Exception):
    """Carries a refusal out of the middle of an edit."""

    def __init__(self, why: str, *, leaves: bool = False) -> None:
        super().__init__(why)
        self.leaves = leaves


class _Original(NamedTuple):
    """A file as it was before it was edited."""

    content: bytes
    mode: int


@dataclass(slots=True)
class Draft:
    """A clone with at most a single set of edits: a new set replaces the last."""

    work: Path
    _originals: dict[Path, _Original | None] = field(default_factory=dict)
    _new_folders: list[Path] = field(default_factory=list)

    def lay(self, edits: Iterable[FileEdit]) -> tuple[Refusal, ...]:
        """Apply all edits to the original clone, or none; return what was refused."""
        self.take_out()

        refusals = []
        for edit in edits:
            try:
                self._make(edit)
            except _EditRefused as error:
                refusals.append(Refusal(edit.path, str(error), error.leaves))

        if refusals:
            self.take_out()
        return tuple(refusals)

    def take_out(self) -> None:
        """Restore the clone as it was at first."""
        for place, original in self._originals.items():
            place.unlink(missing_ok=True)
            if original is not None:
                _write(place, original.content, original.mode)
        for folder in reversed(self._new_folders):
            folder.rmdir()

        self._originals.clear()
        self._new_folders.clear()

    def _make(self, edit: FileEdit) -> None:
        path = normal_path(edit.path)
        if path is None or is_git_file(path):
            raise _EditRefused(
                "is not the path of a file below the repository's root", leaves=True
            )

        *folders, name = path.split("/")
        deletes = edit.content is None
        self._walk(folders, make=not deletes)

        place = self.work.joinpath(*folders, name)
        mode = _mode_of_file(place)
        if deletes and mode is None:
            raise _EditRefused("cannot be deleted because it does not exist")

        if place not in self._originals:
            self._originals[place] = _original(place, mode)
        place.unlink(missing_ok=True)
        if edit.content is not None:
            new_mode = _new_mode(mode, executable=edit.executable)
            _write(place, edit.content.encode(), new_mode)

    def _walk(self, folders: Iterable[str], *, make: bool) -> None:
        """Go down to a file's folder step by step, creating what is missing."""
        place = self.work
        for name in folders:
            place /= name
            mode = _mode_at(place)
            if mode is None:
                if make:
                    place.mkdir()
                    self._new_folders.append(place)
                continue

            shown = place.relative_to(self.work)
            if stat.S_ISLNK(mode):
                raise _EditRefused(f"leads through a link, {shown}", leaves=True)
            if not stat.S_ISDIR(mode):
                raise _EditRefused(f"{shown} is a file, not a folder")


def _mode_at(place: Path) -> int | None:
    """Return the mode of what stands at a place; None where nothing does."""
    try:
        return os.lstat(place).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:  # such as a name that is too long
        raise _EditRefused(error.strerror or str(error)) from None


def _mode_of_file(place: Path) -> int | None:
    """Return the mode of the file to be edited; None where there is none yet."""
    mode = _mode_at(place)
    if mode is None:
        return None
    if stat.S_ISLNK(mode):
        raise _EditRefused("is a link, and links are not written through", leaves=True)
    if not stat.S_ISREG(mode):
        raise _EditRefused("is not a file")
    return mode


def _original(place: Path, mode: int | None) -> _Original | None:
    if mode is None:
        return None
    return _Original(place.read_bytes(), mode)


def _new_mode(before: int | None, *, executable: bool | None) -> int:
    """Return the mode of an edited file; it keeps its bit unless the edit sets it."""
    if executable is None:
        executable = before is not None and is_executable(before)
    return plain_mode(executable=executable)


def _write(place: Path, content: bytes, mode: int) -> None:
    """Write a file that does not exist yet."""
    with place.open("xb") as file:
        file.write(content)
    place.chmod(stat.S_IMODE(mode))
