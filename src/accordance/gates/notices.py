"""What a reader of a verdict should know besides the findings.

A notice names what the verdict rests on that the task did not ask for. It never
blames.
"""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.facts import WITH_LEFT_OUT, WITH_TEST_POLICY
from accordance.domain.findings import listed
from accordance.domain.flaky_tests import (
    excused_as_flaky,
    flaky_at_base,
    flaky_tests,
)
from accordance.domain.test_proof import NO_TEST_TELLS
from accordance.domain.test_runs import comparison_with_base, excused_failures
from accordance.gates.test_proof import proof_notices


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
        *_flaky_tests(case),
        *_given_tests(case),
        *_weak_reports(case),
    )


def _made_by_accordance(case: Case) -> Iterator[str]:
    if case.submitted_by == "accordance":
        yield (
            "the submission, the patch, the log and the report were made by accordance "
            "from facts: no agent handed them in"
        )


def _completed_evidence(case: Case) -> Iterator[str]:
    """What accordance made for an agent is kept apart from the agent's evidence."""
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
    """What tools left beside the work is listed, without blame."""
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
    if case.facts.version >= WITH_TEST_POLICY:
        yield from proof_notices(case)
        return
    if not case.facts.base_runs:
        return
    comparison = comparison_with_base(case.facts)
    if comparison.pass_to_pass and not comparison.tells_the_change:
        yield NO_TEST_TELLS


def _known_failures(case: Case) -> Iterator[str]:
    flaky = excused_as_flaky(case.facts)
    excused = sorted(excused_failures(case.task, case.facts) - flaky)
    if excused:
        yield f"failed before the change, and still fail: {listed(excused)}"


def _flaky_tests(case: Case) -> Iterator[str]:
    """A flaky test is never silently green."""
    at_base = sorted(flaky_at_base(case.facts))
    if at_base:
        yield f"flaky without the change, so they tell nothing: {listed(at_base)}"

    at_head = [flaky for flaky in flaky_tests(case.facts) if not flaky.on_base]
    for permitted, what in (
        (True, "flaky, as the settings permit: failed, and passed when run again"),
        (False, "flaky: failed, and passed when run again"),
    ):
        names = [flaky.test for flaky in at_head if flaky.permitted is permitted]
        if names:
            yield f"{what}: {listed(names)}"


def _given_tests(case: Case) -> Iterator[str]:
    """What was judged is not what the agent left in these files."""
    changed = case.facts.given_tests
    if changed:
        yield f"changed, and judged as the base has them: {listed(changed)}"


def _weak_reports(case: Case) -> Iterator[str]:
    """A report without canaries is worth no more than the exit code."""
    weak = []
    for run in case.facts.runs:
        report = run.report
        if report is not None and report.written_by_run:
            weak.append(run.command)
    if weak:
        yield (
            "the report of the tests was written by their own run, which the code under "
            f"test could do as well: {listed(weak)}"
        )
