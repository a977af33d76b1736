"""Where a task stands for a client outside: a table with a row for every state."""

from __future__ import annotations

from typing import Any

import pytest

from accordance.domain.client_tasks import (
    COMES_BACK,
    ENDS,
    PLAN_STAGES,
    STAGES,
    Stage,
    StageFacts,
    life_in,
    name_of,
    stage_of,
)
from accordance.domain.lifecycle import LIFECYCLE, TERMINAL, State
from accordance.domain.plan_lifecycle import PlanState


def test_every_state_has_a_row() -> None:
    """Of tasks and of plans; an archived plan is what it was before."""
    assert set(STAGES) == set(State)
    assert set(PLAN_STAGES) == set(PlanState) - {PlanState.ARCHIVED}


def test_only_what_is_over_is_an_end() -> None:
    """A2A's ends are for good: a state that the policy may leave is none."""
    assert {state for state in State if STAGES[state] in ENDS} == TERMINAL


def test_every_way_back_from_an_end_is_another_task() -> None:
    """An event that leaves an end is in the table of ways back, with that end."""
    ways = {
        (event, STAGES[state])
        for state in TERMINAL
        for event, target in LIFECYCLE[state].items()
        if target not in TERMINAL
    }
    assert ways == set(COMES_BACK.items())


@pytest.mark.parametrize(
    ("standing", "stage"),
    [
        ({"state": State.READY}, Stage.SUBMITTED),
        ({"state": State.READY, "has_begun": True}, Stage.WORKING),
        ({"state": State.FAILED, "has_begun": True}, Stage.WORKING),
        ({"state": State.IN_PROGRESS}, Stage.WORKING),
        ({"state": State.IN_PROGRESS, "is_with_client": True}, Stage.INPUT_REQUIRED),
        ({"state": State.BLOCKED, "asks": True}, Stage.INPUT_REQUIRED),
        (
            {"state": State.BLOCKED, "asks": True, "lacks_key": True},
            Stage.AUTH_REQUIRED,
        ),
        ({"state": State.DONE, "asks": True}, Stage.COMPLETED),
        ({"state": State.DEAD_LETTER}, Stage.FAILED),
        ({"state": State.DEAD_LETTER, "is_refused": True}, Stage.REJECTED),
        ({"state": State.BLOCKED, "is_refused": True}, Stage.INPUT_REQUIRED),
    ],
)
def test_a_task(standing: dict[str, Any], stage: Stage) -> None:
    """The row of its state, and what else is known of it."""
    assert stage_of(StageFacts(**standing)) is stage


@pytest.mark.parametrize(
    ("root", "plan", "more", "stage"),
    [
        (State.PENDING, PlanState.IN_REVIEW, {}, Stage.SUBMITTED),
        (State.PENDING, PlanState.IN_REVIEW, {"asks": True}, Stage.INPUT_REQUIRED),
        (State.PENDING, PlanState.RETURNED, {}, Stage.INPUT_REQUIRED),
        (State.PENDING, PlanState.ACTIVE, {}, Stage.SUBMITTED),
        (State.PENDING, PlanState.ACTIVE, {"has_begun": True}, Stage.WORKING),
        (State.PENDING, PlanState.PAUSED, {"has_begun": True}, Stage.WORKING),
        (State.DONE, PlanState.FINISHED, {"has_begun": True}, Stage.COMPLETED),
        (State.ABANDONED, PlanState.CANCELLED, {}, Stage.CANCELED),
        (State.DEAD_LETTER, PlanState.ACTIVE, {"has_begun": True}, Stage.FAILED),
    ],
)
def test_a_whole_plan(
    root: State, plan: PlanState, more: dict[str, Any], stage: Stage
) -> None:
    """Its root stands for it."""
    assert stage_of(StageFacts(state=root, plan_state=plan, **more)) is stage


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("a", ("a", 1)),
        ("a~2", ("a", 2)),
        ("a~1", ("a~1", 1)),
        ("a~02", ("a~02", 1)),
        ("~2", ("~2", 1)),
        ("a~", ("a~", 1)),
        ("a~b~3", ("a~b", 3)),
    ],
)
def test_names_of_lives(name: str, meant: tuple[str, int]) -> None:
    """A name says which life of a task is meant, and nothing is lost on the way."""
    assert life_in(name) == meant
    assert name_of(*meant) == name
