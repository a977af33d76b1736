"""A verdict can be recomputed from what was written down."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.case import Breach
from accordance.domain.escalation import LadderPosition, Level
from accordance.domain.judging import History
from accordance.domain.roles import ROLES
from accordance.domain.terms import Terms, case_under, terms_from, terms_to_json
from accordance.domain.test_policy import Consequence, TestPolicy
from accordance.domain.usage import Budget, Usage
from accordance.errors import InvalidTerms
from accordance.gates.running import verdict_on
from tests.unit.cases import FACTS, a_case

TERMS = Terms(
    role=replace(ROLES["engineer"], max_attempts=5),
    history=History(
        LadderPosition(
            max_attempts=3,
            model_tier=2,
            allowed_tiers=frozenset((2, 1)),
            level=Level.MODEL_UPGRADE,
        ),
        ("CI_FAILED: make test",),
    ),
    usage=Usage(tokens=7, model="glm-4.7", tools=frozenset(("edit", "read"))),
    budget=Budget(cost=1.5),
    breaches=(Breach("POLICY_VIOLATION", "asked the network"),),
    own_tests=("make test",),
    submitted_by="accordance",
    test_policy=TestPolicy(do_not_tell=Consequence.REFUSE),
    is_rebase=True,
)


def test_terms_survive_being_written_down() -> None:
    """Every value, and so every verdict."""
    again = terms_from(terms_to_json(TERMS))
    case = a_case()
    assert again == TERMS
    assert verdict_on(
        case_under(again, case.task, case.submission, FACTS), again.history
    ) == verdict_on(case_under(TERMS, case.task, case.submission, FACTS), TERMS.history)


@pytest.mark.parametrize("raw", ["", "[]", "{}", '{"role": 1}'])
def test_terms_that_cannot_be_read(raw: str) -> None:
    """Refused in one line."""
    with pytest.raises(InvalidTerms, match="no terms of a verdict"):
        terms_from(raw)
