"""The defects of the program the seeds come from (D1 to D21), each with a test that shows how it goes here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from accordance import (
    Accepted,
    Rejected,
    apply_fixes,
    check,
    check_value,
    read_tolerant,
)
from accordance.domain.fuses import Fuses
from accordance.domain.lifecycle import Event
from accordance.domain.plan import plan_graph
from accordance.domain.progress import begin
from accordance.domain.records import ArtifactRecord, MessageRecord, ReviewRecord, Rules
from accordance.project.home import Home
from accordance.store.opening import open_ledger
from accordance.store.sql import SqlLedger
from accordance.work.taking import NoTaskReason, Taken
from accordance.work.tasks import requeue
from tests.ledger.project import Clock, Project, asking, encoded, failing, idle, product
from tests.messages import (
    ACTION,
    PLAN,
    Message,
    changed,
    edge,
    node,
    plan,
    requirement,
    small_plan,
)
from tests.reviews import node_review


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A project on SQLite that must verify in the end."""
    clock = Clock()
    ledger = open_ledger(tmp_path / "ledger.db", clock=clock)
    project = Project(ledger, Home(tmp_path), clock)
    yield project
    with ledger.read() as tx:
        has_plan = bool(tx.plans())
    assert not has_plan or project.holds()
    ledger.close()


def wide_plan(*names: str) -> Message:
    return plan(
        [node("root", "GOAL"), *map(node, names)],
        [edge("root", name) for name in names],
    )


def accepted(message: Message) -> Any:
    result = check_value(message, "PLAN_GEN")
    assert isinstance(result, Accepted), result
    return result.value


# -- contracts


@pytest.mark.seed("001-33", "001-34")
def test_d1_aliases_of_the_plan_object_work() -> None:
    """D1: plan-object aliases never worked."""
    message = small_plan()
    head = message["plan"]
    message["plan"] = {
        "id": head["plan_id"],
        "name": head["title"],
        "owner": head["owner_agent_id"],
        "root": head["root_task_id"],
        "created": head["created_at"],
        "constraint": None,
    }
    assert (
        accepted(message).plan.model_dump() == accepted(small_plan()).plan.model_dump()
    )


def test_d2_the_root_stays_the_root() -> None:
    """D2: a root_task_id that is no UUID lost the real root; a new one was put above it."""
    value = accepted(small_plan())
    assert value.plan.root_task_id == "root"
    assert [one.task_id for one in value.nodes] == ["root", "a", "b"]


@pytest.mark.seed("001-28", "001-35")
def test_d3_every_step_of_a_start_end_chain_is_done_before_the_root() -> None:
    """D3: after START..END rewriting a root was DONE while steps three and four never ran."""
    steps = ["START", "s1", "s2", "s3", "s4", "END"]
    nodes = [node("root", "GOAL"), *(node(name) for name in steps[1:-1])]
    edges = [edge(one, other, "DEPENDS_ON") for one, other in pairwise(steps)]
    moving = begin(plan_graph(accepted(plan(nodes, edges))))
    for step in steps[1:-1]:
        assert moving.at["root"].state == "PENDING"
        for happens in (Event.CLAIMED, Event.PRODUCED, Event.APPROVED):
            moving.move(step, happens)
    assert moving.at["root"].state == "DONE"


@pytest.mark.parametrize(
    ("kind", "meant"), [("REQUIRES", "DEPENDS_ON"), ("CHILD_OF", "DECOMPOSE")]
)
def test_d4_edges_that_point_the_other_way_are_refused_with_a_fix(
    kind: str, meant: str
) -> None:
    """D4: REQUIRES and CHILD_OF were renamed without turning the edge round."""
    message = changed(small_plan(), "edges.2.edge_type", kind)
    message["edges"][2]["metadata"] = {"and_or": "AND"} if meant == "DECOMPOSE" else {}
    result = check_value(message, "PLAN_GEN")
    assert isinstance(result, Rejected)
    fixed: Any = apply_fixes(message, result.violations)
    turned = fixed["edges"][2]
    assert (turned["edge_type"], turned["from_task_id"], turned["to_task_id"]) == (
        meant,
        "b",
        "a",
    )


def test_d5_an_answer_for_another_task_is_refused(project: Project) -> None:
    """D5: an answer carrying another task's id was accepted and stored for this one."""
    project.runs(small_plan())
    told = project.submit("a", product("b")).content
    assert (told["status"], told["violations"][0]["code"]) == ("rejected", "wrong_task")
    with project.ledger.read() as tx:
        assert tx.find(ArtifactRecord, plan_id=PLAN) == []


