"""Fuses: what may be used up, and when that is too much."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from accordance.domain.fuses import (
    FUSES,
    Fuses,
    FuseSettings,
    Spent,
    blown_fuse,
    fuses_from,
)
from accordance.errors import InvalidFuses


def test_settings_become_fuses() -> None:
    """What is not said stays as it is; a bound that may be off can be."""
    assert fuses_from({}) == FUSES
    assert fuses_from({"attempts": 5, "calls_per_task": None}) == Fuses(
        attempts=5, calls_per_task=None
    )
    assert fuses_from({"cost_per_run": 2.5, "cost_per_task": 1}) == Fuses(
        cost_per_run=2.5, cost_per_task=1
    )


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        pytest.param(
            {"atempts": 3},
            "has no key 'atempts'; did you mean attempts",
            id="an unknown name",
        ),
        pytest.param(
            {"attempts": None},
            "attempts is a whole number from 1, got None",
            id="one that is never off",
        ),
        pytest.param(
            {"attempts": True},
            "attempts is a whole number from 1, got True",
            id="a truth value",
        ),
        pytest.param(
            {"attempts": 2.0},
            "attempts is a whole number from 1, got 2.0",
            id="a broken number",
        ),
        pytest.param(
            {"attempts": "3"}, "attempts is a whole number from 1, got '3'", id="a text"
        ),
        pytest.param(
            {"attempts": 0},
            "attempts is a whole number from 1, got 0",
            id="nothing at all",
        ),
        pytest.param(
            {"tokens_per_run": 1.5},
            "tokens_per_run is a whole number from 1, got 1.5",
            id="half a token",
        ),
        pytest.param(
            {"cost_per_run": "2"},
            "cost_per_run is a number above 0, got '2'",
            id="money as a text",
        ),
        pytest.param(
            {"cost_per_task": 0.0},
            "cost_per_task is a number above 0, got 0.0",
            id="no money",
        ),
        pytest.param(
            {"cost_per_task": float("nan")},
            "cost_per_task is a number above 0, got nan",
            id="no number",
        ),
        pytest.param(
            {"run_seconds": -1},
            "run_seconds is a whole number from 1, got -1",
            id="less than nothing",
        ),
    ],
)
def test_what_is_no_fuse(settings: dict[str, object], said: str) -> None:
    """Unknown names and values that bound nothing are refused by name."""
    with pytest.raises(InvalidFuses, match=said):
        fuses_from(settings)


@pytest.mark.parametrize(
    ("fuses", "spent", "reason"),
    [
        pytest.param(Fuses(), Spent(calls=10**6, seconds=10**6), None, id="no bounds"),
        pytest.param(
            Fuses(calls_per_run=3), Spent(calls=2, seconds=0), None, id="calls left"
        ),
        pytest.param(
            Fuses(calls_per_run=3),
            Spent(calls=3, seconds=0),
            "calls_per_run: 3 of 3 messages are used up",
            id="calls",
        ),
        pytest.param(
            Fuses(run_seconds=60), Spent(calls=9, seconds=59.9), None, id="time left"
        ),
        pytest.param(
            Fuses(run_seconds=60),
            Spent(calls=9, seconds=61.2),
            "run_seconds: 61 of 60 seconds are used up",
            id="time",
        ),
        pytest.param(
            Fuses(tokens_per_run=1000),
            Spent(calls=9, seconds=9, tokens=1200),
            "tokens_per_run: 1,200 of 1,000 tokens are used up",
            id="tokens",
        ),
        pytest.param(
            Fuses(cost_per_run=2.5),
            Spent(calls=9, seconds=9, cost=2.5),
            "cost_per_run: 2.50 of 2.50 are used up",
            id="money",
        ),
    ],
)
def test_when_a_fuse_blows(fuses: Fuses, spent: Spent, reason: str | None) -> None:
    """At the bound, not before."""
    assert blown_fuse(fuses, spent) == reason


def test_new_plans_have_fuses_that_stop_a_runaway() -> None:
    """Calls, time, tokens and money; a table that lacks them, of an old plan, has none."""
    new = fuses_from(FuseSettings().for_new_plan({}))
    limits = (
        "calls_per_run",
        "run_seconds",
        "tokens_per_task",
        "tokens_per_run",
        "cost_per_task",
        "cost_per_run",
    )
    assert all(getattr(new, name) is not None for name in limits)
    assert all(getattr(fuses_from({}), name) is None for name in limits)


@pytest.mark.parametrize(
    ("settings", "overrides"),
    [
        pytest.param({"run_seconds": False}, {}, id="by false in the file"),
        pytest.param({}, {"run_seconds": None}, id="by an option"),
        pytest.param({"run_seconds": 9}, {"run_seconds": None}, id="the option counts"),
    ],
)
def test_a_default_is_turned_off(
    settings: dict[str, object], overrides: dict[str, object]
) -> None:
    """The plan has no such limit, and all the others."""
    table = FuseSettings.model_validate(settings).for_new_plan(overrides)
    fuses = fuses_from(table)
    assert fuses.run_seconds is None
    assert fuses.calls_per_run == FuseSettings().calls_per_run


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"run_seconds": True}, id="true is no number"),
        pytest.param({"run_seconds": 0}, id="zero would let nothing begin"),
        pytest.param({"attempts": False}, id="attempts always end"),
    ],
)
def test_fuses_that_cannot_be_turned_off_like_that(settings: dict[str, object]) -> None:
    """Refused as any wrong value is."""
    with pytest.raises(ValidationError):
        FuseSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("settings", "overrides", "unpriced"),
    [
        pytest.param({}, {}, "run", id="a default is no reason to refuse a run"),
        pytest.param({"cost_per_run": 5}, {}, "refuse", id="set in the file"),
        pytest.param({}, {"cost_per_task": 5}, "refuse", id="set for this plan"),
        pytest.param({"attempts": 5}, {}, "run", id="another fuse is set"),
        pytest.param({"cost_per_run": False}, {}, "run", id="turned off in the file"),
        pytest.param({}, {"cost_per_run": None}, "run", id="turned off for this plan"),
        pytest.param(
            {"cost_per_run": 5, "unpriced": "run"}, {}, "run", id="chosen in the file"
        ),
    ],
)
def test_runs_of_unknown_price(
    settings: dict[str, object], overrides: dict[str, object], unpriced: str
) -> None:
    """Whoever chooses a limit on money wants it to hold; the defaults get in nobody's way."""
    table = FuseSettings.model_validate(settings).for_new_plan(overrides)
    assert fuses_from(table).unpriced == unpriced
    assert fuses_from({"cost_per_run": 5}).unpriced == "refuse"
