"""What a face can ask of a plan as a whole, and what it gets to show."""

from __future__ import annotations

import json

import pytest

from accordance.contracts.violation import Rejected
from accordance.errors import PlanChanged
from accordance.service import (
    inbox,
    plan_amending,
    plan_deleting,
    plan_life,
    plans,
    task_records,
)
from accordance.service.listing import ListQuery
from accordance.service.plan_amending import PlanAmendment, TaskEdit
from accordance.service.plan_files import PlanFile, read_plan_file
from accordance.service.project import Project
from accordance.work.taking import Taken, take_next
from tests.messages import PLAN, Message, edge, node, small_plan
from tests.service.conftest import brings


def plus_c() -> Message:
    """The small plan with a task more, and without an edge."""
    message = small_plan()
    message["nodes"].append(node("c"))
    message["edges"][2] = edge("root", "c")
    return message


def plan_file(text: str) -> PlanFile:
    """A plan as a person has written it."""
    return read_plan_file("plan.json", text.encode())


def amendment(
    project: Project,
    message: Message | None = None,
    edits: dict[str, TaskEdit] | None = None,
) -> PlanAmendment:
    file = None if message is None else plan_file(json.dumps(message))
    text = plan_amending.amended_text(project, None, file, edits)
    checked = plan_amending.check_amendment(project, text, {"attempts": 5})
    assert not isinstance(checked, Rejected), checked
    return checked


def test_the_life_of_a_plan(empty: Project) -> None:
    """Every act shows the plan as it is then."""
    brings(empty, small_plan(), waived_by=None)
    assert (
        plan_life.return_plan(empty, None, by="ann", reasons=["x"]).state == "RETURNED"
    )
    assert plan_life.approve_plan(empty, None, by="ann").state == "ACTIVE"
    assert plan_life.pause_plan(empty, None, by="ann").state == "PAUSED"
    assert plan_life.resume_plan(empty, None, by="ann").state == "ACTIVE"
    assert plan_life.cancel_plan(empty, None, by="ann").state == "CANCELLED"
    assert plan_life.archive_plan(empty, None, by="ann").state == "ARCHIVED"
    assert plans.list_plans(empty).items == ()
    assert task_records.list_tasks(empty).items == ()
    by_plan = ListQuery(filter=f"plan:{PLAN}")
    assert len(task_records.list_tasks(empty, by_plan).items) == 3
    answered = ListQuery(filter="state:answered")
    assert inbox.list_questions(empty, answered).items == ()
    answered = ListQuery(filter=f"state:answered plan:{PLAN}")
    assert len(inbox.list_questions(empty, answered).items) == 1
    (archived,) = plans.list_plans(empty, ListQuery(filter="state:archived")).items
    assert (
        plan_life.unarchive_plan(empty, archived.plan_id, by="ann").state == "CANCELLED"
    )
    (cancelled,) = plans.list_plans(empty, ListQuery(filter="state:cancelled")).items
    assert cancelled.plan_id == PLAN


def test_an_amendment_as_values(project: Project) -> None:
    """The same before and after it is done; only then it counts."""
    taken = take_next(project.ledger, [], holder="ben")
    assert isinstance(taken, Taken)
    wanted = amendment(project, plus_c(), {"a": TaskEdit(goal="better")})
    looked = plan_amending.preview_amendment(project, wanted)
    assert looked.to_json() == {
        "plan_id": PLAN,
        "title": "Spring catalogue",
        "base": 1,
        "revision": 2,
        "added": [{"task_id": "c", "title": "Task c"}],
        "removed": [],
        "changed": [
            {
                "task_id": "a",
                "title": "Task a",
                "state": "IN_PROGRESS",
                "fields": [
                    {"name": "goal_statement", "before": None, "after": "better"}
                ],
            }
        ],
        "links_added": [
            {
                "edge_type": "DECOMPOSE",
                "from_task_id": "root",
                "to_task_id": "c",
                "and_or": "AND",
                "group_id": None,
            }
        ],
        "links_removed": [
            {
                "edge_type": "DEPENDS_ON",
                "from_task_id": "a",
                "to_task_id": "b",
                "and_or": None,
                "group_id": None,
            }
        ],
        "needs_added": [],
        "needs_removed": [],
        "needs_changed": [],
        "fuses": [{"name": "attempts", "before": 3, "after": 5}],
        "handed_back": ["a"],
        "moves": [
            {"task_id": "a", "before": "IN_PROGRESS", "after": "READY"},
            {"task_id": "b", "before": "PENDING", "after": "READY"},
        ],
        "is_done": False,
    }
    assert plans.show_plan(project).revision == 1
    done = plan_amending.amend_plan(project, wanted, by="ann")
    assert done.to_json() == {**looked.to_json(), "is_done": True}
    assert plans.show_plan(project).revision == 2
    with pytest.raises(PlanChanged):
        plan_amending.amend_plan(project, wanted, by="ben")


def test_edits_of_what_is_no_plan(project: Project) -> None:
    """Its faults are reported, as without edits."""
    edits = {"a": TaskEdit(goal="better")}
    text = plan_amending.amended_text(project, None, plan_file("- no plan"), edits)
    assert isinstance(plan_amending.check_amendment(project, text, {}), Rejected)


def test_a_removed_task_is_shown_by_its_title(project: Project) -> None:
    """Which only the old plan knows."""
    message = small_plan()
    del message["nodes"][2]
    message["edges"] = message["edges"][:1]
    view = plan_amending.amend_plan(project, amendment(project, message), by="ann")
    assert [task.title for task in view.removed] == ["Task b"]


def test_a_deletion_as_values(project: Project) -> None:
    """Files and bytes before; the plan is gone after."""
    folder = project.home.artifacts("a")
    folder.mkdir(parents=True)
    (folder / "a.v1.md").write_text("text")
    plan_life.cancel_plan(project, None, by="ann")
    looked = plan_deleting.preview_deletion(project, PLAN[:4], removes_evidence=True)
    (shown,) = looked.folders
    assert (shown.path, shown.files, shown.bytes) == ("workspace/artifacts/a", 1, 4)
    assert (looked.evidence, looked.is_done) == ("removed", False)
    deleted = plan_deleting.delete_plan(project, PLAN, by="ann", removes_evidence=True)
    assert (deleted.head, deleted.is_done) == (looked.head, True)
    assert (plans.list_plans(project).items, folder.exists()) == ((), False)