@pytest.mark.parametrize(
    ("message", "scope"),
    [
        (changed(ACTION, "result_type", ["ARTIFACT"]), "TASK_ACTION"),
        (changed(node_review("a"), "action_required", ["APPROVE"]), "TASK_CHECK"),
    ],
)
def test_d6_lists_where_words_belong_are_a_violation(
    message: Message, scope: str
) -> None:
    """D6: lists as result_type or action_required crashed the contract."""
    result = check_value(message, scope)
    assert isinstance(result, Rejected)
    assert {one.path for one in result.violations} <= {
        "$.result_type",
        "$.action_required",
    }


def test_d7_long_chains_are_no_problem() -> None:
    """D7: the cycle check was recursive; chains of 5,000 failed."""
    names = [f"n{at}" for at in range(5000)]
    edges = [edge("root", name) for name in names]
    edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
    message = plan([node("root", "GOAL"), *map(node, names)], edges)
    assert len(begin(plan_graph(accepted(message))).at) == 5001
    message["edges"].append(edge(names[-1], names[0], "DEPENDS_ON"))
    assert isinstance(check_value(message, "PLAN_GEN"), Rejected)


def test_d8_trailing_commas_are_removed_by_the_tolerant_reader_only() -> None:
    """D8: the repair put a backslash and a 1 where the bracket was."""
    raw = json.dumps(ACTION).replace("}}", ",},}")
    assert isinstance(check(raw, "TASK_ACTION"), Rejected)
    value, repairs = read_tolerant(raw)
    assert value == ACTION
    assert len(repairs) == 2


@pytest.mark.parametrize("score", [95.5, 95.0, "95", True, None, [95]])
def test_d9_scores_are_never_changed(score: object) -> None:
    """D9: scores that were no plain integers silently became 0, and an approval a rejection."""
    result = check_value(changed(node_review("a"), "total_score", score), "TASK_CHECK")
    assert isinstance(result, Rejected)
    assert "$.total_score" in {one.path for one in result.violations}


def test_d10_a_plan_that_is_none_can_be_followed_by_one_that_is(
    project: Project,
) -> None:
    """D10: an invalid plan on the first attempt crashed instead of being tried again."""
    broken = check_value(
        changed(small_plan(), "edges.0.to_task_id", "nowhere"), "PLAN_GEN"
    )
    assert isinstance(broken, Rejected)
    assert broken.violations[0].path == "$.edges[0].to_task_id"
    assert project.imports(small_plan()).is_new


# -- the state machine


def test_d11_blocked_is_sticky(project: Project) -> None:
    """D11: a reviewer that always says 70 used 20 calls; the limit of 3 fired 8 times and held nothing."""
    project.runs(wide_plan("a"))
    reviews = 0
    for _ in range(30):
        taken = project.take()
        if not isinstance(taken, Taken):
            break
        if taken.kind == "action":
            project.submit("a", product("a", f"version {reviews}"))
        else:
            project.review("a", 70)
            reviews += 1
    assert (taken, project.state("a"), reviews) == (NoTaskReason.WAITING, "BLOCKED", 4)
    with project.ledger.write() as tx:
        tx.lock(PLAN)
        tx.inputs_missing("a", 1)
        tx.inputs_missing("a", 0)
    assert project.state("a") == "BLOCKED"
    assert len(project.questions()) == 1


def test_d12_a_failed_task_does_not_keep_the_loop_busy(project: Project) -> None:
    """D12: one FAILED task, and the loop idled to its limit, as the root counted as runnable."""
    project.runs(wide_plan("a"))
    project.submit("a", failing("a"), attempt=1)
    project.submit("a", failing("a"), attempt=2)
    assert (project.state("root"), project.take()) == ("PENDING", NoTaskReason.WAITING)


def test_d13_nothing_to_do_ends(project: Project) -> None:
    """D13: NOOP without an artifact went round until the budget was gone (10 calls)."""
    project.runs(wide_plan("a"))
    calls = 0
    while isinstance(taken := project.take(), Taken):
        project.submit("a", idle("a"))
        calls += 1
    assert (taken, calls, project.state("a")) == (NoTaskReason.WAITING, 2, "BLOCKED")


