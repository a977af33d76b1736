"""Collecting every fact about an attempt, in the order that keeps them true.

Call it when the agent's processes are gone: first the tree is read, then the tests run
on a copy of what was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Event

from accordance.domain.facts import (
    WITH_TEST_REPORTS,
    AttemptFacts,
    ChangeSet,
    CommandRun,
    EntryKind,
    IsolationLevel,
    Snapshot,
)
from accordance.domain.findings import listed
from accordance.domain.patch import changed_lines
from accordance.domain.sight import places_named
from accordance.domain.test_runs import missing_in_environment
from accordance.workspace.base_tests import base_runs, lay_out_base
from accordance.workspace.clone import Workspace
from accordance.workspace.clone import scratch as scratch_folder
from accordance.workspace.difference import difference
from accordance.workspace.environments import TestEnvironment
from accordance.workspace.errors import (
    EnvironmentBroken,
    IsolationUnavailable,
    WorkspaceError,
)
from accordance.workspace.evidence import EvidenceRequest, look_at_evidence
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.isolation import CommandLimits, Room, why_no_landlock
from accordance.workspace.overlay import whole_tree
from accordance.workspace.patching import ReadablePatch, readable_patch
from accordance.workspace.probing import AUTO, level_for
from accordance.workspace.snapshot import WalkLimits, take_snapshot
from accordance.workspace.steering import steering_files
from accordance.workspace.testing import TestRuns, lay_out, run_tests, without


@dataclass(frozen=True, slots=True)
class AttemptSetting:
    """How facts are collected: how far the walk goes, and how tests are run."""

    isolation: str = AUTO
    limits: CommandLimits = field(default_factory=CommandLimits)
    readable: tuple[Path, ...] = ()
    """Folders that the tests need, read-only."""
    carry: tuple[str, ...] = ()
    """Ignored folders of the workspace that the tests need."""
    appears_at: Path | None = None
    """Where the tests see their copy, for isolation that can move it."""
    environment: TestEnvironment = field(default_factory=TestEnvironment)
    reach: WalkLimits = field(default_factory=WalkLimits)
    compares_with_base: bool = True
    """Whether the tests run on the base, too."""
    forbids: Callable[[str], bool] | None = None
    """Paths whose content an agent must not see in the output of tests."""
    stop: Event | None = None
    """Once it is set, tests are ended."""
    tell: Callable[[str], object] = str
    """Called with what is being done."""


@dataclass(frozen=True, slots=True)
class CollectedFacts:
    """The facts, and what they were made from."""

    facts: AttemptFacts
    before: Snapshot
    after: Snapshot
    patch: ReadablePatch
    logs: tuple[Path, ...] = ()
    shown: tuple[Path | None, ...] = ()
    """What an agent may see of each log; None where it may see nothing."""

    @property
    def links(self) -> dict[str, str]:
        """The links of the base, by path: a changed path may lead through a link."""
        return self.before.links


def base_snapshot(workspace: Workspace) -> Snapshot:
    """Return the tree before the attempt.

    That is the fresh clone, or the base's files for work that was done elsewhere.
    """
    if workspace.pristine is not None:
        return take_snapshot(workspace.pristine)
    return whole_tree(workspace)


def collect(
    workspace: Workspace,
    before: Snapshot,
    scratch: Path,
    request: EvidenceRequest,
    setting: AttemptSetting | None = None,
    *,
    after: Snapshot | None = None,
) -> CollectedFacts:
    """Find out what changed, look at the evidence, and run the tests.

    `scratch` is a new folder that the agent cannot reach. `after` is the tree as the
    agent left it, if it has been read already, after the agent's processes were gone.

    Side effects: writes below `scratch` and, for the patch, in the workspace's private
    git directory; runs the tests.
    """
    setting = setting or AttemptSetting()
    if after is None:
        setting.tell("reading the tree")
        after = whole_tree(workspace, reach=setting.reach)

    began_as_our_clone = workspace.pristine is None or not workspace.commit
    changes = difference(
        before,
        after,
        evidence=request.folder,
        ignored=BaseRules(workspace),
        internals_known=began_as_our_clone,
    )

    setting.tell("looking at the change and the evidence")
    patch = readable_patch(workspace, changes)
    evidence = look_at_evidence(workspace, request, after, changes, patch)
    patch_text = patch.text.decode("utf-8", "replace")
    facts = AttemptFacts(
        workspace.commit,
        changes,
        steering=steering_files(changes),
        evidence=evidence,
        tree="" if patch.left_out else patch.tree,
        lines=changed_lines(patch_text),
        version=WITH_TEST_REPORTS,
    )

    collected = CollectedFacts(facts, before, after, patch)
    if not request.tests:
        return collected
    return _tested(workspace, collected, scratch, request, setting)


def _tested(
    workspace: Workspace,
    collected: CollectedFacts,
    scratch: Path,
    request: EvidenceRequest,
    setting: AttemptSetting,
) -> CollectedFacts:
    """Run the tests on a copy of what was read, and add what they showed."""
    facts = collected.facts
    tree = without(collected.after, request.folder)

    try:
        level = level_for(setting.isolation)
        _check_environment(setting)
        _refuse_escaping_folders(setting.readable, workspace.work)
        setting.tell(f"copying the tree for tests, isolated by {level}")
        with _place_for_rooms(scratch, level, setting.appears_at) as place:
            bare_room = Room(place / "room", setting.appears_at, setting.readable)
            room = setting.environment.furnished(bare_room, level)
            bench = _Bench(workspace, facts.changes, scratch, room, level, setting)
            results = bench.run(request.tests, tree, "judged")
            shown = bench.shown_logs(results, tree)
            before = without(collected.before, request.folder)
            base_runs = bench.base_runs(results, before, collected.after)
    except IsolationUnavailable as error:
        untested = replace(facts, isolation_missing=str(error))
        return replace(collected, facts=untested)
    except EnvironmentBroken as error:
        untested = replace(facts, environment_broken=str(error))
        return replace(collected, facts=untested)

    facts = replace(
        facts,
        runs=results.runs,
        tests_changed=results.changed,
        isolation=level,
        base_runs=base_runs,
    )
    lacking = missing_in_environment(facts)
    if lacking:
        facts = replace(facts, environment_broken=_what_is_lacking(lacking))
    return replace(collected, facts=facts, logs=results.logs, shown=shown)


def _what_is_lacking(runs: Sequence[CommandRun]) -> str:
    missing = listed(tuple(dict.fromkeys(run.missing for run in runs)))
    command = runs[0].command
    return (
        f"{missing} is not installed where tests can see it: {command};"
        " name what the tests need in [judge.environment] of the base's settings"
    )


@dataclass(frozen=True, slots=True)
class _Bench:
    """Where the tests of an attempt are run."""

    workspace: Workspace
    changes: ChangeSet
    scratch: Path
    room: Room
    level: IsolationLevel
    setting: AttemptSetting

    def run(
        self,
        commands: Sequence[str],
        tree: Snapshot,
        name: str,
        *,
        with_history: bool = True,
    ) -> TestRuns:
        """Run commands on a copy of a tree; `name` tells one copy from another.

        Raises IsolationUnavailable.
        """
        workspace = self.workspace
        if not with_history:
            workspace = replace(workspace, commit="")

        setting = self.setting
        copy = lay_out(
            workspace,
            tree,
            self.changes,
            self.scratch / name,
            carry=setting.carry,
        )
        return run_tests(
            commands,
            copy,
            self.room,
            self.scratch / f"{name}-runs",
            level=self.level,
            limits=setting.limits,
            stop=setting.stop,
            tell=setting.tell,
        )

    def base_runs(
        self, results: TestRuns, before: Snapshot, after: Snapshot
    ) -> tuple[CommandRun, ...]:
        """Return the runs of the same commands on the base, of those with a report.

        Raises IsolationUnavailable.
        """
        setting = self.setting
        is_stopped = setting.stop is not None and setting.stop.is_set()
        commands = [
            run.command for run in results.runs if run.report is not None or run.missing
        ]
        if is_stopped or not setting.compares_with_base or not commands:
            return ()

        surroundings = {"isolation": self.level, "limits": asdict(setting.limits)}
        known = base_runs(before, self.room, surroundings)
        cached = [known.read(command) for command in commands]
        runs = [run for run in cached if run is not None]
        unknown = [
            command
            for command, run in zip(commands, cached, strict=True)
            if run is None
        ]
        if unknown:
            runs += self._run_on_base(unknown, before, after)
            for run in runs:
                known.keep(run)
        return tuple(runs)

    def _run_on_base(
        self, commands: Sequence[str], before: Snapshot, after: Snapshot
    ) -> tuple[CommandRun, ...]:
        setting = self.setting
        setting.tell("running the same tests on the base")
        place = self.scratch / "base"
        copy = lay_out_base(self.workspace, before, after, place)
        if copy is None:
            return ()
        done = run_tests(
            commands,
            copy,
            self.room,
            self.scratch / "base-runs",
            level=self.level,
            limits=setting.limits,
            stop=setting.stop,
            tell=setting.tell,
        )
        return done.runs

    def shown_logs(self, results: TestRuns, tree: Snapshot) -> tuple[Path | None, ...]:
        """Return what the agent may see of each test's output.

        Tests ran beside files that are forbidden to the agent, and could print them. So
        where there are any, a failed test is run again without them, and the agent sees
        what it prints then. The output of a test that needs them is not shown at all.
        """
        forbidden = self._forbidden_paths()
        if not forbidden:
            return results.logs

        commands = _failed_without(results, forbidden)
        stop = self.setting.stop
        is_stopped = stop is not None and stop.is_set()
        if not commands or is_stopped:
            return (None,) * len(results.runs)

        permitted = {
            path: entry for path, entry in tree.entries.items() if path not in forbidden
        }
        bounded = replace(tree, entries=permitted)
        again = self.run(commands, bounded, "shown", with_history=False)

        logs = {}
        for run, log in zip(again.runs, again.logs, strict=True):
            if not run.passed:
                logs[run.command] = log
        return tuple(logs.get(run.command) for run in results.runs)

    def _forbidden_paths(self) -> frozenset[str]:
        """Return the files that were withheld because they are forbidden."""
        forbids = self.setting.forbids
        withheld = self.workspace.withheld
        if forbids is None or withheld is None:
            return frozenset()

        forbidden = set()
        for path, entry in withheld.entries.items():
            if entry.kind is not EntryKind.DIRECTORY and forbids(path):
                forbidden.add(path)
        return frozenset(forbidden)


def _failed_without(results: TestRuns, forbidden: frozenset[str]) -> list[str]:
    """Return the failed commands that name no forbidden path."""
    commands = []
    for run in results.runs:
        if run.passed:
            continue
        named = places_named(run.command, forbidden)
        if forbidden.isdisjoint(named):
            commands.append(run.command)
    return commands


def _check_environment(setting: AttemptSetting) -> None:
    """Raise EnvironmentBroken where something is missing that tests need."""
    if setting.environment.broken:
        raise EnvironmentBroken(setting.environment.broken)
    for place in setting.readable:
        if not place.exists():
            raise EnvironmentBroken(
                f"tests may read {place} by [judge] readable, and it does not exist",
                way_out="create it, or take it out of the settings",
            )


def _refuse_escaping_folders(readable: Sequence[Path], work: Path) -> None:
    """Refuse a readable folder of the judged tree that is reached through a link.

    The agent could have made that link, and anything could lie behind it.
    """
    root = os.path.realpath(work)
    for place in readable:
        named = os.path.abspath(place)  # noqa: PTH100 - as it is written
        is_in_tree = named.startswith(f"{root}/")
        if is_in_tree and os.path.realpath(named) != named:
            raise WorkspaceError(
                f"tests may not read {place}: it leads elsewhere by a link in the tree "
                "that is judged; name the folder itself"
            )


@contextmanager
def _place_for_rooms(
    scratch: Path, level: IsolationLevel, appears_at: Path | None
) -> Iterator[Path]:
    """Yield a folder for the rooms of tests.

    That is the scratch folder, unless the user that the commands run as could not get
    there, or the tests' copy would cover it: then it is a folder of its own, which
    everybody can pass.
    """
    is_covered = appears_at is not None and scratch.resolve().is_relative_to(appears_at)
    if not is_covered and not why_no_landlock(Room(scratch / "room"), level):
        yield scratch
        return

    with scratch_folder() as passable:
        passable.chmod(0o711)
        yield passable
