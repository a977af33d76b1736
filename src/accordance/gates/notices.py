"""What a reader of a verdict should know beside what was found: what it rests on that is not the task's. Nobody is blamed for it."""

from __future__ import annotations

from collections.abc import Iterator

from accordance.domain.case import Case
from accordance.domain.findings import listed


def notices(case: Case) -> tuple[str, ...]:
    """Every notice about a case, in words."""
    return (*_made_by_accordance(case), *_chosen_tests(case), *_git_programs(case))


def _made_by_accordance(case: Case) -> Iterator[str]:
    if case.submitted_by == "accordance":
        yield "the submission, the patch, the log and the report were made by accordance from facts: no agent handed them in"


def _chosen_tests(case: Case) -> Iterator[str]:
    """A test that the agent has chosen proves what the agent wants to prove."""
    if case.task.allowedTests:
        return
    if case.own_tests:
        yield f"the task names no tests; these are the repository's own: {listed(case.own_tests)}"
    if case.chosen_tests:
        yield f"the task names no tests; these are the agent's choice: {listed(case.chosen_tests)}"


def _git_programs(case: Case) -> Iterator[str]:
    if programs := case.facts.git_programs:
        yield f"git would run programs in this tree (nothing of it was run here): {listed(programs)}"
