"""Collecting every fact about an attempt, in the order that keeps them true.

Call it when the agent's processes are gone: first the tree is read, then the tests run
on a copy of what was read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from accordance.domain.facts import (
    CURRENT_FACTS,
    AttemptFacts,
    ChangeSet,
    CommandRun,
    EvidenceFacts,
    IsolationLevel,
    Snapshot,
)
from accordance.domain.findings import listed
from accordance.domain.patch import changed_lines
from accordance.domain.test_runs import missing_in_environment
from accordance.workspace.attempt_setting import AttemptSetting
from accordance.workspace.clone import Workspace
from accordance.workspace.clone import scratch as scratch_folder
from accordance.workspace.comparable import base_like, refuse_other_line_ends
from accordance.workspace.difference import difference
from accordance.workspace.errors import (
    EnvironmentBroken,
    IsolationUnavailable,
    WorkspaceChanging,
    WorkspaceError,
)
from accordance.workspace.evidence import EvidenceRequest, look_at_evidence
from accordance.workspace.ignoring import BaseRules
from accordance.workspace.isolation import Room, why_no_landlock
from accordance.workspace.laid_in import LaidIn
from accordance.workspace.leaving import tree_left
from accordance.workspace.overlay import whole_tree
from accordance.workspace.patching import ReadablePatch, readable_patch
from accordance.workspace.probing import level_for
from accordance.workspace.snapshot import SeenFiles, take_snapshot
from accordance.workspace.steering import steering_files
from accordance.workspace.test_bench import TestBench
from accordance.workspace.testing import (
    with_missing_report,
    without,
)


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
    hidden_logs: tuple[Path, ...] = ()
    """The output of hidden tests, which no agent may see."""

    @property
    def links(self) -> dict[str, str]:
        """The links of the base, by path: a changed path may lead through a link."""
        return self.before.links


def base_snapshot(workspace: Workspace) -> Snapshot:
    """Return the tree before the attempt.

    That is the fresh clone, or the base's files for work that was done elsewhere.
    """
    if workspace.pristine is not None:
        if workspace.commit:
            return base_like(workspace)
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
    needed = (request.folder, *setting.carry)
    seen: SeenFiles = {}
    # our own clone is judged while its agent still works, and read again to be landed
    must_stay = after is None and workspace.pristine is not None
    if after is None:
        setting.tell("reading the tree")
        after = tree_left(workspace, before, needed, reach=setting.reach, seen=seen)

    refuse_other_line_ends(workspace, before, after)
    began_as_our_clone = workspace.pristine is None or not workspace.commit
    changes = difference(
        before,
        after,
        evidence=request.folder,
        ignored=BaseRules(workspace, setting.carry),
        internals_known=began_as_our_clone,
    )

    setting.tell("looking at the change and the evidence")
    patch = readable_patch(workspace, changes)
    evidence = look_at_evidence(workspace, request, after, changes, patch)
    facts = _untested_facts(workspace, changes, patch, evidence)

    collected = CollectedFacts(facts, before, after, patch)
    if request.tests or setting.hidden_tests is not None:
        collected = _tested(workspace, collected, scratch, request, setting)
    if must_stay:
        now = tree_left(workspace, before, needed, reach=setting.reach, seen=seen)
        _refuse_later_writes(after, now)
    return collected


def _untested_facts(
    workspace: Workspace,
    changes: ChangeSet,
    patch: ReadablePatch,
    evidence: EvidenceFacts,
) -> AttemptFacts:
    """Return what is known before any test has run."""
    patch_text = patch.text.decode("utf-8", "replace")
    return AttemptFacts(
        workspace.commit,
        changes,
        steering=steering_files(changes),
        evidence=evidence,
        tree="" if patch.left_out else patch.tree,
        lines=changed_lines(patch_text),
        version=CURRENT_FACTS,
    )


def _refuse_later_writes(judged: Snapshot, now: Snapshot) -> None:
    """Refuse a tree that has changed since it was judged.

    Otherwise its verdict would seem to be about what lies there now. Raises
    WorkspaceChanging.
    """
    for earlier, later in (
        (judged.entries, now.entries),
        (judged.internals, now.internals),
    ):
        for path in sorted(earlier.keys() | later.keys()):
            if earlier.get(path) != later.get(path):
                raise WorkspaceChanging(
                    f"{path} was changed while the tree was judged; something still "
                    "runs there",
                    way_out="end it and judge again",
                )


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
            bench = TestBench(workspace, facts.changes, scratch, room, level, setting)
            before = without(collected.before, request.folder)
            given = bench.given_tests(before, collected.after)
            bench = replace(bench, laid_in=given)
            results = bench.run(request.tests, tree, "judged")
            results = with_missing_report(results, setting.test_reports)
            shown = bench.shown_logs(results, tree)
            base_runs = bench.base_runs(results, before, collected.after)
            hidden, hidden_logs = bench.hidden_runs(tree)
            facts = replace(
                facts,
                runs=results.runs,
                base_runs=base_runs,
                given_tests=_changed_files(given, facts.changes),
            )
            facts = bench.with_further_runs(facts, tree, before, collected.after)
    except IsolationUnavailable as error:
        untested = replace(facts, isolation_missing=str(error))
        return replace(collected, facts=untested)
    except EnvironmentBroken as error:
        untested = replace(facts, environment_broken=str(error))
        return replace(collected, facts=untested)

    facts = replace(
        facts,
        tests_changed=results.changed,
        isolation=level,
        hidden=hidden,
    )
    lacking = missing_in_environment(facts)
    if lacking:
        facts = replace(facts, environment_broken=_what_is_lacking(lacking))
    return replace(
        collected,
        facts=facts,
        logs=results.logs,
        shown=shown,
        hidden_logs=hidden_logs,
    )


def _changed_files(laid_in: Sequence[LaidIn], changes: ChangeSet) -> tuple[str, ...]:
    """The changed paths in whose place something else was laid in."""
    changed = set()
    for path in changes.paths():
        if any(ours.stands_for(path) for ours in laid_in):
            changed.add(path)
    return tuple(sorted(changed))


def _what_is_lacking(runs: Sequence[CommandRun]) -> str:
    names = dict.fromkeys(run.missing for run in runs)
    missing = listed(tuple(names))
    command = runs[0].command
    return (
        f"{missing} is not installed where tests can see it: {command};"
        " name what the tests need in [judge.environment] of the base's settings"
    )


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
    scratch: Path,
    level: IsolationLevel,
    appears_at: Path | None,
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
