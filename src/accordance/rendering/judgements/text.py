"""A judgement for people, as lines of segments that a terminal may colour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from accordance.domain.facts import CommandRun
from accordance.domain.failing_tests import FailingTest
from accordance.domain.verdict import Outcome
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.showing import shown

Tone: TypeAlias = Literal["plain", "dim", "good", "bad", "done", "asking", "refused"]
"""How a segment is shown; a terminal gives each a colour."""

_TONES: Final[Mapping[Outcome, Tone]] = MappingProxyType(
    {Outcome.DONE: "done", Outcome.ESCALATE: "asking"}
)
MAX_TESTS: Final = 5  # of a command whose failure is shown
_INDENT: Final = " " * 6


class Segment(NamedTuple):
    """A part of a line."""

    text: str
    tone: Tone = "plain"


Line: TypeAlias = tuple[Segment, ...]


def as_text(judged: JudgedAttempt) -> str:
    """Return the lines without colours."""
    lines = []
    for line in text_lines(judged):
        texts = [segment.text for segment in line]
        lines.append("".join(texts))
    return "\n".join(lines)


def text_lines(judged: JudgedAttempt) -> Iterator[Line]:
    """Yield the lines: the outcome, the findings, why tests failed, what follows."""
    verdict = judged.verdict
    yield _headline(judged)

    for finding in verdict.findings:
        message = shown(f"  {finding.gate:<10}  {finding.message}  ")
        yield (Segment(message), Segment(shown(finding.code), "bad"))

    failing = judged.failing
    for run in judged.facts.runs:
        yield _run_line(run)
        of_run = [test for test in failing if test.command == run.command]
        if of_run:
            yield from _failures(of_run)
        else:
            yield from _output(run, judged)
    yield (Segment(f"  {judged.change}", "dim"),)

    for notice in verdict.notices:
        yield (Segment(shown(f"  note: {notice}"), "dim"),)
    if judged.cause:
        yield (Segment(f"  cause: {judged.cause}"),)
    if judged.following:
        yield (Segment(shown(f"  next: {judged.following}")),)
    if judged.evidence:
        yield (Segment(shown(f"  evidence: {judged.evidence}"), "dim"),)


def _headline(judged: JudgedAttempt) -> Line:
    """The outcome, its reason, the task and the attempt."""
    verdict = judged.verdict
    mark = "✓" if judged.is_done else "✗"
    tone = _TONES.get(verdict.outcome, "refused")
    segments = [Segment(f"{mark} {verdict.outcome}", tone), Segment("  ")]
    if verdict.reason_code:
        segments += [Segment(shown(verdict.reason_code), "bad"), Segment("  ")]
    about = shown(f"{judged.task.task_id}  {judged.number}")
    return (*segments, Segment(about, "dim"))


def _run_line(run: CommandRun) -> Line:
    """A test command and whether it passed."""
    mark = Segment("✗", "bad")
    if run.passed:
        mark = Segment("✓", "good")
    seconds = run.duration_ms / 1000
    about = f"{seconds:.1f} s, isolated by {run.isolation}"
    return (
        Segment("  "),
        mark,
        Segment(shown(f" {run.command}  ")),
        Segment(about, "dim"),
    )


def _failures(failing: Sequence[FailingTest]) -> Iterator[Line]:
    """Why tests failed, test by test."""
    for test in failing[:MAX_TESTS]:
        place = ""
        if test.line is not None:
            place = f"  {shown(test.place)}"
        name = shown(f"{_INDENT}{test.test}")
        yield (Segment(name, "bad"), Segment(place, "dim"))
        for line in test.lines:
            yield (Segment(shown(f"{_INDENT}  {line}"), "dim"),)
    others = len(failing) - MAX_TESTS
    if others > 0:
        yield (Segment(f"{_INDENT}and {others} more"),)


def _output(run: CommandRun, judged: JudgedAttempt) -> Iterator[Line]:
    """The last lines of a failed command that reported no test."""
    if run.passed:
        return
    for line in judged.output_of(run):
        yield (Segment(shown(f"{_INDENT}{line}"), "dim"),)
