"""The test run: accordance runs every command itself, on a copy, after the change.

The copy holds what would be taken over: the base with the agent's changes, without what
git ignores and without the agent's git directory. So a prepared cache or a patched
library in an ignored folder decides nothing.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Final, NamedTuple

from accordance.contracts.pins import Pins
from accordance.domain.facts import (
    ChangeKind,
    ChangeSet,
    CommandRun,
    EntryKind,
    IsolationLevel,
    Snapshot,
    TreeEntry,
)
from accordance.domain.missing_programs import missing_program
from accordance.domain.test_results import TestReport
from accordance.workspace.beneath import copy_below, opened
from accordance.workspace.clone import Workspace, discard, duplicate
from accordance.workspace.difference import difference
from accordance.workspace.entries import directories, is_executable, parents, plain_mode
from accordance.workspace.fetching import fetch
from accordance.workspace.foreign_reporting import (
    missing_report,
    report_of_run,
    silent_report,
)
from accordance.workspace.git import Git, object_format
from accordance.workspace.isolation import CommandLimits, Room
from accordance.workspace.laid_in import LaidIn
from accordance.workspace.laying import lay_folders, lay_generated
from accordance.workspace.names import lies_in, lies_in_any, name_of
from accordance.workspace.reporting import (
    lay_reporters,
    read_lines_run,
    read_report,
    watched,
    watched_command,
)
from accordance.workspace.running import run
from accordance.workspace.snapshot import take_snapshot

_MAX_NAMED: Final = 100
_END_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class TestRuns:
    """What the tests showed, and what they themselves changed in their copy."""

    __test__ = False  # the name means something else to pytest

    runs: tuple[CommandRun, ...]
    logs: tuple[Path, ...]
    changed: tuple[str, ...] = ()
    lines: tuple[Mapping[str, set[int]] | None, ...] = ()
    """Which lines each command ran of traced files; None where that is not known."""


@dataclass(frozen=True, slots=True)
class JudgedTree:
    """A copy of the judged tree that no agent can reach, and what is in it."""

    place: Path
    snapshot: Snapshot


def lay_out(
    workspace: Workspace,
    after: Snapshot,
    changes: ChangeSet,
    target: Path,
    *,
    carry: Sequence[str] = (),
    laid_in: Sequence[LaidIn] = (),
) -> JudgedTree:
    """Copy the judged tree to `target`.

    `carry` names ignored folders that the tests need, such as node_modules; `laid_in`
    are files that stand in the copy whatever the agent left there. Raises
    WorkspaceChanging.
    """
    left_out = _left_out(changes, carry)
    kept = {
        path: entry for path, entry in after.entries.items() if path not in left_out
    }
    for ours in laid_in:
        kept = ours.over(kept)

    target.mkdir(parents=True)
    for path in _folders(after, kept, changes):
        folder = target / name_of(path)
        folder.mkdir(parents=True, exist_ok=True)
    _copy_files(workspace, kept, target, laid_in)
    if workspace.commit:
        give_history(workspace, target)

    copied = {path: _as_copied(entry) for path, entry in kept.items()}
    return JudgedTree(target, Snapshot(copied))


def _left_out(changes: ChangeSet, carry: Sequence[str]) -> set[str]:
    """Return the paths that are not copied: ignored, no ordinary files, or escaping."""
    left_out = {*changes.special, *changes.unreadable}
    for link in changes.escaping_links:
        left_out.add(link.path)
    for change in changes.ignored:
        for path in change.paths:
            if not lies_in_any(path, carry):
                left_out.add(path)
    return left_out


def _copy_files(
    workspace: Workspace,
    entries: Mapping[str, TreeEntry],
    target: Path,
    laid_in: Sequence[LaidIn],
) -> None:
    """Copy files and links, each from the tree that holds it. Raises WorkspaceChanging.

    What was withheld from the agent, and what is laid in, lies in folders of ours.
    """
    sources = [(ours.place, ours.entries) for ours in reversed(laid_in)]
    if workspace.withheld is not None:
        sources.append((workspace.withheld.place, workspace.withheld.entries))

    with ExitStack() as stack:
        work = stack.enter_context(opened(workspace.work))
        ours = []
        for place, known in sources:
            root = stack.enter_context(opened(place))
            ours.append((root, known))

        for path, entry in entries.items():
            target_place = target / name_of(path)
            if entry.kind is EntryKind.SYMLINK:
                target_place.symlink_to(name_of(entry.target))
            elif entry.kind is EntryKind.FILE:
                holders = (root for root, known in ours if known.get(path) is entry)
                copy_below(next(holders, work), entry, target_place)


def _as_copied(entry: TreeEntry) -> TreeEntry:
    """Describe the copy of an entry: executable or not, with no other bit."""
    if entry.kind is not EntryKind.FILE:
        return entry
    mode = plain_mode(executable=is_executable(entry.mode))
    return replace(entry, mode=mode)


def _folders(
    after: Snapshot,
    kept: Mapping[str, TreeEntry],
    changes: ChangeSet,
) -> set[str]:
    """Return the folders of what is kept, and those that were empty all along."""
    folders = directories(kept).keys()
    files = kept.keys() - folders
    always_empty = folders - parents(after.entries)
    for change in changes.directories:
        if change.kind is ChangeKind.ADDED:
            always_empty.discard(change.path)
    return parents(files) | always_empty


def without(snapshot: Snapshot, folder: str) -> Snapshot:
    """Return the snapshot without a folder, and without the folders made for it.

    Evidence is no part of what is tested.
    """
    kept = {}
    for path, entry in snapshot.entries.items():
        leads_to_folder = f"{folder}/".startswith(f"{path}/")
        if not leads_to_folder and not lies_in(path, folder):
            kept[path] = entry
    return replace(snapshot, entries=kept)


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
    only: str = "",
    traced: Collection[str] = (),
    report_files: Sequence[str] = (),
) -> TestRuns:
    """Run every command in turn, each in a new room with a fresh copy of `judged`.

    So no command can change what a later command sees, and a failure does not spare the
    next. `judged` is used up: the last command gets it. `only` is the id of a test to be
    run alone, `traced` are the files whose lines are watched, `report_files` patterns of
    files in which commands leave reports of their own. Raises IsolationUnavailable.
    """
    logs.mkdir(parents=True, exist_ok=True)
    bench = _CommandBench(
        room=room,
        level=level,
        limits=limits,
        stop=stop,
        only=only,
        traced=traced,
        report_files=Pins.of(report_files),
    )
    done = []
    for number, command in enumerate(commands, 1):
        tell(f"running {command}")
        log = logs / f"{number:02}.log"
        is_last = number == len(commands)
        done.append(bench.run_command(command, judged, log, is_last=is_last))

    changed: set[str] = set()
    for ran in done:
        changed |= ran.new_files
    return TestRuns(
        runs=tuple(ran.result for ran in done),
        logs=tuple(ran.log for ran in done),
        changed=tuple(sorted(changed)[:_MAX_NAMED]),
        lines=tuple(ran.lines for ran in done) if traced else (),
    )


class _RanCommand(NamedTuple):
    """A command that has run, and what it left."""

    result: CommandRun
    log: Path
    new_files: frozenset[str]
    lines: Mapping[str, set[int]] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _CommandBench:
    """Runs commands in turn, each in a room furnished anew."""

    room: Room
    level: IsolationLevel
    limits: CommandLimits | None
    stop: Event | None
    only: str
    traced: Collection[str]
    report_files: Pins

    def run_command(
        self,
        command: str,
        judged: JudgedTree,
        log: Path,
        *,
        is_last: bool,
    ) -> _RanCommand:
        """Run a command on a copy of the judged tree; the last gets the tree itself."""
        discard(self.room.folder)
        _furnish(self.room, judged.place, is_last=is_last)
        lay_folders(self.room, self.level)
        generated = lay_generated(self.room)
        lay_reporters(self.room, self.level, self.traced)
        room = watched(self.room, self.only)
        room.prepare(self.level)

        result = run(
            watched_command(command, self.room, self.only),
            room,
            log,
            level=self.level,
            limits=self.limits,
            stop=self.stop,
        )
        new_files = self._new_files(judged, generated)
        report = self._report(command, room, log, result, new_files)
        missing = ""
        if report is None:
            missing = _missing_in(result.exit_code, command, log)
        reported = replace(
            result,
            command=command,
            report=report,
            missing=missing,
        )
        lines = read_lines_run(room) if self.traced else None
        return _RanCommand(reported, log, new_files, lines)

    def _new_files(
        self,
        judged: JudgedTree,
        generated: frozenset[str],
    ) -> frozenset[str]:
        """Return what a command has changed in its copy, and was not laid by us."""
        now = take_snapshot(self.room.work)
        changed = difference(judged.snapshot, now).paths()
        ours = (*self.room.laid, *generated)
        return frozenset(path for path in changed if not lies_in_any(path, ours))

    def _report(
        self,
        command: str,
        room: Room,
        log: Path,
        result: CommandRun,
        new_files: frozenset[str],
    ) -> TestReport | None:
        """Return the report of our reporter, else of the command itself."""
        report = read_report(room)
        if report is None:
            written = sorted(path for path in new_files if path in self.report_files)
            report = report_of_run(command, log, room, self.level, written)
        if report is None and result.passed:
            return silent_report(command)
        return report


def with_missing_report(results: TestRuns, files: Sequence[str]) -> TestRuns:
    """Where reports are to be written, and no command has left any, each lacks it."""
    has_report = any(run.report is not None for run in results.runs)
    if has_report or not files:
        return results
    missing = missing_report(files)
    runs = [replace(run, report=missing) for run in results.runs]
    return replace(results, runs=tuple(runs))


def _missing_in(exit_code: int, command: str, log: Path) -> str:
    """Return what a command lacked, by the end of its output."""
    if not exit_code or not log.exists():
        return ""
    with log.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _END_BYTES))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return missing_program(command, exit_code, lines)


def _furnish(room: Room, judged: Path, *, is_last: bool) -> None:
    """Put the judged tree into a new room."""
    room.folder.mkdir(mode=0o700, parents=True)
    if is_last:
        shutil.move(judged, room.work)
    else:
        duplicate(judged, room.work)


def give_history(workspace: Workspace, target: Path) -> None:
    """Give the copy a git directory of our own, for tests that ask git something."""
    directory = target / ".git"
    directory.mkdir()
    git = Git(directory, target)
    git("init", "--quiet", "--template=", object_format(workspace.commit))

    fetch(git, workspace.base.directory, workspace.commit, "--update-shallow")
    git("update-ref", "HEAD", workspace.commit)
    git("read-tree", workspace.commit)
