"""Collecting every fact about one attempt, in the order that keeps them true.

Call it when the agent's processes are gone: first the tree is read, then the tests run on a copy of what was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from accordance.domain.facts import (
    AttemptFacts,
    ChangeSet,
    EntryKind,
    IsolationLevel,
    Snapshot,
)
from accordance.domain.patch import changed_lines
from accordance.domain.sight import places_named
from accordance.workspace.clone import Workspace
from accordance.workspace.clone import scratch as scratch_folder
from accordance.workspace.difference import difference
from accordance.workspace.errors import IsolationUnavailable, WorkspaceError
from accordance.workspace.evidence import EvidenceRequest, look_at_evidence
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.isolation import CommandLimits, Room, why_no_landlock
from accordance.workspace.overlay import whole_tree
from accordance.workspace.patching import ReadablePatch, readable_patch
from accordance.workspace.probing import AUTO, level_for
from accordance.workspace.snapshot import StatCache, WalkLimits, take_snapshot
from accordance.workspace.steering import steering_files
from accordance.workspace.testing import TestRuns, lay_out, run_tests, without


@dataclass(frozen=True, slots=True)
class AttemptSetting:
    """How facts are collected: how far the walk goes, and how tests are run."""

    isolation: str = AUTO
    limits: CommandLimits = field(default_factory=CommandLimits)
    readable: tuple[Path, ...] = ()  # folders the tests need, read only
    carry: tuple[str, ...] = ()  # ignored folders of the workspace the tests need
    appears_at: Path | None = (
        None  # where the copy shows itself to the tests, for isolation that can move it
    )
    environment: Mapping[str, str] = field(default_factory=dict)
    reach: WalkLimits = field(default_factory=WalkLimits)
    cache: StatCache | None = None
    forbids: Callable[[str], bool] | None = (
        None  # an agent is shown what tests print, and never these paths
    )
    stop: Event | None = None  # once it is set, tests are ended
    tell: Callable[[str], object] = str  # is told what is being done


@dataclass(frozen=True, slots=True)
class CollectedFacts:
    """The facts, and what they were made from."""

    facts: AttemptFacts
    before: Snapshot
    after: Snapshot
    patch: ReadablePatch
    logs: tuple[Path, ...] = ()
    shown: tuple[
        Path | None, ...
    ] = ()  # what an agent may see of each; None where nothing may be shown

    @property
    def links(self) -> dict[str, str]:
        """The links that stood in the base, by path: a changed path may run through one."""
        return self.before.links


def base_snapshot(workspace: Workspace, cache: StatCache | None = None) -> Snapshot:
    """The tree before the attempt: of the fresh clone, or of the base's files for work that was done elsewhere."""
    if workspace.pristine is not None:
        return take_snapshot(workspace.pristine, cache=cache)
    return whole_tree(workspace, cache=cache)


def collect(
    workspace: Workspace,
    before: Snapshot,
    scratch: Path,
    said: EvidenceRequest,
    setting: AttemptSetting | None = None,
    *,
    after: Snapshot | None = None,
) -> CollectedFacts:
    """Find out what changed, look at the evidence, run the tests. `scratch` is a new folder the agent cannot reach.

    `after` is the tree as the agent left it, where it was read already, when the agent's processes were gone.

    Side effects: writes below `scratch` and, for the patch, in the workspace's private git directory; runs the tests.
    """
    setting = setting or AttemptSetting()
    if after is None:
        setting.tell("reading the tree")
        after = whole_tree(workspace, cache=setting.cache, reach=setting.reach)
    began_here = workspace.pristine is None or not workspace.commit
    changes = difference(
        before,
        after,
        evidence=said.folder,
        ignored=BaseRules(workspace),
        internals_known=began_here,
    )
    setting.tell("looking at the change and the evidence")
    patch = readable_patch(workspace, changes)
    facts = AttemptFacts(
        workspace.commit,
        changes,
        steering=steering_files(changes),
        evidence=look_at_evidence(workspace, said, after, changes, patch),
        tree="" if patch.left_out else patch.tree,
        lines=changed_lines(patch.text.decode("utf-8", "replace")),
    )
    collected = CollectedFacts(facts, before, after, patch)
    return (
        _tested(workspace, collected, scratch, said, setting)
        if said.tests
        else collected
    )


