"""Which task is taken up next."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.lifecycle import State, TaskStanding
from accordance.domain.node_progress import NodeProgress
from accordance.domain.records import Lease, TaskRecord
from accordance.domain.turns import NEW, RETURNED, TO_REVIEW, turn_of

LEASE = Lease(holder="somebody", until="2026-01-01T00:00:00.000000Z")


def a_task(state: State, **fields: Any) -> TaskRecord:
    """A task of a plan in a state."""
    usual: dict[str, Any] = {
        "task_id": "t",
        "plan_id": "p",
        "place": 0,
        "node_type": "ACTION",
        "title": "",
        "owner_agent_id": "",
        "priority": 0,
        "tags": (),
        "goal_statement": None,
        "rationale": None,
        "is_work": True,
        "checks": None,
        "is_checked": False,
        "progress": NodeProgress(standing=TaskStanding(state=state)),
    }
    return TaskRecord(**usual | fields)


@pytest.mark.parametrize(
    ("task", "turn"),
    [
        pytest.param(a_task(State.TO_BE_MODIFY), RETURNED, id="returned work first"),
        pytest.param(a_task(State.READY_TO_CHECK), TO_REVIEW, id="then reviews"),
        pytest.param(a_task(State.READY), NEW, id="then new work"),
        pytest.param(a_task(State.READY, is_work=False), None, id="a goal is not work"),
        pytest.param(a_task(State.PENDING), None, id="what waits for others"),
        pytest.param(a_task(State.DONE), None, id="what is done"),
        pytest.param(
            a_task(State.READY_TO_CHECK, is_checked=True),
            None,
            id="a CHECK of the plan reviews it",
        ),
        pytest.param(
            a_task(State.READY_TO_CHECK, lease=LEASE),
            None,
            id="it is being reviewed",
        ),
    ],
)
def test_the_turn_of_a_task(task: TaskRecord, turn: int | None) -> None:
    """Returned work, then reviews, then new work; everything else has no turn."""
    assert turn_of(task) == turn


def test_the_order_of_turns() -> None:
    """The ledger sorts by these numbers, so their order is the rule."""
    assert RETURNED < TO_REVIEW < NEW
