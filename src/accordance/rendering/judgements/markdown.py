"""A judgement as Markdown: a summary for a forge, or a comment on a change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from accordance.domain.facts import CommandRun
from accordance.domain.findings import Gate, with_code
from accordance.rendering.documents import (
    Block,
    Details,
    Facts,
    Heading,
    Paragraph,
    Table,
    as_markdown,
)
from accordance.rendering.judgements.attempt import JudgedAttempt
from accordance.rendering.showing import shown

MAX_TESTS: Final = 20  # failing tests that are shown
MAX_PATHS: Final = 200  # changed paths that are listed


def as_markdown_summary(judged: JudgedAttempt) -> str:
    """Return the verdict, the checks, what failed and what was changed."""
    text = as_markdown(list(_blocks(judged)))
    return "\n".join(map(shown, text.split("\n")))


def _blocks(judged: JudgedAttempt) -> Iterator[Block]:
    verdict = judged.verdict
    title = f"{_outcome_mark(judged)} {verdict.outcome}"
    if verdict.reason_code:
        title += f": {verdict.reason_code}"
    yield Heading(2, title)
    yield Paragraph(verdict.reason)
    yield Facts(list(_facts(judged)))
    yield _checks(judged)
    yield from _failures(judged)
    yield from _changes(judged)


def _outcome_mark(judged: JudgedAttempt) -> str:
    if judged.is_done:
        return "✅"
    if judged.is_environment_fault:
        return "⚠️"
    return "❌"


def _facts(judged: JudgedAttempt) -> Iterator[tuple[str, str]]:
    yield "task", f"{judged.task.task_id}, {judged.number}"
    if judged.cause:
        yield "cause", judged.cause
    if judged.following:
        yield "next", judged.following
    for notice in judged.verdict.notices:
        yield "note", notice
    if judged.evidence:
        yield "evidence", judged.evidence


def _checks(judged: JudgedAttempt) -> Table:
    """A row for each gate and each test command."""
    rows: list[tuple[str, str, str]] = []
    for gate in Gate:
        findings = [
            with_code(finding.code, finding.message)
            for finding in judged.verdict.findings
            if finding.gate is gate
        ]
        rows.append((gate.value, _mark(is_good=not findings), "; ".join(findings)))
    for run in judged.facts.runs:
        rows.append((run.command, _mark(is_good=run.passed), _about(run)))
    return Table(("check", "result", "what it saw"), rows)


def _mark(*, is_good: bool) -> str:
    return "✓" if is_good else "✗"


def _about(run: CommandRun) -> str:
    seconds = run.duration_ms / 1000
    about = f"{seconds:.1f} s, isolated by {run.isolation}"
    if run.report is None:
        return f"exit code {run.exit_code}, {about}"
    total, failed = len(run.report.results), len(run.report.failed)
    return f"{failed} of {total} tests failed, {about}"


def _failures(judged: JudgedAttempt) -> Iterator[Block]:
    """The failing tests, and the output of commands that reported none."""
    blocks: list[Block] = []
    failing = judged.failing
    for test in failing[:MAX_TESTS]:
        place = ""
        if test.line is not None:
            place = f" ({test.place})"
        blocks.append(Details(f"{test.test}{place}", test.lines))
    others = len(failing) - MAX_TESTS
    if others > 0:
        blocks.append(Paragraph(f"{others} more tests failed."))

    explained = {test.command for test in failing}
    for run in judged.facts.runs:
        output = judged.output_of(run)
        if output and not run.passed and run.command not in explained:
            blocks.append(Details(f"the end of the output of {run.command}", output))
    if blocks:
        yield Heading(3, "What failed")
        yield from blocks


def _changes(judged: JudgedAttempt) -> Iterator[Block]:
    changes = judged.facts.changes.changes
    if not changes:
        yield Paragraph(f"{judged.change}.")
        return
    lines = []
    for change in changes[:MAX_PATHS]:
        lines.append(f"{change.kind:<9} {' -> '.join(change.paths)}")
    others = len(changes) - MAX_PATHS
    if others > 0:
        lines.append(f"and {others} more")
    yield Details(judged.change, lines)
