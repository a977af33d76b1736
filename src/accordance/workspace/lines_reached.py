"""Which changed lines of Python files the tests run.

The tests run once more for that, watched line by line: a tracer makes them slow, and
tests of debuggers and tracers fail beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

from accordance.domain.changed_code import never_run
from accordance.domain.facts import AttemptFacts, ChangedLines, Ending, Snapshot
from accordance.domain.test_streams import IN_ONE_PROCESS
from accordance.workspace.bench import Bench
from accordance.workspace.changed_python import ChangedFile


def lines_reached(
    bench: Bench,
    facts: AttemptFacts,
    tree: Snapshot,
    changed: Mapping[str, ChangedFile],
) -> tuple[ChangedLines, ...] | None:
    """Return the changed lines and those that no test runs; None if it is not known."""
    commands = []
    for run in facts.runs:
        is_python = run.report is not None and run.report.runner in IN_ONE_PROCESS
        if is_python and run.ending is Ending.EXITED:
            commands.append(run.command)
    if not commands or not changed:
        return None

    done = bench.run(commands, tree, "traced", traced=changed.keys())
    run_lines: dict[str, set[int]] = {}
    for lines in done.lines:
        if lines is None:
            return None
        for file, numbers in lines.items():
            run_lines.setdefault(file, set()).update(numbers)
    reached = []
    for file, content in changed.items():
        statements = content.statements
        missed = never_run(statements, run_lines.get(file, ()))
        reached.append(ChangedLines(file, tuple(sorted(statements)), missed))
    return tuple(reached)