def test_d14_a_broken_review_leaves_a_check_in_a_state_of_checks(
    project: Project,
) -> None:
    """D14: a CHECK got the state READY_TO_CHECK, illegal by its own rules."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK")]
    project.runs(
        plan(
            nodes,
            [
                edge("root", "a"),
                edge("root", "check"),
                edge("a", "check", "DEPENDS_ON"),
            ],
        )
    )
    project.submit("a")
    project.takes()
    told = project.review_raw(
        "check", {**node_review("a"), "total_score": "95"}
    ).content
    assert (told["check_state"], told["state"]) == ("READY", "READY_TO_CHECK")
    assert project.review("check").content["check_state"] == "DONE"


def test_d15_a_failed_skill_can_be_run_again(project: Project) -> None:
    """D15: the idempotency key of a failed run made every repetition fail."""
    project.runs(wide_plan("a"))
    for _ in range(3):
        assert project.takes() == "a"
        told = project.submit("a", failing("a", "SKILL_FAILED"))
        assert (told.repeated, told.content["waiting"]) == (False, "WAITING_SKILL")
        project.answer(text="the skill is up again")
    project.takes()
    assert project.submit("a").content["state"] == "READY_TO_CHECK"


def test_d16_a_check_may_have_any_number_of_reviews(project: Project) -> None:
    """D16: cleaning up crashed as soon as a check had more reviews than the cap."""
    nodes = [node("root", "GOAL"), node("a"), node("check", "CHECK")]
    edges = [edge("root", "a"), edge("root", "check"), edge("a", "check", "DEPENDS_ON")]
    project.runs(plan(nodes, edges), Rules(fuses=Fuses(review_rounds=100)))
    for at in range(60):
        project.submit("a", product("a", f"version {at}"))
        project.review("check", at)
    with project.ledger.read() as tx:
        assert len(tx.find(ReviewRecord, check_task_id="check")) == 60
    assert project.state("a") == "TO_BE_MODIFY"


def test_d17_a_removed_input_is_no_evidence(project: Project) -> None:
    """D17: removed inputs still counted, and the task stayed READY."""
    project.runs({**small_plan(), "requirements": [requirement("a")]})
    file = project.put("sheet/prices.xlsx")
    project.takes(kinds=("CHECK",))
    assert project.state("a") == "READY"
    file.unlink()
    assert project.take() is NoTaskReason.WAITING
    assert project.state("a") == "PENDING"


def test_d18_no_version_of_a_product_is_overwritten(project: Project) -> None:
    """D18: the same name was the same file; ten rows named one, and the approved text was gone."""
    project.runs(wide_plan("a"))
    for at in range(3):
        project.submit("a", product("a", f"version {at}"))
        project.review("a", 60)
    folder = project.home.artifacts("a")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        f"report.v{at + 1}.md": f"version {at}" for at in range(3)
    }


def test_d19_an_answer_is_kept_before_the_next_one_comes(
    project: Project, tmp_path: Path
) -> None:
    """D19: a whole round was one transaction; a crash lost paid answers, and others were locked out for minutes."""
    project.runs(wide_plan("a", "b"))
    project.submit("a")
    other = open_ledger(
        tmp_path / "ledger.db", clock=project.clock
    )  # another process would see the same
    with other.read() as tx:
        (message,) = tx.find(MessageRecord, subject="a")
        assert tx.blob(message.sha256) == encoded(product("a"))
    assert Project(other, project.home, project.clock).submit("b").status == "accepted"
    other.close()
    assert project.states() == {
        "root": "PENDING",
        "a": "READY_TO_CHECK",
        "b": "READY_TO_CHECK",
    }


def test_d20_what_fails_is_told_kept_and_can_be_answered(project: Project) -> None:
    """D20: no failure propagation, no dead letters, no way to answer a task that waits for a person."""
    project.runs(small_plan())
    project.submit("a", asking("a"))
    project.answer(text="there is none")
    project.submit("a", failing("a", "LLM_REFUSAL"))
    project.answer(give_up=True)
    assert project.states() == {"root": "BLOCKED", "a": "DEAD_LETTER", "b": "PENDING"}
    assert "cannot finish" in project.questions()[0].text
    requeue(project.ledger, "a", by="me")
    project.finish("a", "b")
    assert (project.state("root"), project.questions()) == ("DONE", [])


# -- speed


def test_d21_finishing_a_node_costs_the_same_in_any_plan(tmp_path: Path) -> None:
    """D21: every round read every node with three queries and more; here the statements are counted."""
    asked = {}
    for size in (20, 2000):
        clock = Clock()
        ledger = open_ledger(tmp_path / f"{size}.db", clock=clock)
        names = [f"n{at}" for at in range(size)]
        edges = [edge("root", name) for name in names]
        edges += [edge(one, other, "DEPENDS_ON") for one, other in pairwise(names)]
        project = Project(ledger, Home(tmp_path / str(size)), clock)
        project.runs(plan([node("root", "GOAL"), *map(node, names)], edges))
        project.finish("n0")
        with_statements = count_statements(ledger)
        assert project.takes() == "n1"
        project.finish("n1")
        asked[size] = with_statements[0]
        ledger.close()
    assert asked[20] == asked[2000] > 0


def count_statements(ledger: SqlLedger) -> list[int]:
    """A count that goes up with every statement from now on, whoever sends it to SQLite."""
    counted = [0]

    def count(_statement: str) -> None:
        counted[0] += 1

    @event.listens_for(ledger.engine, "checkout")
    def watch(connection: Any, *_: object) -> None:
        connection.set_trace_callback(count)

    return counted