def _tested(
    workspace: Workspace,
    collected: CollectedFacts,
    scratch: Path,
    said: EvidenceRequest,
    setting: AttemptSetting,
) -> CollectedFacts:
    """Run the tests on a copy of what was read."""
    facts = collected.facts
    try:
        level = level_for(setting.isolation)
        _must_lead_nowhere_else(setting.readable, workspace.work)
        setting.tell(f"copying the tree for tests, isolated by {level}")
        tree = without(collected.after, said.folder)
        with _place_for_rooms(scratch, level) as place:
            room = Room(
                place / "room",
                setting.appears_at,
                setting.readable,
                setting.environment,
            )
            bench = _Bench(workspace, facts.changes, scratch, room, level, setting)
            done = bench.run(said.tests, tree, "judged")
            shown = bench.shown(done, tree)
    except IsolationUnavailable as error:
        return replace(collected, facts=replace(facts, isolation_missing=str(error)))
    facts = replace(facts, runs=done.runs, tests_changed=done.changed, isolation=level)
    return replace(collected, facts=facts, logs=done.logs, shown=shown)


@dataclass(frozen=True, slots=True)
class _Bench:
    """Where the tests of one attempt are run."""

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
        """Run commands on a copy of a tree, which is called by a name. Raises IsolationUnavailable."""
        workspace = (
            self.workspace if with_history else replace(self.workspace, commit="")
        )
        copy = lay_out(
            workspace, tree, self.changes, self.scratch / name, carry=self.setting.carry
        )
        return run_tests(
            commands,
            copy,
            self.room,
            self.scratch / f"{name}-runs",
            level=self.level,
            limits=self.setting.limits,
            stop=self.setting.stop,
            tell=self.setting.tell,
        )

    def shown(self, done: TestRuns, tree: Snapshot) -> tuple[Path | None, ...]:
        """What the agent may see of each test's output.

        Tests ran beside files that are forbidden to the agent, and could print them. So where there are any, a test that
        failed is run again without them, and what it prints then is shown. A test that needs them is not shown at all.
        """
        forbidden = self._forbidden()
        if not forbidden:
            return done.logs
        bounded = replace(
            tree,
            entries={
                path: tree.entries[path]
                for path in tree.entries
                if path not in forbidden
            },
        )
        failed = [run.command for run in done.runs if not run.passed]
        able = [
            command
            for command in failed
            if not forbidden & places_named(command, forbidden)
        ]
        is_over = self.setting.stop is not None and self.setting.stop.is_set()
        if not able or is_over:
            return (None,) * len(done.runs)
        again = self.run(able, bounded, "shown", with_history=False)
        logs = {
            run.command: log
            for run, log in zip(again.runs, again.logs, strict=True)
            if not run.passed
        }
        return tuple(logs.get(run.command) for run in done.runs)

    def _forbidden(self) -> frozenset[str]:
        """What was withheld because it is forbidden."""
        forbids, withheld = self.setting.forbids, self.workspace.withheld
        if forbids is None or withheld is None:
            return frozenset()
        files = (
            path
            for path, entry in withheld.entries.items()
            if entry.kind is not EntryKind.DIRECTORY
        )
        return frozenset(path for path in files if forbids(path))


def _must_lead_nowhere_else(readable: Sequence[Path], work: Path) -> None:
    """A folder of the judged tree that tests may read is one: behind a link of the agent's anything could lie."""
    for place in readable:
        named, root = os.path.abspath(place), os.path.realpath(work)  # noqa: PTH100 - as it is written
        if named.startswith(f"{root}/") and os.path.realpath(named) != named:
            raise WorkspaceError(
                f"{place} leads out of its place by a link in the tree that is judged, so tests may not read it; "
                "name the folder itself"
            )


@contextmanager
def _place_for_rooms(scratch: Path, level: IsolationLevel) -> Iterator[Path]:
    """Beside the copy, unless whoever the commands become could not get there: then a passable folder of its own."""
    if not why_no_landlock(Room(scratch / "room"), level):
        yield scratch
        return
    with scratch_folder() as passable:
        passable.chmod(0o711)
        yield passable
