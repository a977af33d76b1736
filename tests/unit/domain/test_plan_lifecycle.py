"""The life of a plan: one table, and the states that follow from elsewhere."""

from __future__ import annotations

import itertools

import pytest

from accordance.domain.lifecycle import State
from accordance.domain.plan_lifecycle import (
    IS_OVER,
    LETS_WORK_END,
    PLAN_LIFECYCLE,
    PlanEvent,
    PlanState,
    next_plan_state,
    visible_state,
)
from accordance.errors import IllegalTransition


@pytest.mark.parametrize(
    ("state", "event"), list(itertools.product(PlanState, PlanEvent))
)
def test_every_pair_is_decided(state: PlanState, event: PlanEvent) -> None:
    """A move is in the table, or it raises and says what would be possible."""
    legal = PLAN_LIFECYCLE[state].get(event)
    if legal is not None:
        assert next_plan_state(state, event) is legal
        return
    with pytest.raises(IllegalTransition) as caught:
        next_plan_state(state, event)
    assert caught.value.legal == tuple(PLAN_LIFECYCLE[state])
    assert f"is not possible for a plan that is {state}" in str(caught.value)


def test_what_must_hold() -> None:
    """A plan begins, and goes on, by an approval or a person's word only."""
    into_active = {
        event
        for state, row in PLAN_LIFECYCLE.items()
        for event, to in row.items()
        if to is PlanState.ACTIVE and state is not to
    }
    assert into_active == {PlanEvent.APPROVED, PlanEvent.WAIVED, PlanEvent.RESUMED}
    assert set(PLAN_LIFECYCLE) == set(PlanState)


def test_what_is_over_stays_over() -> None:
    """A plan that is over can be put away, and nothing else."""
    for state in IS_OVER:
        assert set(PLAN_LIFECYCLE[state]) == {PlanEvent.ARCHIVED}
    assert not IS_OVER & LETS_WORK_END


@pytest.mark.parametrize("stored", [PlanState.ACTIVE, PlanState.PAUSED, PlanState.HELD])
@pytest.mark.parametrize(
    ("root", "is_archived", "expected"),
    [
        pytest.param(State.PENDING, False, None, id="its stored state while it is under way"),
        pytest.param(State.DEAD_LETTER, False, None, id="its stored state while its root can be requeued"),
        pytest.param(State.DONE, False, PlanState.FINISHED, id="finished when its root is done"),
        pytest.param(State.ABANDONED, False, PlanState.CANCELLED, id="cancelled when its root was cancelled"),
        pytest.param(State.DONE, True, PlanState.ARCHIVED, id="archived, whatever it was before"),
    ],
)  # fmt: skip
def test_the_state_that_people_see(
    stored: PlanState, root: State, is_archived: bool, expected: PlanState | None
) -> None:
    """Finished, cancelled and archived follow from the root and the archive."""
    state = visible_state(stored, root, is_archived=is_archived)
    assert state is (expected or stored)
