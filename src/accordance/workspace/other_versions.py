"""Test files in another version than the source: old tests on new source, and back.

A test that was changed to pass is seen by its old version, a new test that proves
nothing by the old source.
"""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.facts import (
    AttemptFacts,
    ChangeSet,
    Ending,
    LoosenedTest,
    OtherVersionRuns,
    Snapshot,
    TreeEntry,
)
from accordance.domain.test_assertions import loosened_tests
from accordance.domain.test_files import is_test_file
from accordance.domain.test_proof import changed_source
from accordance.domain.test_runs import comparison_with_base
from accordance.workspace.base_tests import base_files
from accordance.workspace.bench import Bench
from accordance.workspace.beneath import text_below
from accordance.workspace.clone import Workspace
from accordance.workspace.entries import is_file
from accordance.workspace.laid_in import LaidIn, with_folders


def old_versions(
    bench: Bench,
    changes: ChangeSet,
    before: Snapshot,
    after: Snapshot,
) -> LaidIn | None:
    """Return the base's version of the test files that were changed or removed."""
    names = set()
    for change in changes.changes:
        old_path = change.old_path or change.path
        was_file = is_file(before.entries.get(old_path))
        if was_file and _is_test(bench, old_path):
            names.add(old_path)
    if not names:
        return None

    place = bench.scratch / "old-tests"
    return base_files(bench.workspace, before, after, names.__contains__, place)


def _is_test(bench: Bench, path: str) -> bool:
    """Whether a file is a test by its name, or is laid in as a test."""
    is_given = any(ours.stands_for(path) for ours in bench.laid_in)
    return is_given or is_test_file(path)


def old_tests_on_new_source(
    bench: Bench,
    facts: AttemptFacts,
    old: LaidIn,
    tree: Snapshot,
) -> OtherVersionRuns:
    """Run the old version of changed test files on the changed source."""
    commands = _compared_commands(facts)
    ran_already = set(old.files) <= set(facts.given_tests)
    if ran_already or not commands:
        return OtherVersionRuns(old.files)
    done = bench.run(commands, tree, "with-old-tests", laid_in=(*bench.laid_in, old))
    return OtherVersionRuns(old.files, done.runs)


def new_tests_on_old_source(
    bench: Bench,
    facts: AttemptFacts,
    before: Snapshot,
    after: Snapshot,
) -> OtherVersionRuns:
    """Run changed test files on the source of the base.

    That is needed only where nothing but new tests could tell the change.
    """
    comparison = comparison_with_base(facts)
    is_in_doubt = bool(comparison.added_passing) and not comparison.fail_to_pass
    if not is_in_doubt or not changed_source(facts):
        return OtherVersionRuns()

    changed: dict[str, TreeEntry] = {}
    for path in sorted(facts.changes.paths()):
        entry = after.entries.get(path)
        if is_file(entry) and is_test_file(path):
            changed[path] = entry
    if not changed:
        return OtherVersionRuns()

    new = LaidIn(bench.workspace.work, with_folders(changed))
    commands = _compared_commands(facts)
    done = bench.run_on_base(commands, before, after, "with-new-tests", (new,))
    return OtherVersionRuns(new.files, done.runs)


def _compared_commands(facts: AttemptFacts) -> list[str]:
    """The commands that ended by themselves, with reports on both sides."""
    known = {run.command for run in facts.base_runs}
    commands = []
    for run in facts.runs:
        is_over = run.report is not None and run.ending is Ending.EXITED
        if is_over and run.command in known:
            commands.append(run.command)
    return commands


def loosened_in(
    workspace: Workspace,
    changes: ChangeSet,
    old: LaidIn,
    after: Snapshot,
) -> Iterator[LoosenedTest]:
    """Yield the tests of changed Python files that assert less than before."""
    for change in changes.changes:
        old_path = change.old_path or change.path
        is_python = old_path.endswith(".py")
        if not is_python or old_path not in old.entries:
            continue
        old_text = text_below(old.place, old.entries[old_path])
        new_text = text_below(workspace.work, after.entries.get(change.path))
        for loosening in loosened_tests(old_text, new_text):
            yield LoosenedTest(change.path, loosening.test, loosening.how)
