"""Attempts that begin at once never have more than their plan; none has less than alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.budgets import left_for_plan, left_for_task
from accordance.domain.fuses import Fuses
from accordance.domain.reservations import all_reserved, reservation, why_wait
from accordance.domain.spending import Spending
from accordance.domain.usage import Budget


@pytest.mark.parametrize(
    ("task", "plan", "reserved"),
    [
        pytest.param(Budget(), Budget(), None, id="no bounds, no reservation"),
        pytest.param(
            Budget(tokens=5), Budget(), None, id="a task's own bound is its own"
        ),
        pytest.param(
            Budget(), Budget(tokens=9), Budget(tokens=9), id="all that is left"
        ),
        pytest.param(
            Budget(tokens=5, cost=1.0),
            Budget(tokens=9),
            Budget(tokens=5),
            id="only what the plan bounds",
        ),
        pytest.param(
            Budget(cost=3.0), Budget(cost=2.0), Budget(cost=2.0), id="the lesser"
        ),
    ],
)
def test_an_attempt_reserves_what_it_may_use(
    task: Budget, plan: Budget, reserved: Budget | None
) -> None:
    """Of its plan's budget, and never more than is left for its task."""
    assert reservation(task, plan) == reserved


@pytest.mark.parametrize(
    ("wanted", "plan", "reserved", "why"),
    [
        (Budget(tokens=5), Budget(tokens=10), Budget(tokens=5), None),
        (
            Budget(tokens=5),
            Budget(tokens=10),
            Budget(tokens=6),
            (
                "tokens_per_run: it may use 5 tokens, and attempts in work leave 4; a lower"
                " tokens_per_task lets more tasks run at once"
            ),
        ),
        (
            Budget(tokens=5, cost=2.0),
            Budget(tokens=10, cost=3.0),
            Budget(tokens=0, cost=1.5),
            (
                "cost_per_run: it may cost 2.00, and attempts in work leave 1.50; a lower"
                " cost_per_task lets more tasks run at once"
            ),
        ),
        (Budget(cost=0.1), Budget(cost=0.1), Budget(tokens=0, cost=0.0), None),
        (Budget(cost=0.1), Budget(tokens=1, cost=0.3), Budget(cost=0.1), None),
    ],
)
def test_a_task_waits_while_others_hold_what_it_may_use(
    wanted: Budget, plan: Budget, reserved: Budget, why: str | None
) -> None:
    """It waits, says for which fuse, and what lets more run at once."""
    assert why_wait(wanted, plan, reserved) == why


amounts = st.integers(min_value=1, max_value=1_000)


@given(whole=amounts, tasks=st.lists(amounts, min_size=1, max_size=30))
def test_together_they_never_have_more_than_the_plan(
    whole: int, tasks: list[int]
) -> None:
    """Whatever comes in whatever order; and the first always begins."""
    plan = Budget(tokens=whole, cost=whole / 7)
    begun: list[Budget] = []
    for task in tasks:
        wanted = reservation(Budget(tokens=task, cost=task / 7), plan)
        assert wanted is not None
        if why_wait(wanted, plan, all_reserved(begun)) is None:
            begun.append(wanted)

    assert begun
    assert all_reserved(begun).tokens <= whole  # type: ignore[operator]
    assert all_reserved(begun).cost <= whole / 7 + 1e-9  # type: ignore[operator]


@pytest.mark.parametrize(
    ("runs", "fuses", "left"),
    [
        ([], Fuses(tokens_per_task=9), Budget(tokens=9)),
        ([Spending(read=4, calls=1)], Fuses(tokens_per_task=9), Budget(tokens=5)),
        ([Spending(cost=0.5, calls=1)], Fuses(cost_per_task=2), Budget(cost=1.5)),
        (
            [Spending(read=1, calls=1)],
            Fuses(cost_per_task=2, unpriced="run"),
            Budget(cost=2.0),
        ),
    ],
)
def test_what_is_left_for_a_task(
    runs: list[Spending], fuses: Fuses, left: Budget
) -> None:
    """The fuse, less what the runs since its last chance have used."""
    assert left_for_task(runs, fuses) == left


@pytest.mark.parametrize(
    ("runs", "fuses", "why"),
    [
        (
            [Spending(read=9, calls=1)],
            Fuses(tokens_per_task=9),
            "tokens_per_task: 9 of 9 tokens are used up",
        ),
        (
            [Spending(cost=2.5, calls=1)],
            Fuses(cost_per_task=2),
            "cost_per_task: 2.50 of 2.00 are used up",
        ),
        (
            [Spending(read=1, calls=3)],
            Fuses(cost_per_task=2),
            (
                "cost_per_task: the price of 3 of its calls is unknown; set `prices` in"
                " accordance.toml"
            ),
        ),
    ],
)
def test_why_nothing_is_left_for_a_task(
    runs: list[Spending], fuses: Fuses, why: str
) -> None:
    """The fuse is named, and what was used."""
    assert left_for_task(runs, fuses) == why


def test_what_is_left_for_a_plan() -> None:
    """What bounds nothing leaves everything."""
    fuses = Fuses(tokens_per_run=100)
    assert left_for_plan(fuses, tokens=30, cost=7.0) == Budget(tokens=70)
