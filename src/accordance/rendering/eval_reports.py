"""Reports of evaluations: a table for people, JSON to keep, an HTML page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from accordance.contracts.jsonpath import JsonObject
from accordance.domain.evaluation import EvalReport, Trial
from accordance.rendering.documents import (
    Block,
    Facts,
    Heading,
    Paragraph,
    Table,
    as_html,
)
from accordance.rendering.durations import duration_text

VERSION: Final = "accordance.eval_report.v1"
_UNKNOWN: Final = "–"


def trial_line(trial: Trial, wanted: int) -> str:
    """Return a trial that has ended, in a line."""
    words = [
        "✓" if trial.resolved else "✗",
        trial.task,
        f"trial {trial.number} of {wanted}",
        seconds_text(trial.seconds),
    ]
    if trial.cost is not None:
        words.append(cost_text(trial.cost))
    if not trial.resolved:
        words.append(trial.reason_code)
    if trial.is_false_claim:
        words.append("claimed DONE")
    return "  ".join(words)


def seconds_text(seconds: float | None) -> str:
    """Return a duration for people."""
    if seconds is None:
        return _UNKNOWN
    return duration_text(seconds)


def cost_text(cost: float | None) -> str:
    """Return a sum of money for people."""
    if cost is None:
        return _UNKNOWN
    return f"${cost:.4f}"


def percent(share: float | None) -> str:
    """Return a share for people."""
    if share is None:
        return _UNKNOWN
    return f"{share:.1%}"


# -- text


def as_text(report: EvalReport) -> str:
    """Return the table of tasks and the numbers below it."""
    table = _table(report)
    rows = [table.head, *table.rows]
    widths = []
    for column in zip(*rows, strict=True):
        widths.append(max(len(cell) for cell in column))
    lines = []
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join(cells).rstrip())

    lines.append("")
    facts = _facts(report)
    width = max(len(name) for name, _ in facts)
    lines += [f"{name.ljust(width)}  {value}" for name, value in facts]
    return "\n".join(lines) + "\n"


def _facts(report: EvalReport) -> list[tuple[str, str]]:
    total = len(report.trials)
    rate = f"{percent(report.resolved_rate)} ({report.resolved} of {total} trials)"
    passes = []
    for k in range(1, report.wanted + 1):
        share = percent(report.pass_at(k))
        passes.append((f"pass@{k}", share))
    facts = [
        ("resolved", rate),
        *passes,
        ("false claims", str(report.false_claims)),
        ("cost", f"{cost_text(report.cost)}, median {cost_text(report.median_cost)}"),
        ("time, median", seconds_text(report.median_seconds)),
    ]
    if report.missing:
        facts.append(("not run", f"{report.missing} of {total + report.missing}"))
    return facts


def _table(report: EvalReport) -> Table:
    """Return the tasks with their trials, a column for each."""
    numbers = range(1, report.wanted + 1)
    head = ["task", *(f"trial {number}" for number in numbers), "resolved"]
    rows = []
    for task in report.tasks:
        trials = {trial.number: trial for trial in report.of_task(task)}
        cells = [_cell(trials.get(number)) for number in numbers]
        resolved = sum(trial.resolved for trial in trials.values())
        rows.append([task, *cells, f"{resolved} of {len(trials)}"])
    return Table(head, rows)


def _cell(trial: Trial | None) -> str:
    if trial is None:
        return _UNKNOWN
    if trial.resolved:
        return "✓"
    claim = ", claimed DONE" if trial.claimed else ""
    return f"✗ {trial.reason_code}{claim}"


# -- JSON


def as_json(report: EvalReport) -> JsonObject:
    """Return all of it as plain JSON."""
    numbers = range(1, report.wanted + 1)
    return {
        "schema_version": VERSION,
        "executor": report.executor,
        "tasks": list(report.tasks),
        "trials_wanted": report.wanted,
        "trials_missing": report.missing,
        "resolved": report.resolved,
        "resolved_rate": report.resolved_rate,
        "pass_at": {str(k): report.pass_at(k) for k in numbers},
        "false_claims": report.false_claims,
        "cost": report.cost,
        "median_cost": report.median_cost,
        "median_seconds": report.median_seconds,
        "trials": list(_trials_json(report)),
    }


def _trials_json(report: EvalReport) -> Iterator[JsonObject]:
    for task in report.tasks:
        for trial in report.of_task(task):
            yield {**asdict(trial), "false_claim": trial.is_false_claim}


# -- HTML


def as_page(report: EvalReport) -> str:
    """Return an HTML page that opens from disk."""
    blocks: list[Block] = [
        Heading(1, f"Evaluation of {report.executor}"),
        Facts(_facts(report)),
        Heading(2, "Tasks"),
        _table(report),
        Heading(2, "Trials"),
        _trials(report),
        Paragraph(
            "A trial is resolved if the judge says DONE with the hidden tests in place."
            " A claim is false if the agent says DONE and the judge does not."
        ),
    ]
    return as_html(blocks)


def _trials(report: EvalReport) -> Table:
    head = ("task", "trial", "outcome", "claim", "time", "cost", "why")
    rows = []
    for task in report.tasks:
        for trial in report.of_task(task):
            row = (
                trial.task,
                str(trial.number),
                "resolved" if trial.resolved else trial.reason_code,
                _claim(trial),
                seconds_text(trial.seconds),
                cost_text(trial.cost),
                trial.reason,
            )
            rows.append(row)
    return Table(head, rows)


def _claim(trial: Trial) -> str:
    if trial.is_false_claim:
        return "DONE, false"
    return "DONE" if trial.claimed else "none"
