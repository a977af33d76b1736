"""Test runs on the base, so that a change is blamed for what it changed.

Their results are cached: the same tree, command and surroundings give the same runs.
The cache lies in the user's own cache folder, where no isolated agent can write.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from accordance import _version
from accordance.domain.facts import CommandRun, EntryKind, Snapshot, TreeEntry
from accordance.workspace.beneath import copy_below, opened
from accordance.workspace.caching import is_ours_alone, user_cache
from accordance.workspace.clone import Workspace
from accordance.workspace.entries import without_directories
from accordance.workspace.isolation import Room
from accordance.workspace.laid_in import LaidIn, with_folders
from accordance.workspace.names import name_of
from accordance.workspace.testing import JudgedTree, give_history

FROM_THE_CACHE: Final = "from the cache of base runs"
_PRIVATE: Final = 0o700


def lay_out_base(
    workspace: Workspace,
    before: Snapshot,
    after: Snapshot,
    target: Path,
    laid_in: Sequence[LaidIn] = (),
) -> JudgedTree | None:
    """Copy the base to `target`; None where its files are not at hand.

    What the agent did not touch is copied from its tree, checked by hash. The rest comes
    from the base's git directory. `laid_in` are files that stand there instead.
    """
    if workspace.pristine is None and not workspace.commit:
        return None

    whole: Mapping[str, TreeEntry] = before.entries
    for ours in laid_in:
        whole = ours.over(whole)
    of_base = {
        path: entry
        for path, entry in whole.items()
        if before.entries.get(path) is entry
    }

    target.mkdir(parents=True)
    for path, entry in whole.items():
        is_folder = entry.kind is EntryKind.DIRECTORY
        folder = path if is_folder else path.rpartition("/")[0]
        place = target / name_of(folder)
        place.mkdir(parents=True, exist_ok=True)
    copy_base_files(workspace, Snapshot(of_base), after, target)
    for ours in laid_in:
        _copy_laid_in(ours, target)
    if workspace.commit:
        give_history(workspace, target)
    return JudgedTree(target, Snapshot(whole))


def _copy_laid_in(laid_in: LaidIn, target: Path) -> None:
    with opened(laid_in.place) as root:
        for path in laid_in.files:
            copy_below(root, laid_in.entries[path], target / name_of(path))


def copy_base_files(
    workspace: Workspace,
    before: Snapshot,
    after: Snapshot,
    target: Path,
) -> None:
    """Copy files and links of the base, each from a tree that still has it.

    Their folders exist already.
    """
    withheld = workspace.withheld
    withheld_place = workspace.work if withheld is None else withheld.place
    withheld_entries = {} if withheld is None else withheld.entries
    source = workspace.pristine or workspace.work

    with opened(source) as tree, opened(withheld_place) as ours:
        for path, entry in before.entries.items():
            place = target / name_of(path)
            is_untouched = workspace.pristine or _same(after.entries.get(path), entry)
            if entry.kind is EntryKind.SYMLINK:
                place.symlink_to(name_of(entry.target))
            elif entry.kind is not EntryKind.FILE:
                continue
            elif _same(withheld_entries.get(path), entry):
                copy_below(ours, entry, place)
            elif is_untouched:
                copy_below(tree, entry, place)
            else:
                _write_from_git(workspace, entry, place)


def base_files(
    workspace: Workspace,
    before: Snapshot,
    after: Snapshot,
    is_given: Callable[[str], bool],
    place: Path,
) -> LaidIn:
    """Copy files of the base to the new folder `place`, to be laid in.

    What the agent has under such a name, and the base has not, is left out.
    """
    files = without_directories(before.entries)
    chosen = {path: entry for path, entry in files.items() if is_given(path)}
    place.mkdir(parents=True)
    for path in chosen:
        target = place / name_of(path)
        target.parent.mkdir(parents=True, exist_ok=True)
    copy_base_files(workspace, Snapshot(chosen), after, place)
    return LaidIn(place, with_folders(chosen), is_given)


def _same(after: TreeEntry | None, before: TreeEntry) -> bool:
    return after is not None and after.sha256 == before.sha256


def _write_from_git(workspace: Workspace, entry: TreeEntry, place: Path) -> None:
    name = f"{workspace.commit}:{name_of(entry.path)}"
    place.write_bytes(workspace.base("cat-file", "blob", name))
    place.chmod(0o755 if entry.mode & 0o100 else 0o644)


@dataclass(frozen=True, slots=True)
class BaseRuns:
    """The cached runs of a base tree in certain surroundings."""

    folder: Path
    key: str

    def read(self, command: str) -> CommandRun | None:
        """Return the run of a command, if it is known."""
        with contextlib.suppress(OSError, ValidationError):
            stored = self._place(command).read_bytes()
            run = _adapter().validate_json(stored)
            return replace(run, note=FROM_THE_CACHE)
        return None

    def keep(self, run: CommandRun) -> None:
        """Remember a run. A cache that cannot be written costs only time."""
        if run.report is None or not run.report.is_sound:
            return
        with contextlib.suppress(OSError):
            self._write(self._place(run.command), _adapter().dump_json(run))

    def _write(self, place: Path, content: bytes) -> None:
        self.folder.mkdir(
            mode=_PRIVATE,
            parents=True,
            exist_ok=True,
        )
        with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
            file.write(content)
        Path(file.name).replace(place)

    def _place(self, command: str) -> Path:
        digest = hashlib.sha256(f"{self.key}\n{command}".encode()).hexdigest()
        return self.folder / f"{digest}.json"


def base_runs(
    tree: Snapshot,
    room: Room,
    surroundings: Mapping[str, object],
) -> BaseRuns:
    """The cache for a tree that is tested in a room.

    A cache folder that other users can write is not used: an empty folder stands in.
    """
    entries = []
    for path, entry in sorted(tree.entries.items()):
        entries.append((path, asdict(entry)))
    about = {
        "version": _version.__version__,
        "tree": entries,
        "readable": [os.fspath(place) for place in room.readable],
        "programs": [os.fspath(place) for place in room.programs],
        "laid": {name: os.fspath(place) for name, place in room.laid.items()},
        "environment": dict(room.environment),
        **surroundings,
    }
    text = json.dumps(about, sort_keys=True, default=str)
    key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return BaseRuns(_cache_folder(), key)


def _cache_folder() -> Path:
    folder = user_cache() / "base-tests"
    return folder if is_ours_alone(folder) else Path(os.devnull) / "none"


@cache
def _adapter() -> TypeAdapter[CommandRun]:
    return TypeAdapter(CommandRun)
