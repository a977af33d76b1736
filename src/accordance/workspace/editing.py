"""Edits that were only said, laid into a clone: whole files, below its root, never through a link, and taken out again whole.

Whether they may be made is for the judge to say, who looks at the tree afterwards; here only what lies outside is kept safe.
Nobody else may write to the clone meanwhile.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from accordance.contracts.pins import is_gits_own, normal_path


class FileEdit(Protocol):
    """One file as it shall be; no content means that it shall be gone."""

    @property
    def path(self) -> str: ...
    @property
    def content(self) -> str | None: ...
    @property
    def executable(self) -> bool | None: ...


class Refusal(NamedTuple):
    """An edit that cannot be made, and why; `leaves` says that it would have led out of the clone."""

    path: str
    why: str
    leaves: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.why}"


class _Refused(Exception):
    """Carries a refusal out of the middle of an edit."""

    def __init__(self, why: str, *, leaves: bool = False) -> None:
        super().__init__(why)
        self.leaves = leaves


@dataclass(slots=True)
class Draft:
    """A clone with at most one set of edits in it: the next set takes the place of the last."""

    work: Path
    _files: dict[Path, tuple[bytes, int] | None] = field(
        default_factory=dict
    )  # as they were; None: not there
    _folders: list[Path] = field(default_factory=list)  # made for the edits

    def lay(self, edits: Iterable[FileEdit]) -> tuple[Refusal, ...]:
        """Lay all of them into the clone as it was at first, or none: then the answer says why."""
        self.take_out()
        refused = []
        for edit in edits:
            try:
                self._make(edit)
            except _Refused as error:
                refused.append(Refusal(edit.path, str(error), error.leaves))
        if refused:
            self.take_out()
        return tuple(refused)

    def take_out(self) -> None:
        """Leave the clone as it was at first."""
        for place, before in self._files.items():
            place.unlink(missing_ok=True)
            if before is not None:
                _write(place, *before)
        for folder in reversed(self._folders):
            folder.rmdir()
        self._files.clear()
        self._folders.clear()

    def _make(self, edit: FileEdit) -> None:
        path = normal_path(edit.path)
        if path is None or is_gits_own(path):
            raise _Refused(
                "is no path of a file below the repository's root", leaves=True
            )
        *folders, name = path.split("/")
        self._walk(folders, make=edit.content is not None)
        place = self.work.joinpath(*folders, name)
        mode = _mode_of_file(place)
        if edit.content is None and mode is None:
            raise _Refused("cannot be deleted: it is not there")
        self._files.setdefault(
            place, None if mode is None else (place.read_bytes(), mode)
        )
        place.unlink(missing_ok=True)
        if edit.content is not None:
            _write(
                place, edit.content.encode(), _mode(mode, executable=edit.executable)
            )

    def _walk(self, folders: Iterable[str], *, make: bool) -> None:
        """Go down to a file's folder, one step after the other, and make what is missing."""
        place = self.work
        for name in folders:
            place /= name
            mode = _mode_at(place)
            if mode is None and make:
                place.mkdir()
                self._folders.append(place)
            elif mode is not None and stat.S_ISLNK(mode):
                raise _Refused(
                    f"leads through a link, {place.relative_to(self.work)}", leaves=True
                )
            elif mode is not None and not stat.S_ISDIR(mode):
                raise _Refused(
                    f"{place.relative_to(self.work)} is a file, not a folder"
                )


def _mode_at(place: Path) -> int | None:
    try:
        return os.lstat(place).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:  # a name that is too long
        raise _Refused(error.strerror or str(error)) from None


def _mode_of_file(place: Path) -> int | None:
    """The mode of what is edited; None where nothing is there."""
    mode = _mode_at(place)
    if mode is not None and stat.S_ISLNK(mode):
        raise _Refused("is a link, and nothing is written through one", leaves=True)
    if mode is not None and not stat.S_ISREG(mode):
        raise _Refused("is no file")
    return mode


def _mode(before: int | None, *, executable: bool | None) -> int:
    is_executable = (
        executable if executable is not None else bool((before or 0) & 0o100)
    )
    return 0o755 if is_executable else 0o644


def _write(place: Path, content: bytes, mode: int) -> None:
    """Write a file that is not there yet."""
    with place.open("xb") as file:
        file.write(content)
    place.chmod(stat.S_IMODE(mode))
