"""Plans, without any face: bytes and names in, views out."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from accordance import Accepted, Rejected
from accordance.errors import InvalidFuses, LedgerDamaged, NotFound
from accordance.service import drawings, plan_intake, plans
from accordance.service.project import Project
from tests.messages import PLAN, Message, edge, node, plan, requirement, small_plan
from tests.reviews import plan_review
from tests.service.conftest import brings


def encoded(message: Message) -> bytes:
    return json.dumps(message).encode()


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        pytest.param(b"hello", "$", id="no message"),
        pytest.param(encoded(plan([], [])), "$.nodes", id="no nodes"),
    ],
)
def test_what_is_no_plan(raw: bytes, path: str) -> None:
    """Comes back as a value, with every reason."""
    result = plan_intake.check_plan(raw)
    assert isinstance(result, Rejected)
    assert path in {violation.path for violation in result.violations}


def test_checking_leaves_the_collector_as_it_was(empty: Project) -> None:
    """A server goes on for weeks after it has read a plan."""
    assert gc.isenabled()
    brings(empty, small_plan())
    plan_intake.check_plan(b"hello")
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("tags", "warned"),
    [
        pytest.param(["code"], ["$.nodes[1].colour"], id="a change"),
        pytest.param([], ["$.nodes[1].colour", "$.nodes[1].task"], id="no change"),
    ],
)
def test_the_key_of_a_change_is_no_surprise(tags: list[str], warned: list[str]) -> None:
    """The contract of plans does not name it, but accordance reads it."""
    extras = {"task": {"goal": "round"}, "colour": "blue"}
    change = {**node("a", tags=tags), **extras}
    message = plan([node("root", "GOAL"), change], [edge("root", "a")])
    accepted = plan_intake.check_plan(encoded(message))
    assert isinstance(accepted, Accepted)
    assert sorted(notice.path for notice in accepted.warnings) == warned
    assert accepted.total_warnings == len(warned)


def test_a_preview_keeps_nothing(empty: Project) -> None:
    """It says what could begin; a task that waits for an input could not."""
    message = {**small_plan(), "requirements": [requirement("a")]}
    accepted = plan_intake.check_plan(encoded(message))
    assert isinstance(accepted, Accepted)
    assert plan_intake.preview_import(accepted).ready == ()
    free = plan_intake.check_plan(encoded(small_plan()))
    assert isinstance(free, Accepted)
    assert plan_intake.preview_import(free).ready == ("a",)
    assert plans.list_plans(empty).items == ()


def test_an_import(empty: Project) -> None:
    """Shows the plan, writes it into the project, and changes nothing the second time."""
    first = brings(empty, small_plan(), waived_by=None)
    again = brings(empty, small_plan(), waived_by=None)
    assert (first.plan_id, first.state, first.is_new, again.is_new) == (
        PLAN,
        "IN_REVIEW",
        True,
        False,
    )
    assert json.loads(empty.home.plan_file.read_text())["plan"]["plan_id"] == PLAN
    (entry,) = plans.list_plans(empty).items
    assert (entry.plan_id, entry.root) == (PLAN, "PENDING")


def test_a_fuse_nobody_knows(empty: Project) -> None:
    """Is refused before anything is kept."""
    with pytest.raises(InvalidFuses):
        plan_intake.rules_for(empty.home, {"attemps": 1})


def test_a_review_moves_the_plan(empty: Project) -> None:
    """The answer and the plan say the same; the verdict has the one shape of all verdicts."""
    brings(empty, small_plan(), waived_by=None)
    answer = plan_intake.review_plan(empty, encoded(plan_review(95)))
    assert (answer.status, answer.state, answer.outcome) == (
        "accepted",
        "ACTIVE",
        "DONE",
    )
    (verdict,) = plans.show_plan(empty).verdicts
    assert (verdict.task_id, verdict.by, verdict.attempt, verdict.is_done) == (
        PLAN,
        "PLAN_REVIEW",
        1,
        True,
    )


def test_where_a_plan_stands(project: Project) -> None:
    """As typed values, and the same as JSON."""
    status = plans.plan_status(project.ledger, PLAN)
    assert status.states == {"PENDING": 2, "READY": 1}
    assert status.to_json()["states"] == {"PENDING": 2, "READY": 1}
    assert json.loads(json.dumps(status.to_json())) == status.to_json()


def test_a_drawing(project: Project) -> None:
    """Nodes with their states, and what ties them together."""
    drawing = drawings.draw_plan(project)
    nodes = {drawn.task_id: drawn for drawn in drawing.view().nodes}
    assert (nodes["a"].state, nodes["b"].state) == ("READY", "PENDING")
    assert nodes["b"].prerequisites == ("a",)
    assert nodes["root"].parts == ("a", "b")


def test_a_drawing_of_a_plan_that_has_not_begun() -> None:
    """The second of two alternatives waits; it has not been given up."""
    nodes = [node("root", "GOAL"), node("a"), node("b")]
    edges = [
        edge("root", "a"),
        edge("root", "b"),
        edge("root", "a", "ALTERNATIVE", group_id="way"),
        edge("root", "b", "ALTERNATIVE", group_id="way"),
    ]
    accepted = plan_intake.check_plan(encoded(plan(nodes, edges)))
    assert isinstance(accepted, Accepted)
    drawing = drawings.draw_new_plan(accepted.value)
    assert drawing.states == {"root": "PENDING", "a": "READY", "b": "PENDING"}


def test_a_goal_is_named_by_its_id_or_title(project: Project) -> None:
    """A task without parts is no goal, and neither is what nobody knows."""
    drawing = drawings.draw_plan(project)
    assert drawing.goal("root") == "root"
    assert drawing.goal(drawing.plan.nodes[0].title) == "root"
    for name in ("a", "roots"):
        with pytest.raises(NotFound, match=f"no goal '{name}'"):
            drawing.goal(name)


def test_a_plan_that_was_damaged(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is not drawn."""
    monkeypatch.setattr(drawings, "check_plan", lambda _: Rejected((), 0, "PLAN_GEN"))
    with pytest.raises(LedgerDamaged, match=f"the document of plan {PLAN}"):
        drawings.draw_plan(project)


def test_an_export(project: Project, tmp_path: Path) -> None:
    """A dry run names the folder and writes nothing."""
    folder = tmp_path / "out"
    tried = plans.export(project, None, folder, dry_run=True)
    assert (tried.to_json(), folder.exists()) == (
        {"folder": str(folder), "files": []},
        False,
    )
    written = plans.export(project, None, folder)
    assert (written.plan_id, written.is_complete) == (PLAN, False)
    assert json.loads((folder / "manifest.json").read_text())["plan_id"] == PLAN
