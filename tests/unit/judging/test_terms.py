"""The terms of a verdict: which rungs of the ladder an attempt has above it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accordance.domain.usage import Usage
from accordance.judging.attempt import JudgeOptions
from accordance.judging.terms import terms_for
from accordance.project.policy import JudgingPolicy
from tests.unit.cases import TASK_ID, a_task

TIERS = {"small": 3, "middle": 2, "large": 1}
POLICY = JudgingPolicy(tiers=TIERS, max_attempts=4)


@pytest.mark.parametrize(
    ("model", "upgrades", "tier"),
    [
        pytest.param("middle", False, 2, id="a model of the table"),
        pytest.param(
            "middle", True, 2, id="a model of the table, in a run that upgrades"
        ),
        pytest.param("odd", False, None, id="a model of no table has no tier"),
        pytest.param("odd", True, 4, id="a run that upgrades takes it for the weakest"),
        pytest.param(None, True, 4, id="and a model nobody names, too"),
    ],
)
def test_how_strong_the_model_is(
    model: str | None, upgrades: bool, tier: int | None
) -> None:
    options = JudgeOptions(
        gateway=POLICY, usage=Usage(model=model), upgrades_at_once=upgrades
    )
    terms = terms_for(a_task(), options, "agent")
    assert terms.history.standing.model_tier == tier


def test_without_a_table_no_model_is_the_weakest() -> None:
    options = JudgeOptions(gateway=JudgingPolicy(tiers={}), upgrades_at_once=True)
    terms = terms_for(a_task(), options, "agent")
    assert terms.history.standing.model_tier is None


@pytest.mark.parametrize(
    ("task_allows", "upgrades", "tiers"),
    [
        pytest.param(["small", "odd"], False, {3}, id="what the task allows"),
        pytest.param(["small"], True, {3}, id="also in a run that upgrades"),
        pytest.param(None, False, set(), id="no other model without a list"),
        pytest.param(None, True, {1, 2, 3}, id="a run that upgrades knows them all"),
    ],
)
def test_which_models_could_try_next(
    task_allows: list[str] | None, upgrades: bool, tiers: set[int]
) -> None:
    task = a_task().model_copy(update={"allowedModels": task_allows})
    options = JudgeOptions(gateway=POLICY, upgrades_at_once=upgrades)
    terms = terms_for(task, options, "agent")
    assert terms.history.standing.allowed_tiers == tiers


@pytest.mark.parametrize(
    ("role", "above"),
    [("doc", "engineer"), ("engineer", None)],
)
def test_which_role_is_above(role: str, above: str | None) -> None:
    options = JudgeOptions(gateway=POLICY)
    standing = terms_for(a_task(role=role), options, "agent").history.standing
    assert (standing.higher_role, standing.role_above) == (above is not None, above)


@pytest.mark.parametrize(
    ("options", "earlier"),
    [
        pytest.param({"earlier": ("CI_FAILED",)}, ("CI_FAILED",), id="they are given"),
        pytest.param({"earlier": ()}, (), id="it is given that there are none"),
        pytest.param({}, (), id="no bundle tells"),
    ],
)
def test_how_earlier_attempts_failed(
    options: dict[str, Any], earlier: tuple[str, ...]
) -> None:
    terms = terms_for(a_task(), JudgeOptions(attempt=2, **options), "agent")
    assert terms.history.earlier == earlier


@pytest.mark.parametrize(("number", "folder"), [(None, "attempt-2"), (5, "attempt-5")])
def test_a_bundle_has_the_number_of_its_run(
    tmp_path: Path, number: int | None, folder: str
) -> None:
    """Attempts that do not count have bundles, too, so the numbers may differ."""
    options = JudgeOptions(attempt=2, number=number, bundles=tmp_path)
    assert options.bundle_of(a_task()) == tmp_path / "artifacts" / TASK_ID / folder
    assert JudgeOptions(attempt=2, number=number).bundle_of(a_task()) is None
