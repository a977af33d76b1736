"""No demand of a seed is without a test or a ruling, and nothing points at what is not there."""

from __future__ import annotations

import pytest

from tests.seeds.demands import SEEDS, TESTS, Demand, all_demands, all_mentions, defines

DEMANDS = all_demands()
MENTIONS = all_mentions()
DECISIONS = TESTS.parent / "docs" / "decisions"


def test_each_demand_has_an_id_of_its_own() -> None:
    """And belongs to a seed."""
    ids = [demand.id for demand in DEMANDS]
    assert len(set(ids)) == len(ids)
    assert {demand.seed for demand in DEMANDS} == set(SEEDS)


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: demand.id)
def test_a_demand_is_shown_by_a_test_or_set_aside_by_a_ruling(demand: Demand) -> None:
    """Mark the test that shows it with `@pytest.mark.seed(...)`, or name the decision in demands.tsv."""
    tests = [mention for mention in MENTIONS if mention.demand == demand.id]
    assert tests or demand.ruling


@pytest.mark.parametrize("demand", DEMANDS, ids=lambda demand: demand.id)
def test_the_code_and_the_ruling_of_a_demand_exist(demand: Demand) -> None:
    """`module.py::name` below src/accordance; the number of a decision below docs/decisions."""
    assert demand.code or demand.ruling
    assert [code for code in demand.code if not defines(code)] == []
    assert not demand.ruling or list(DECISIONS.glob(f"{demand.ruling}-*.md"))


def test_every_marker_names_a_demand_that_exists() -> None:
    """A slip in a marker would leave its demand without a test."""
    known = {demand.id for demand in DEMANDS}
    assert [mention for mention in MENTIONS if mention.demand not in known] == []
