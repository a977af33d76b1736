"""What a run may cost where nobody knows the price of its model."""

from __future__ import annotations

import pytest

from accordance.domain.executor_specs import CommandSpec, LlmSpec
from accordance.domain.fuses import Fuses, FuseSettings, fuses_from
from accordance.domain.routing import Choice
from accordance.domain.usage import Budget
from accordance.runtime.budgets import priced_budget

NEW_PLAN = fuses_from(FuseSettings().for_new_plan({}))
UNKNOWN = LlmSpec(kind="llm", model="nobody-knows-this")
PROGRAM = CommandSpec(kind="command", command=["true"])


def asked(spec: LlmSpec | CommandSpec) -> Choice:
    """An executor that does the work."""
    return Choice(
        executor="m",
        spec=spec,
        model=getattr(spec, "model", None),
        tier=None,
        tiers={},
        contract="",
        prompt="",
    )


@pytest.mark.parametrize(
    ("fuses", "left"),
    [
        pytest.param(
            NEW_PLAN, Budget(tokens=5), id="a default binds only known prices"
        ),
        pytest.param(
            Fuses(cost_per_run=1, unpriced="run"),
            Budget(tokens=5),
            id="somebody lets it run",
        ),
    ],
)
def test_a_run_of_unknown_price_that_begins(fuses: Fuses, left: Budget) -> None:
    """Only its tokens are bounded."""
    budget = Budget(tokens=5, cost=1.0)
    assert priced_budget(asked(UNKNOWN), budget, fuses) == left


def test_a_run_of_unknown_price_that_does_not_begin() -> None:
    """Somebody has set a limit on money: the way out is named."""
    why = priced_budget(asked(UNKNOWN), Budget(cost=1.0), Fuses(cost_per_run=1))
    assert isinstance(why, str)
    assert "set [executors.m.prices]" in why


@pytest.mark.parametrize(
    ("spec", "budget"),
    [
        pytest.param(UNKNOWN, Budget(tokens=5), id="no limit on money"),
        pytest.param(PROGRAM, Budget(cost=1.0), id="a program, which costs nothing"),
    ],
)
def test_a_run_whose_price_does_not_matter(
    spec: LlmSpec | CommandSpec, budget: Budget
) -> None:
    """It has the budget that is left."""
    assert priced_budget(asked(spec), budget, Fuses()) == budget
