"""The summary of a plan, as lines and as Markdown; the fuses and the pace in a line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.fuses import Fuses, FuseSettings
from accordance.domain.plan_summary import (
    Delivery,
    GivenUpTask,
    PlanSummary,
    WaitingTask,
)
from accordance.rendering.fuse_text import fuses_text
from accordance.rendering.plan_summaries import summary_lines, summary_markdown
from accordance.rendering.run_progress import RunPace

EVIL = "<img src=x onerror=alert(1)> | [a](http://x) \x1b[31m\n# forged"
WAITING = WaitingTask(title="Notes", question="Which?", question_name="1")
FUSED = replace(WAITING, title="Prices", fuse="calls_per_run")
GIVEN_UP = GivenUpTask(title="Discount", task_id="d; rm x", why="CI_FAILED: no")
NOTHING = PlanSummary(
    plan_id="p",
    title="Prices",
    state="ACTIVE",
    root="PENDING",
    done=0,
    tasks=1,
    states=(("READY", 1),),
)
EVERYTHING = replace(
    NOTHING,
    done=2,
    tasks=4,
    finished=("Brief", "Tables"),
    waiting=(WAITING, FUSED),
    given_up=(GIVEN_UP,),
    deliveries=(
        Delivery(title="Brief", path="a/brief.md"),
        Delivery(title="Longer", path="b.md"),
    ),
    branch="accordance/p",
    repository="repository",
    evidence=("artifacts/t/attempt-1",),
    tokens=1200,
    calls=3,
    cost=0.5,
    seconds=65.0,
    rests="what is left waits for a person",
)


def test_a_plan_that_has_not_begun() -> None:
    """A line, and nothing else."""
    assert list(summary_lines(NOTHING)) == ["Prices: 0 of 1 task done"]
    assert summary_markdown(NOTHING) == (
        "## Prices: 0 of 1 task done\n\n- **plan**: p, ACTIVE\n- **tasks**: 1 READY\n"
    )


def test_lines() -> None:
    """What waits and for what, what was given up and why, with the command to type."""
    resume = (
        "    accordance run --resume  # counts from zero; to allow more, raise"
        " calls_per_run under [fuses] for the next plan"
    )
    assert list(summary_lines(EVERYTHING)) == [
        "Prices: 2 of 4 tasks done, 1 min 05 s, 1,200 tokens in 3 calls, cost 0.5000",
        "",
        "Waits for you",
        "  Notes: Which?",
        "    accordance inbox answer 1",
        "  Prices: Which?",
        resume,
        "",
        "Given up",
        "  Discount: CI_FAILED: no",
        "    accordance dlq requeue 'd; rm x'",
        "",
        "Deliverables",
        "  Brief   a/brief.md",
        "  Longer  b.md",
        "  the changes are commits on the branch accordance/p of repository",
    ]


def test_markdown() -> None:
    """The same as tables, with the evidence."""
    text = summary_markdown(EVERYTHING)
    for line in (
        "## Prices: 2 of 4 tasks done",
        "- **used**: 1,200 tokens in 3 calls, cost 0.5000",
        "- **now**: what is left waits for a person",
        "| Notes | Which? | accordance inbox answer 1 |",
        "| Discount | CI_FAILED: no | accordance dlq requeue 'd; rm x' |",
        "- Tables",
        "| Brief | a/brief.md |",
        "The changes are commits on the branch accordance/p of repository.",
        "- artifacts/t/attempt-1",
    ):
        assert line in text.splitlines(), line


def test_long_lists_are_counted() -> None:
    """Twenty of each, and how many more."""
    many = replace(
        NOTHING,
        finished=("Brief",) * 21,
        waiting=(WAITING,) * 22,
        given_up=(GIVEN_UP,) * 23,
        deliveries=(Delivery(title="a", path="b"),) * 24,
        evidence=("artifacts",) * 25,
    )
    told = [line for line in summary_lines(many) if line.startswith("  and ")]
    assert told == ["  and 2 more", "  and 3 more", "  and 4 more"]
    paragraphs = summary_markdown(many).split("\n\n")
    for number in range(1, 6):
        assert any(part.strip() == f"and {number} more" for part in paragraphs)


def test_what_agents_word_is_escaped() -> None:
    """No tag, no link, no column and no heading of theirs."""
    hostile = replace(
        EVERYTHING,
        title=EVIL,
        finished=(EVIL,),
        waiting=(replace(WAITING, title=EVIL, question=EVIL),),
        given_up=(replace(GIVEN_UP, title=EVIL, why=EVIL),),
        deliveries=(Delivery(title=EVIL, path=EVIL),),
        rests=EVIL,
    )
    text = summary_markdown(hostile)
    assert "\x1b" not in text
    assert "](" not in text
    assert " <img" not in text
    assert not [line for line in text.splitlines() if line.startswith("# ")]
    (row,) = [line for line in text.splitlines() if "inbox answer 1" in line]
    assert row.replace("\\|", "").count("|") == 4


@pytest.mark.parametrize(
    ("fuses", "text"),
    [
        pytest.param(
            FuseSettings(),
            "fuses: plan 5,000 calls, 50,000,000 tokens, cost 100, 3 d; task 3 failed"
            " attempts, 10 calls, 5,000,000 tokens, cost 10",
            id="the defaults",
        ),
        pytest.param(
            Fuses(attempts=1, calls_per_task=None),
            "fuses: plan no limit; task 1 failed attempt",
            id="nothing else is limited",
        ),
    ],
)
def test_fuses_in_a_line(fuses: Fuses, text: str) -> None:
    """Those that are off are left out."""
    assert fuses_text(fuses) == text


@pytest.mark.parametrize(
    ("left", "tokens", "cost", "text"),
    [
        pytest.param(None, 0, 0.0, "1 of 4 tasks done, 3.0 s", id="nothing known yet"),
        pytest.param(
            9.0,
            10,
            0.25,
            "1 of 4 tasks done, 3.0 s, about 9.0 s left, 10 tokens, cost 0.2500",
            id="everything known",
        ),
    ],
)
def test_how_far_a_run_is(
    left: float | None, tokens: int, cost: float, text: str
) -> None:
    """What nobody knows is left out."""
    pace = RunPace(
        done=1,
        tasks=4,
        elapsed_seconds=3.0,
        seconds_left=left,
        tokens=tokens,
        cost=cost,
    )
    assert pace.line() == text
