"""The findings of a judgement, each at the places it is about.

A forge or a scanner shows a remark beside a line of code: a failing test at its own
file and line, an offending path at that path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from accordance.domain.causes import Cause, cause_of
from accordance.domain.failing_tests import FailingTest, place_in
from accordance.domain.findings import Finding
from accordance.rendering.judgements.attempt import JudgedAttempt

MAX_TESTS: Final = 50  # failing tests of a finding with a remark of their own


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding at a place."""

    finding: Finding
    text: str
    file: str = ""  # empty: it is about no file
    line: int | None = None
    details: tuple[str, ...] = ()  # further lines

    @property
    def is_environment_fault(self) -> bool:
        """Whether the environment is to blame, and not the agent."""
        return cause_of(self.finding) is Cause.ENVIRONMENT


def remarks_on(judged: JudgedAttempt) -> Iterator[Remark]:
    """Yield the remarks of a judgement, the gravest finding first."""
    failing = judged.failing
    for finding in judged.verdict.findings:
        of_finding = [test for test in failing if test.command in finding.about]
        if of_finding:
            yield from _remarks_on_tests(finding, of_finding)
        else:
            yield from _remarks_on_places(finding, judged)


def _remarks_on_tests(
    finding: Finding, failing: Sequence[FailingTest]
) -> Iterator[Remark]:
    for test in failing[:MAX_TESTS]:
        reason = f": {test.why}" if test.why else ""
        text = f"{test.test} failed{reason}"
        yield Remark(
            finding=finding,
            text=text,
            file=test.file,
            line=test.line,
            details=test.lines,
        )
    others = len(failing) - MAX_TESTS
    if others > 0:
        yield Remark(finding, f"{others} more tests failed: {finding.message}")


def _remarks_on_places(finding: Finding, judged: JudgedAttempt) -> Iterator[Remark]:
    """Yield a remark for each path or test that a finding is about."""
    changed = judged.facts.changes.paths()
    files = [_file_of(subject, changed) for subject in finding.about]
    places = dict.fromkeys(file for file in files if file)
    details = _output_for(finding, judged)
    for file in places or ("",):
        yield Remark(finding, finding.message, file, details=details)


def _file_of(subject: str, changed: frozenset[str]) -> str:
    """Return the file of a changed path or of a test's id; empty for anything else."""
    if subject in changed:
        return subject
    if "::" not in subject:
        return ""
    file, _ = place_in("", subject)
    return file


def _output_for(finding: Finding, judged: JudgedAttempt) -> tuple[str, ...]:
    """Return what a failed command printed, if the finding is about a command."""
    for run in judged.facts.runs:
        if run.command in finding.about and not run.passed:
            return judged.output_of(run)
    return ()
