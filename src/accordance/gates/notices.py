"""What a reader of a verdict should know besides the findings.

A notice names what the verdict rests on that the task did not ask for. It blames no
one.
"""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.facts import WITH_LEFT_OUT
from accordance.domain.findings import listed
from accordance.domain.test_runs import comparison_with_base, excused_failures


def notices(case: Case) -> tuple[str, ...]:
    """Return every notice about a case, as sentences."""
    return (
        *_made_by_accordance(case),
        *_completed_evidence(case),
        *_chosen_tests(case),
        *_git_programs(case),
        *_left_out(case),
        *_silent_tests(case),
        *_known_failures(case),
    )


def _made_by_accordance(case: Case) -> Iterator[str]:
    if case.submitted_by == "accordance":
        yield (
            "the submission, the patch, the log and the report were made by accordance "
            "from facts: no agent handed them in"
        )


def _completed_evidence(case: Case) -> Iterator[str]:
    """What an agent left out and accordance made is told apart from evidence."""
    if case.submitted_by == "accordance":
        return
    made = [fact.name.value for fact in case.facts.evidence.artifacts if fact.ours]
    if made:
        yield (
            "made by accordance from facts, because the agent left it out: "
            f"{listed(made)}"
        )


def _chosen_tests(case: Case) -> Iterator[str]:
    """A test that the agent has chosen proves what the agent wants to prove."""
    if case.task.allowedTests:
        return
    if case.own_tests:
        tests = listed(case.own_tests)
        yield f"the task names no tests; these are the repository's own: {tests}"
    if case.chosen_tests:
        tests = listed(case.chosen_tests)
        yield f"the task names no tests; these are the agent's choice: {tests}"


def _git_programs(case: Case) -> Iterator[str]:
    programs = case.facts.git_programs
    if programs:
        yield (
            "git would run programs in this tree (nothing of it was run here): "
            f"{listed(programs)}"
        )


def _left_out(case: Case) -> Iterator[str]:
    """What tools left beside the work is listed, and nobody is blamed for it."""
    changes = case.facts.changes
    if case.facts.version < WITH_LEFT_OUT:
        return

    ignored = [item.path for item in changes.left_out if item.is_ignored]
    caches = [item.path for item in changes.left_out if not item.is_ignored]
    groups = (("the base ignores it", ignored), ("tools make it anew", caches))
    for reason, paths in groups:
        if paths:
            yield (
                f"left out of the change and of the tests' copy, because {reason}: "
                f"{listed(paths)}"
            )


def _silent_tests(case: Case) -> Iterator[str]:
    """Tests that pass with and without a change say nothing about it."""
    if not case.facts.base_runs:
        return
    comparison = comparison_with_base(case.facts)
    if comparison.pass_to_pass and not comparison.tells_the_change:
        yield "no test tells this change: each passes without it, too"


def _known_failures(case: Case) -> Iterator[str]:
    excused = sorted(excused_failures(case.task, case.facts))
    if excused:
        yield f"failed before the change, and still fail: {listed(excused)}"
