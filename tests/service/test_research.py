"""Research as every face asks for it: values in, values out."""

from __future__ import annotations

import json

import pytest

from accordance.contracts.violation import Accepted, Rejected
from accordance.errors import Category, LedgerUnavailable, UnknownAgent
from accordance.service.project import Project
from accordance.service.research.agents import lint_agents, list_agents, propose_agents
from accordance.service.research.answers import (
    NoSelfCritique,
    acknowledge_selection,
    check_answers,
    expected_answers,
    plot_t_scores,
    report_on_answer,
    report_on_check,
)
from accordance.service.research.handoffs import UnusablePlan, join_handoffs
from accordance.service.research.inputs import check_message, load_agents
from accordance.service.research.ledger_runs import (
    collapse_in_ledger,
    keep_answers,
    kept_answers,
    prepare_answers,
)
from accordance.store.memory import MemoryLedger
from tests.unit.research import REGISTRY, answer, example, request


def raw(name: str) -> bytes:
    """An example as it comes in."""
    return json.dumps(example(name)).encode()


def test_agents() -> None:
    """The ones that come along have no faults; a name finds one of them."""
    registry = load_agents()
    assert not lint_agents().has_errors
    assert [agent.id for agent in list_agents(registry, "TA")] == ["theory-architect"]
    assert len(list_agents(registry)) == lint_agents().agents
    best, *_ = propose_agents(request(), registry, "en").proposals
    assert best.to_json()["agent_id"] == "theory-architect"
    with pytest.raises(UnknownAgent):
        list_agents(registry, "nobody")


@pytest.mark.parametrize(
    ("names", "refused", "awaits_a_person"),
    [
        pytest.param(["answer-1"], 0, False, id="accepted"),
        pytest.param(["answer-1", "answer-low"], 1, True, id="below the floor"),
        pytest.param(["answer-low", "request"], 2, False, id="not even an answer"),
    ],
)
def test_checked_answers(names: list[str], refused: int, awaits_a_person: bool) -> None:
    """A person is waited for only if nothing else is wrong."""
    expectations = expected_answers(REGISTRY, request())
    checked = check_answers([raw(name) for name in names], expectations)
    assert len(checked.refused) == refused
    assert len(checked.accepted) == len(names) - refused
    assert checked.awaits_a_person is awaits_a_person


def test_an_acknowledgement_lets_its_selection_pass() -> None:
    """Once it honours its own contract."""
    low = check_message(raw("answer-low"))
    assert isinstance(low, Accepted)
    assert isinstance(acknowledge_selection(low.value, "Kim", " "), Rejected)
    consent = acknowledge_selection(low.value, "Kim", "worth a try")
    assert isinstance(consent, Accepted)
    expectations = expected_answers(REGISTRY, request(), "ta", consent.value)
    assert not check_answers([raw("answer-low")], expectations).refused


def test_reports_and_plots() -> None:
    """In the language wanted, or else in that of the request, or else of the answer."""
    assert report_on_answer(answer(), "run", "markdown").language == "ko"
    report = report_on_answer(answer(), "t-scores", "html", request(), "zh")
    assert (report.language, report.accepted) == ("zh", True)
    check = report_on_check(b"{}", "x", "markdown", expected_answers(REGISTRY))
    assert (check.language, check.accepted) == ("en", False)
    plot = plot_t_scores(answer(), "text", language="en")
    assert "◀ selected" in plot.text
    assert plot.to_json()["selected"] == "통제-가치 이론"
    bare = answer().model_copy(update={"self_critique": None})
    with pytest.raises(NoSelfCritique) as caught:
        report_on_answer(bare, "self-critique", "markdown")
    assert caught.value.category is Category.NOT_FOUND


HANDOFFS = [raw("handoff-1"), raw("handoff-2")]
ANSWERS = [example("answer-question"), example("answer-1")]


def test_joined_handoffs() -> None:
    """Each on its own, then together, then as a plan."""
    joined = join_handoffs(HANDOFFS, request(), ANSWERS, REGISTRY)
    assert joined.each_accepted
    assert joined.workflow is not None
    assert joined.plan is not None
    assert joined.to_json()["accepted"] is True

    without_answers = join_handoffs(HANDOFFS, request(), [], REGISTRY)
    assert not without_answers.each_accepted
    assert without_answers.workflow is None

    out_of_order = join_handoffs(HANDOFFS[1:], request(), ANSWERS, REGISTRY)
    assert out_of_order.each_accepted
    assert [fault.code for fault in out_of_order.violations] == ["requires_missing"]

    nothing_left = join_handoffs(HANDOFFS[:1], request(), ANSWERS, REGISTRY)
    assert nothing_left.workflow is not None
    assert nothing_left.plan is None

    with pytest.raises(UnusablePlan, match=r"\$\.plan\.created_at"):
        join_handoffs(HANDOFFS, request(), ANSWERS, REGISTRY, created_at="soon")


def test_runs_in_a_ledger(empty: Project) -> None:
    """Kept once, counted by group, reported in the language of the selections."""
    answers = [raw("answer-1"), raw("answer-1")]
    prepared = prepare_answers(answers, request(), REGISTRY)
    keep_answers(empty, prepared.stored)
    summary = collapse_in_ledger(empty, "theory-architect", request())
    assert [row["total_runs"] for row in summary.to_json()] == [1]
    assert not summary.has_collapsed
    assert summary.language == "ko"
    assert summary.text("markdown").startswith("# 모드 붕괴 보고서\n")


def test_refused_answers_are_not_prepared() -> None:
    """Nor are the good ones beside them."""
    answers = [raw("answer-1"), raw("answer-low")]
    prepared = prepare_answers(answers, request(), REGISTRY)
    assert len(prepared.checked.refused) == 1
    assert prepared.stored == ()


def test_answers_need_a_database(empty: Project) -> None:
    """A ledger in memory keeps none."""
    with pytest.raises(LedgerUnavailable, match="kept in a database"):
        kept_answers(Project(empty.home, MemoryLedger(lambda: "2026-01-01T00:00:00Z")))
