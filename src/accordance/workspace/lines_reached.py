"""Which changed lines of Python files the tests run.

The tests run once more for that, watched line by line: a tracer makes them slow, and
tests of debuggers and tracers fail beside it.
"""

from __future__ import annotations

from typing import Final

from accordance.domain.changed_code import Statement, changed_statements, never_run
from accordance.domain.facts import AttemptFacts, ChangedLines, EntryKind, Snapshot
from accordance.domain.test_proof import changed_source
from accordance.domain.test_streams import IN_ONE_PROCESS
from accordance.workspace.base_tests import base_files
from accordance.workspace.bench import Bench
from accordance.workspace.beneath import text_below

_MOST_LINES: Final = 5000  # of all files together


def lines_reached(
    bench: Bench,
    facts: AttemptFacts,
    tree: Snapshot,
    before: Snapshot,
    after: Snapshot,
) -> tuple[ChangedLines, ...] | None:
    """Return the changed lines and those that no test runs; None if it is not known."""
    commands = []
    for run in facts.runs:
        is_python = run.report is not None and run.report.runner in IN_ONE_PROCESS
        if is_python:
            commands.append(run.command)
    changed = _changed_files(bench, facts, before, after)
    if not commands or not changed:
        return None

    done = bench.run(commands, tree, "traced", traced=changed.keys())
    run_lines: dict[str, set[int]] = {}
    for lines in done.lines:
        if lines is None:
            return None
        for file, numbers in lines.items():
            run_lines.setdefault(file, set()).update(numbers)
    return tuple(
        ChangedLines(
            file, tuple(sorted(lines)), never_run(lines, run_lines.get(file, ()))
        )
        for file, lines in changed.items()
    )


def _changed_files(
    bench: Bench, facts: AttemptFacts, before: Snapshot, after: Snapshot
) -> dict[str, dict[int, Statement]]:
    """The changed statements of each changed Python file that is no test."""
    names = [path for path in changed_source(facts) if path.endswith(".py")]
    old = base_files(
        bench.workspace,
        before,
        after,
        names.__contains__,
        bench.scratch / "old-source",
    )
    files = {}
    total = 0
    for name in names:
        entry = after.entries.get(name)
        if entry is None or entry.kind is not EntryKind.FILE:
            continue
        new_text = text_below(bench.workspace.work, entry)
        old_text = text_below(old.place, old.entries.get(name))
        lines = changed_statements(old_text, new_text)
        total += len(lines)
        if lines and total <= _MOST_LINES:
            files[name] = lines
    return files
