"""The tests of an attempt by name, before the change and after it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Final

from accordance.domain.facts import AttemptFacts
from accordance.domain.failing_tests import telling_lines
from accordance.domain.test_results import TestOutcome, outcomes_of
from accordance.domain.test_runs import comparison_with_base
from accordance.errors import EvidenceGone
from accordance.service.attempt_files import attempt_bundle, attempt_number
from accordance.service.project import Project
from accordance.service.views.task_pages import ComparedTestView, TestsView
from accordance.workspace.bundle import read_facts
from accordance.workspace.errors import BundleBroken

MOST_TESTS: Final = 1_000
_IN_ORDER: Final = (
    "pass_to_fail",
    "added_failing",
    "removed",
    "pass_to_skip",
    "fail_to_fail",
    "fail_to_pass",
    "added_passing",
    "",
    "pass_to_pass",
)
"""What a reader wants to know first."""


def attempt_tests(
    project: Project,
    name: str,
    number: int | None = None,
    *,
    offset: int = 0,
    limit: int = MOST_TESTS,
) -> TestsView:
    """Return the tests of an attempt. Raises NoEvidence, EvidenceGone.

    Hidden tests are not among them.
    """
    task_id, attempt = attempt_number(project, name, number)
    folder = attempt_bundle(project, task_id, attempt).folder
    try:
        facts = read_facts(folder)
    except BundleBroken as error:
        raise EvidenceGone(str(error)) from error
    tests = sorted(compared_tests(facts), key=_importance)
    counts: dict[str, int] = {}
    for test in tests:
        change = test.change or "other"
        counts[change] = counts.get(change, 0) + 1
    return TestsView(
        task_id=task_id,
        attempt=attempt,
        is_compared=bool(facts.base_runs),
        counts=counts,
        total=len(tests),
        offset=offset,
        items=tuple(tests[offset : offset + limit]),
    )


def _importance(test: ComparedTestView) -> tuple[int, str]:
    return _IN_ORDER.index(test.change), test.test


def compared_tests(facts: AttemptFacts) -> Iterator[ComparedTestView]:
    """Yield every test, what it was before, and why it fails now."""
    before = outcomes_of(run.report for run in facts.base_runs if run.report)
    after = outcomes_of(run.report for run in facts.runs if run.report)
    change_of = _changes(facts)
    why = _failures(facts)
    for test in before.keys() | after.keys():
        yield ComparedTestView(
            test=test,
            before=_word(before.get(test)),
            after=_word(after.get(test)),
            change=change_of.get(test, ""),
            why=why.get(test, ""),
        )


def _word(outcome: TestOutcome | None) -> str | None:
    return None if outcome is None else outcome.value


def _changes(facts: AttemptFacts) -> Mapping[str, str]:
    if not facts.base_runs:
        return {}
    groups = asdict(comparison_with_base(facts))
    return {test: group for group, tests in groups.items() for test in tests}


def _failures(facts: AttemptFacts) -> Mapping[str, str]:
    return {
        result.test: "\n".join(telling_lines(result.text))
        for run in facts.runs
        for result in run.results
        if result.failed
    }
