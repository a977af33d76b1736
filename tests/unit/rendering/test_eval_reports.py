"""Reports of evaluations, in every form."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.evaluation import EvalReport, Trial
from accordance.rendering.eval_reports import (
    as_json,
    as_page,
    as_text,
    seconds_text,
    trial_line,
)

SOLVED = Trial(
    task="median", number=1, resolved=True, claimed=True, seconds=4.21, cost=0.0123
)
LIED = Trial(
    task="median",
    number=2,
    resolved=False,
    claimed=True,
    reason_code="CI_FAILED",
    reason="1 test failed: <script>alert(1)</script>",
    seconds=75.4,
    cost=0.02,
)
GAVE_UP = Trial(
    task="slug",
    number=1,
    resolved=False,
    claimed=False,
    reason_code="TIMEOUT_EXCEEDED",
    seconds=90,
)
REPORT = EvalReport(
    executor="coder",
    tasks=("median", "slug"),
    trials=(SOLVED, LIED, GAVE_UP),
    wanted=2,
)
TEXT = """\
task    trial 1             trial 2                    resolved
median  ✓                   ✗ CI_FAILED, claimed DONE  1 of 2
slug    ✗ TIMEOUT_EXCEEDED  –                          0 of 1

resolved      33.3% (1 of 3 trials)
pass@1        25.0%
pass@2        –
false claims  1
cost          –, median –
time, median  1 min 15 s
not run       1 of 4
"""


def test_the_table() -> None:
    """Tasks and trials, then the numbers; what is not known is a dash."""
    assert as_text(REPORT) == TEXT


@pytest.mark.parametrize(
    ("trial", "line"),
    [
        (SOLVED, "✓  median  trial 1 of 2  4.2 s  $0.0123"),
        (
            LIED,
            "✗  median  trial 2 of 2  1 min 15 s  $0.0200  CI_FAILED  claimed DONE",
        ),
        (GAVE_UP, "✗  slug  trial 1 of 2  1 min 30 s  TIMEOUT_EXCEEDED"),
    ],
)
def test_the_line_of_a_trial(trial: Trial, line: str) -> None:
    """It is printed when the trial has ended."""
    assert trial_line(trial, 2) == line


def test_json() -> None:
    """All numbers, and every trial."""
    report: dict[str, Any] = as_json(REPORT)
    assert report["resolved_rate"] == pytest.approx(1 / 3)
    assert report["pass_at"] == {"1": 0.25, "2": None}
    assert report["false_claims"] == 1
    assert report["trials_missing"] == 1
    assert [trial["false_claim"] for trial in report["trials"]] == [False, True, False]


def test_the_page() -> None:
    """It shows the same, and nothing that an agent wrote is markup."""
    page = as_page(REPORT)
    assert "<td>✗ CI_FAILED, claimed DONE</td>" in page
    assert "<td>DONE, false</td>" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<script" not in page


def test_a_report_without_gaps() -> None:
    """It says nothing about trials that were not run."""
    report = EvalReport(
        executor="coder", tasks=("median",), trials=(SOLVED, LIED), wanted=2
    )
    assert "not run" not in as_text(report)
    assert "cost          $0.0323, median $0.0162" in as_text(report)


def test_no_trials() -> None:
    """Times that are not known."""
    report = EvalReport(executor="coder", tasks=("slug",), trials=(), wanted=1)
    assert "0.0% (0 of 0 trials)" in as_text(report)
    assert seconds_text(None) == "–"
