"""Which proposed changes are an agent's, and by which task they are judged."""

from __future__ import annotations

import pytest

from accordance.domain.proposed_changes import (
    NoTaskOnBranch,
    ProposedChange,
    task_of,
)

AGENTS = ("codex[bot]",)


@pytest.mark.parametrize(
    ("branch", "author", "task_id"),
    [
        ("agent/T-1", "codex[bot]", "T-1"),
        ("agent/T-1", "somebody", "T-1"),
        ("main", "somebody", None),
        ("agents/T-1", "somebody", None),
    ],
)
def test_the_task(branch: str, author: str, task_id: str | None) -> None:
    """The branch names it."""
    assert task_of(ProposedChange(branch, author), AGENTS) == task_id


@pytest.mark.parametrize(
    ("branch", "author"),
    [
        ("main", "codex[bot]"),
        ("agent/", "somebody"),
        ("agent/../x", "somebody"),
        ("agent/a b", "codex[bot]"),
        ("agent/-rf", "codex[bot]"),
    ],
)
def test_an_agent_without_a_task(branch: str, author: str) -> None:
    """It is refused, with what it must do."""
    with pytest.raises(NoTaskOnBranch) as caught:
        task_of(ProposedChange(branch, author), AGENTS)
    assert branch in caught.value.text
    assert caught.value.way_out == "agents push to agent/TASK_ID"
