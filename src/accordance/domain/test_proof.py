"""What passing tests prove about a change, and what they leave open. Pure."""

from __future__ import annotations

from typing import Final

from accordance.contracts.catalogue.task import TaskInput
from accordance.domain.facts import AttemptFacts
from accordance.domain.findings import listed
from accordance.domain.test_files import is_source_file
from accordance.domain.test_runs import comparison_with_base, tells_the_change

NO_TEST_TELLS: Final = "no test tells this change: each passes without it, too"


def unreached_lines(facts: AttemptFacts) -> str:
    """Return how many changed lines no test runs, and which; empty where none are."""
    reached = facts.lines_reached or ()
    never_run = sum(len(lines.never_run) for lines in reached)
    if not never_run:
        return ""
    changed = sum(len(lines.changed) for lines in reached)
    places = []
    for lines in reached:
        places += [f"{lines.file}:{number}" for number in lines.never_run]
    return f"changed lines never run: {never_run} of {changed} ({listed(places)})"


def surviving_mutants(facts: AttemptFacts) -> str:
    """Return how many faults in changed lines no test notices, and which; or nothing."""
    check = facts.mutants
    if check is None:
        return ""
    places = []
    for mutant in check.tried:
        if mutant.survived:
            places.append(f"{mutant.file}:{mutant.line} {mutant.change}")
    if not places:
        return ""
    tried = len(check.tried)
    text = f"mutants of changed lines survived: {len(places)} of {tried}"
    text += f" ({listed(places)})"
    untried = check.chosen - tried
    if untried:
        text += f"; {untried} more were not tried in time"
    return text


def changed_source(facts: AttemptFacts) -> tuple[str, ...]:
    """The changed files that are programs, and no tests."""
    paths = sorted(facts.changes.paths())
    return tuple(path for path in paths if is_source_file(path))


def tests_do_not_tell(task: TaskInput, facts: AttemptFacts) -> bool:
    """Whether source was changed, and every test that passes would pass without it.

    Nothing is known where the tests were not compared with those of the base.
    """
    is_shown_otherwise = task.keeps_behaviour or facts.hidden is not None
    if is_shown_otherwise or not changed_source(facts):
        return False
    comparison = comparison_with_base(facts)
    has_passing_tests = bool(comparison.pass_to_pass or comparison.added_passing)
    return has_passing_tests and not tells_the_change(facts)
