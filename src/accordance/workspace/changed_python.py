"""The Python files of a change that are no tests, with their changed statements."""

from __future__ import annotations

from typing import Final, NamedTuple

from accordance.domain.changed_code import Statement, changed_statements
from accordance.domain.facts import AttemptFacts, EntryKind, Snapshot
from accordance.domain.test_proof import changed_source
from accordance.workspace.base_tests import base_files
from accordance.workspace.bench import Bench
from accordance.workspace.beneath import text_below

_MOST_LINES: Final = 5000  # of all files together


class ChangedFile(NamedTuple):
    """A changed file: its text, and its changed lines with their statements."""

    text: str
    statements: dict[int, Statement]


def changed_python(
    bench: Bench,
    facts: AttemptFacts,
    before: Snapshot,
    after: Snapshot,
) -> dict[str, ChangedFile]:
    """Return the changed Python files that are no tests, by their paths."""
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
        statements = changed_statements(old_text, new_text)
        total += len(statements)
        if statements and total <= _MOST_LINES:
            files[name] = ChangedFile(new_text, statements)
    return files
