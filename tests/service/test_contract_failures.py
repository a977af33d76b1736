"""How often contracts are broken, and research as data for pictures."""

from __future__ import annotations

import pytest

from accordance.errors import UnknownContract
from accordance.service import tasks
from accordance.service.contract_failures import contract_failures
from accordance.service.project import Project
from accordance.service.research.ledger_runs import keep_answers, prepare_answers
from accordance.service.research.pictures import (
    collapse_trends,
    handoff_chain,
    t_score_plots,
)
from tests.ledger.project import encoded, failing, product
from tests.service.test_task_pages import ANNA
from tests.unit.research import REGISTRY, example, request


def test_failures_of_a_contract(project: Project) -> None:
    """By field and by worker, with an example; other contracts are apart."""
    broken = {**product("a"), "result_type": "DONE_SOMEHOW"}
    for message in (broken, product("a")):
        tasks.take_task(project, ANNA)
        tasks.submit(project, encoded(message))
    failures = contract_failures(project, "xiaobo_action_v1")
    assert (failures.messages, failures.rejected) == (2, 1)
    (anna,) = failures.by_agent
    assert (anna.agent, anna.messages, anna.rejected) == ("anna", 2, 1)
    assert "$.result_type" in {field.path for field in failures.by_field}
    (shown,) = failures.examples
    assert (shown.subject, shown.attempt, shown.agent) == ("a", 1, "anna")
    assert contract_failures(project, "xiaojing_review_v1").messages == 0
    with pytest.raises(UnknownContract):
        contract_failures(project, "nothing_v9")


def test_an_error_is_no_broken_contract(project: Project) -> None:
    """An agent that failed has kept to the form."""
    tasks.take_task(project, ANNA)
    tasks.submit(project, encoded(failing("a")))
    failures = contract_failures(project, "xiaobo_action_v1")
    assert (failures.messages, failures.rejected, failures.examples) == (1, 0, ())


def test_t_scores_and_trends(empty: Project) -> None:
    """Options from the least to the most typical; the trend follows the runs."""
    raw = encoded(example("answer-1"))
    prepared = prepare_answers([raw], request(), REGISTRY)
    keep_answers(empty, prepared.stored)
    (plot,) = t_score_plots(empty).items
    scores = [option.t_score for option in plot.options]
    assert scores == sorted(scores)
    assert sum(option.is_selected for option in plot.options) == 1
    (trend,) = collapse_trends(empty).items
    assert (trend.runs, trend.points[0].top_share) == (1, 1.0)
    assert t_score_plots(empty, "nobody").items == ()


def test_a_plan_without_handoffs(project: Project) -> None:
    """Has no chain."""
    chain = handoff_chain(project, None)
    assert (chain.nodes, chain.edges) == ((), ())
