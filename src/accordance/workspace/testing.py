"""The test run: every command by accordance itself, after the change, on a copy of its own, in a clean environment.

The copy holds what would be taken over: the base with the agent's changes, without what git ignores and without the agent's
git directory. A prepared cache or a patched library in an ignored folder therefore decides nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Final

from accordance.domain.facts import (
    ChangeKind,
    ChangeSet,
    CommandRun,
    EntryKind,
    IsolationLevel,
    Snapshot,
    TreeEntry,
)
from accordance.workspace.beneath import copy_below, opened
from accordance.workspace.clone import Workspace, discard, duplicate
from accordance.workspace.difference import difference
from accordance.workspace.git import Git, object_format
from accordance.workspace.isolation import CommandLimits, Room
from accordance.workspace.names import name_of
from accordance.workspace.running import run
from accordance.workspace.snapshot import take_snapshot

_MOST_NAMED: Final = 100


@dataclass(frozen=True, slots=True)
class TestRuns:
    """What the tests showed, and what they themselves changed in their copy."""

    __test__ = False  # the word means something else to pytest

    runs: tuple[CommandRun, ...]
    logs: tuple[Path, ...]
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgedTree:
    """A copy of the tree that is judged, out of everybody's reach, and what is in it."""

    place: Path
    snapshot: Snapshot


def lay_out(
    workspace: Workspace,
    after: Snapshot,
    changes: ChangeSet,
    target: Path,
    *,
    carry: Sequence[str] = (),
) -> JudgedTree:
    """Copy the tree that is judged to `target`.

    `carry` names ignored folders the tests need (node_modules). Raises WorkspaceChanging.
    """
    left_out = {
        path
        for change in changes.ignored
        for path in change.paths
        if not _below(path, carry)
    }
    left_out.update(
        changes.special,
        changes.unreadable,
        (link.path for link in changes.escaping_links),
    )
    kept = {
        path: entry for path, entry in after.entries.items() if path not in left_out
    }
    target.mkdir(parents=True)
    for path in _folders(after, kept, changes):
        (target / name_of(path)).mkdir(parents=True, exist_ok=True)
    withheld = workspace.withheld
    with (
        opened(workspace.work) as work,
        opened(withheld.place if withheld else workspace.work) as ours,
    ):
        for path, entry in kept.items():
            if entry.kind is EntryKind.SYMLINK:
                (target / name_of(path)).symlink_to(name_of(entry.target))
            elif entry.kind is EntryKind.FILE:
                is_ours = withheld is not None and withheld.entries.get(path) is entry
                copy_below(ours if is_ours else work, entry, target / name_of(path))
    if workspace.commit:
        _give_history(workspace, target)
    return JudgedTree(
        target, Snapshot({path: _as_copied(entry) for path, entry in kept.items()})
    )


def _as_copied(entry: TreeEntry) -> TreeEntry:
    """A copy is executable or not; no other bit comes along."""
    is_file = entry.kind is EntryKind.FILE
    return (
        replace(entry, mode=0o755 if entry.mode & 0o100 else 0o644)
        if is_file
        else entry
    )


def _folders(
    after: Snapshot, kept: Mapping[str, TreeEntry], changes: ChangeSet
) -> set[str]:
    """The folders of what is kept, and those that were empty all along."""
    filled = {path.rpartition("/")[0] for path in after.entries}
    new = {
        change.path for change in changes.directories if change.kind is ChangeKind.ADDED
    }
    folders = {
        path for path, entry in kept.items() if entry.kind is EntryKind.DIRECTORY
    }
    files = kept.keys() - folders
    return {path.rpartition("/")[0] for path in files} | (folders - filled - new)


def without(snapshot: Snapshot, folder: str) -> Snapshot:
    """The snapshot without one folder: evidence is no part of what is tested, nor are the folders made for it."""
    kept = {
        path: entry
        for path, entry in snapshot.entries.items()
        if not _below(path, (folder,)) and not f"{folder}/".startswith(f"{path}/")
    }
    return Snapshot(kept, snapshot.internals, snapshot.nested, snapshot.incomplete)


def run_tests(  # noqa: PLR0913 - everything about a run, by name
    commands: Sequence[str],
    judged: JudgedTree,
    room: Room,
    logs: Path,
    *,
    level: IsolationLevel,
    limits: CommandLimits | None = None,
    stop: Event | None = None,
    tell: Callable[[str], object] = str,
) -> TestRuns:
    """Run every command, one after the other, each in a room of its own with a fresh copy of `judged`.

    So no command can change what a later one sees, and one that fails does not spare the next. `judged` is used up: the
    last command gets it. Raises IsolationUnavailable.
    """
    logs.mkdir(parents=True, exist_ok=True)
    places = tuple(logs / f"{number:02}.log" for number in range(1, len(commands) + 1))
    runs: list[CommandRun] = []
    changed: set[str] = set()
    for command, place in zip(commands, places, strict=True):
        tell(f"running {command}")
        discard(room.folder)
        _furnish(room, judged.place, is_last=place is places[-1])
        room.prepare(level)
        runs.append(run(command, room, place, level=level, limits=limits, stop=stop))
        changed |= difference(judged.snapshot, take_snapshot(room.work)).paths()
    return TestRuns(tuple(runs), places, tuple(islice(sorted(changed), _MOST_NAMED)))


def _furnish(room: Room, judged: Path, *, is_last: bool) -> None:
    """Lay the judged tree into a new room."""
    room.folder.mkdir(mode=0o700, parents=True)
    if is_last:
        shutil.move(judged, room.work)
    else:
        duplicate(judged, room.work)


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(
        path == folder or path.startswith(f"{folder.rstrip('/')}/")
        for folder in folders
    )


def _give_history(workspace: Workspace, target: Path) -> None:
    """A git directory of our own making, at the base commit: for tests that ask git something."""
    git = Git(target / ".git", target)
    (target / ".git").mkdir()
    git("init", "--quiet", "--template=", object_format(workspace.commit))
    source = workspace.base.directory.resolve().as_uri()
    git(
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--update-shallow",
        source,
        workspace.commit,
    )
    git("update-ref", "HEAD", workspace.commit)
    git("read-tree", workspace.commit)
