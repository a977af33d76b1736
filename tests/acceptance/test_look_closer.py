"""The task that `accordance run` points at in its end."""

from __future__ import annotations

import pytest

from accordance.cli.run_output import last_unfinished
from accordance.service.views.verdicts import VerdictView


def verdict(task: str, attempt: int, outcome: str) -> VerdictView:
    return VerdictView(
        task_id=task,
        title=f"Task {task}",
        attempt=attempt,
        by="scc.submit.v1",
        outcome=outcome,
        reason_code="NONE",
        messages=("why",),
        why="why",
        evidence=None,
        at="2026-03-01T12:00:00.000000Z",
    )


A_FAILED = verdict("a", 1, "RETRY")
A_DONE = verdict("a", 2, "DONE")
B_REJECTED = verdict("b", 1, "REJECT")
C_ESCALATED = verdict("c", 1, "ESCALATE")


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param((), None, id="no verdict"),
        pytest.param((B_REJECTED, C_ESCALATED), C_ESCALATED, id="the latest"),
        pytest.param((B_REJECTED, A_FAILED, A_DONE), B_REJECTED, id="not a done task"),
        pytest.param((A_FAILED, A_DONE), None, id="all done in the end"),
    ],
)
def test_the_task_to_look_at(
    verdicts: tuple[VerdictView, ...], expected: VerdictView | None
) -> None:
    """A task that failed and was done later is no trouble any more."""
    assert last_unfinished(verdicts) is expected
