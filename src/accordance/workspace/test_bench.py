"""Where the tests of an attempt are run: on the change, on the base, and out of sight."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from accordance.contracts.pins import Pins
from accordance.domain.facts import (
    AttemptFacts,
    ChangeSet,
    CommandRun,
    EntryKind,
    HiddenRuns,
    IsolationLevel,
    Snapshot,
)
from accordance.domain.sight import places_named
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.base_tests import base_files, base_runs, lay_out_base
from accordance.workspace.changed_python import changed_python
from accordance.workspace.clone import Workspace
from accordance.workspace.errors import (
    WorkspaceError,
)
from accordance.workspace.further_runs import (
    with_lines_reached,
    with_mutants,
    with_other_versions,
    with_reruns,
)
from accordance.workspace.isolation import Room
from accordance.workspace.laid_in import LaidIn, hidden_files
from accordance.workspace.testing import (
    TestRuns,
    lay_out,
    run_tests,
)


@dataclass(frozen=True, slots=True)
class TestBench:
    """Where the tests of an attempt are run."""

    workspace: Workspace
    changes: ChangeSet
    scratch: Path
    room: Room
    level: IsolationLevel
    setting: AttemptSetting
    laid_in: tuple[LaidIn, ...] = ()

    @property
    def is_stopped(self) -> bool:
        """Whether no further test is to be run."""
        stop = self.setting.stop
        return stop is not None and stop.is_set()

    def within(self, seconds: float) -> TestBench:
        """Return a bench whose commands may not take longer than that."""
        limits = self.setting.limits
        shorter = replace(limits, seconds=min(seconds, limits.seconds))
        return replace(self, setting=replace(self.setting, limits=shorter))

    def given_tests(self, before: Snapshot, after: Snapshot) -> tuple[LaidIn, ...]:
        """Return the tests that run as the base has them."""
        patterns = self.setting.given_tests
        if not patterns:
            return ()
        pins = Pins.of(patterns)
        place = self.scratch / "given"
        given = base_files(
            self.workspace, before, after, lambda path: path in pins, place
        )
        return (given,)

    def hidden_runs(self, tree: Snapshot) -> tuple[HiddenRuns | None, tuple[Path, ...]]:
        """Run the tests that no agent may see. Raises WorkspaceError.

        They are laid in for these runs alone: what other runs print may be shown.
        """
        request = self.setting.hidden_tests
        if request is None or self.is_stopped:
            return None, ()
        if not self.level.confines:
            raise WorkspaceError(
                "hidden tests need isolation: without it, the code that is judged "
                f"could read {request.folder}"
            )
        self.setting.tell("running the hidden tests")
        quiet = replace(self, setting=replace(self.setting, tell=str))
        hidden = hidden_files(request.folder)
        laid_in = (*self.laid_in, hidden)
        done = quiet.run(request.commands, tree, "hidden", laid_in=laid_in)
        return HiddenRuns(hidden.files, done.runs), done.logs

    def run(
        self,
        commands: Sequence[str],
        tree: Snapshot,
        name: str,
        *,
        with_history: bool = True,
        laid_in: Sequence[LaidIn] | None = None,
        only: str = "",
        traced: Collection[str] = (),
    ) -> TestRuns:
        """Run commands on a copy of a tree; `name` is that of the copy.

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
            laid_in=self.laid_in if laid_in is None else laid_in,
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
            only=only,
            report_files=setting.test_reports,
            traced=traced,
        )

    def base_runs(
        self,
        results: TestRuns,
        before: Snapshot,
        after: Snapshot,
    ) -> tuple[CommandRun, ...]:
        """Return the runs of the same commands on the base, of those with a report.

        Raises IsolationUnavailable.
        """
        setting = self.setting
        commands = [
            run.command for run in results.runs if run.report is not None or run.missing
        ]
        if self.is_stopped or not setting.compares_with_base or not commands:
            return ()

        surroundings = {
            "isolation": self.level,
            "limits": asdict(setting.limits),
            "test_reports": setting.test_reports,
        }
        known = base_runs(before, self.room, surroundings)
        cached = [known.read(command) for command in commands]
        runs = [run for run in cached if run is not None]
        unknown = [
            command
            for command, run in zip(commands, cached, strict=True)
            if run is None
        ]
        if unknown:
            self.setting.tell("running the same tests on the base")
            runs += self.run_on_base(unknown, before, after, "base").runs
            for run in runs:
                known.keep(run)
        return tuple(runs)

    def run_on_base(
        self,
        commands: Sequence[str],
        before: Snapshot,
        after: Snapshot,
        name: str,
        laid_in: Sequence[LaidIn] = (),
        only: str = "",
    ) -> TestRuns:
        """Run commands on a copy of the base; none, if its files are not at hand."""
        setting = self.setting
        place = self.scratch / name
        copy = lay_out_base(self.workspace, before, after, place, laid_in)
        if copy is None:
            return TestRuns((), ())
        return run_tests(
            commands,
            copy,
            self.room,
            self.scratch / f"{name}-runs",
            level=self.level,
            limits=setting.limits,
            stop=setting.stop,
            tell=setting.tell,
            only=only,
            report_files=setting.test_reports,
        )

    def with_further_runs(
        self,
        facts: AttemptFacts,
        tree: Snapshot,
        before: Snapshot,
        after: Snapshot,
    ) -> AttemptFacts:
        """Add what is needed to say how much the tests prove."""
        setting = self.setting
        facts = with_reruns(self, facts, setting.reruns, tree, before, after)
        facts = with_other_versions(self, facts, tree, before, after)
        if not setting.traces_lines and not setting.mutants.most:
            return facts

        changed = changed_python(self, facts, before, after)
        if setting.traces_lines:
            facts = with_lines_reached(self, facts, tree, changed)
        if setting.mutants.most:
            setting.tell("running the tests against mutants of the changed lines")
            quiet = replace(self, setting=replace(setting, tell=str))
            facts = with_mutants(quiet, facts, setting.mutants, tree, changed)
        return facts

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
        if not commands or self.is_stopped:
            return (None,) * len(results.runs)

        permitted = {
            path: entry for path, entry in tree.entries.items() if path not in forbidden
        }
        bounded = replace(tree, entries=permitted)
        laid_in = [ours.without(forbidden) for ours in self.laid_in]
        again = self.run(
            commands,
            bounded,
            "shown",
            with_history=False,
            laid_in=laid_in,
        )

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
