"""Amending a plan that runs, on every ledger: rows, events, questions, and `verify`."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from accordance import Accepted, check_value
from accordance.domain.records import Rules
from accordance.errors import Conflict, InvalidFuses, PlanChanged, UnfitPlanState
from accordance.work import plan_life
from accordance.work.amending import amend_plan
from accordance.work.amendment_checks import (
    AmendmentRefused,
    AmendmentRequest,
    NothingToAmend,
    PreparedAmendment,
)
from accordance.work.tasks import retry
from tests.ledger.project import Project, failing
from tests.messages import PLAN, Message, edge, node, plan, requirement, small_plan

OTHER = "0b1d6a1e-51a5-4f0e-9d3e-8a3f64c00002"


def amend(
    project: Project,
    message: Message,
    *,
    base: int | None = None,
    fuses: dict[str, object] | None = None,
) -> PreparedAmendment:
    """Amend the plan, as it is in its current revision unless told otherwise."""
    result = check_value(json.loads(json.dumps(message)), "PLAN_GEN")
    assert isinstance(result, Accepted), result
    revision = project.plan().revision if base is None else base
    request = AmendmentRequest(plan=result.value, base=revision, fuses=fuses or {})
    prepared, _, _ = amend_plan(project.ledger, PLAN, request, by="ann", note="why not")
    return prepared


def plus_c(message: Message | None = None) -> Message:
    """The small plan with a task c behind a."""
    changed = copy.deepcopy(message or small_plan())
    changed["nodes"].append(node("c"))
    changed["edges"] += [edge("root", "c"), edge("a", "c", "DEPENDS_ON")]
    return changed


def with_goal(task: str, message: Message | None = None) -> Message:
    """The small plan in which a task has another goal."""
    changed = copy.deepcopy(message or small_plan())
    for one in changed["nodes"]:
        if one["task_id"] == task:
            one["goal_statement"] = "something else"
    return changed


def test_a_new_task_takes_its_turn(project: Project) -> None:
    """It waits, begins and ends like every other, and the goal waits for it."""
    project.runs(small_plan()).finish("a")
    prepared = amend(project, plus_c())
    assert prepared.amendment.difference.added == ("c",)
    assert project.states() == {
        "root": "PENDING",
        "a": "DONE",
        "b": "READY",
        "c": "READY",
    }
    project.finish("b")
    assert project.state("root") == "PENDING"
    project.finish("c")
    assert project.state("root") == "DONE"
    plan_now = project.plan()
    assert (plan_now.revision, plan_now.nodes) == (2, 4)


def test_a_task_goes_and_comes_back(project: Project) -> None:
    """A task in which nothing has happened can be removed; its id is free again."""
    project.runs(plus_c())
    amend(project, small_plan())
    assert "c" not in project.states()
    amend(project, plus_c())
    project.finish("a", "c", "b")
    assert project.state("root") == "DONE"


def test_an_attempt_at_another_task_goes_on(project: Project) -> None:
    """Its lease and its attempt stay; what it hands in counts."""
    project.runs(small_plan())
    project.take(holder="ben")
    lease = project.task("a").lease
    amend(project, with_goal("b"))
    assert (project.state("a"), project.task("a").lease) == ("IN_PROGRESS", lease)
    assert project.submit("a", attempt=1).status == "accepted"
    assert project.task("b").goal_statement == "something else"


def test_an_attempt_at_a_changed_task_is_handed_back(project: Project) -> None:
    """It is no failure; what the old attempt hands in is refused."""
    project.runs(small_plan())
    project.take(holder="ben")
    prepared = amend(project, with_goal("a"))
    assert prepared.handed_back == ("a",)
    assert (project.state("a"), project.task("a").lease) == ("READY", None)
    assert project.submit("a", attempt=1).status == "refused"
    assert project.submit("a", attempt=2).status == "accepted"


def test_the_event_says_who_and_what(project: Project) -> None:
    """With the document, the difference, the rules, and why."""
    project.runs(small_plan())
    amend(project, with_goal("b"), fuses={"attempts": 7})
    with project.ledger.read() as tx:
        (entry,) = [one for one in tx.entries(PLAN) if one.kind == "PLAN_AMENDED"]
        document = json.loads(tx.blob(str(entry.payload["document"])))
    payload: dict[str, Any] = dict(entry.payload)
    assert (payload["by"], payload["note"], payload["revision"]) == (
        "ann",
        "why not",
        2,
    )
    assert payload["difference"] == {
        "changed": [
            {
                "id": "b",
                "fields": [
                    {
                        "name": "goal_statement",
                        "before": None,
                        "after": "something else",
                    }
                ],
            }
        ],
        "fuses": [{"name": "attempts", "before": 3, "after": 7}],
    }
    assert document["nodes"][2]["goal_statement"] == "something else"
    assert project.plan().rules.fuses.attempts == 7


def test_messages_are_judged_by_the_rules_they_met(project: Project) -> None:
    """Also by `verify`, after the fuses were changed."""
    project.runs(small_plan(), Rules())
    project.submit("a", failing("a"), attempt=1)
    project.submit("a", failing("a"), attempt=2)
    assert project.state("a") == "BLOCKED"
    amend(project, small_plan(), fuses={"same_error": 9, "attempts": 9})
    retry(project.ledger, "a", by="ann")
    for attempt in (3, 4, 5):
        project.submit("a", failing("a"), attempt=attempt)
    assert project.state("a") == "READY"


def test_the_question_of_a_blocked_task_says_what_was_amended(project: Project) -> None:
    """Then it is answered, and goes on."""
    project.runs(small_plan())
    project.submit("a", failing("a", "LLM_REFUSAL"))
    amend(project, with_goal("a"))
    (question,) = project.questions()
    assert question.text.endswith("(since amended by ann: goal_statement)")
    project.answer(text="try again")
    assert project.state("a") == "READY"


def test_needs_come_and_go(project: Project) -> None:
    """A task waits for what it needs now, and for nothing else."""
    project.runs(small_plan())
    confirmation = requirement(
        "b", requirement_id="r2", kind="CONFIRMATION", name="yes"
    )
    amend(project, {**small_plan(), "requirements": [requirement("a"), confirmation]})
    assert project.state("a") == "PENDING"
    (question,) = project.questions()
    assert question.details == {"requirement_id": "r2"}
    project.put("sheet/prices.xlsx")
    assert project.takes() == "a"

    changed = {**requirement("a"), "min_count": 2}
    with pytest.raises(AmendmentRefused, match="requirement r1 has been answered"):
        amend(project, {**small_plan(), "requirements": [changed, confirmation]})
    amend(project, small_plan())
    assert (project.questions(), project.task("b").progress.missing_inputs) == ([], 0)


def test_two_amend_at_once(project: Project) -> None:
    """The second is told, and nothing of theirs is done."""
    project.runs(small_plan())
    amend(project, plus_c(), base=1)
    with pytest.raises(
        PlanChanged, match="it is in revision 2, the amendment was made for revision 1"
    ):
        amend(project, with_goal("b"), base=1)
    assert project.task("b").goal_statement is None


def test_a_returned_plan_that_is_amended_waits_for_its_review(project: Project) -> None:
    """One that is in review stays there, and asks once."""
    from accordance.work.plan_approval import return_plan

    project.imports(small_plan())
    amend(project, plus_c())
    return_plan(project.ledger, PLAN, by="ann", reasons=["more"])
    amend(project, small_plan())
    assert project.plan().state == "IN_REVIEW"
    assert len(project.questions()) == 1


def test_a_task_of_another_plan(project: Project) -> None:
    """Its id names it across plans."""
    text = json.dumps(
        plan([node("goal", "GOAL"), node("c")], [edge("goal", "c")], "goal")
    )
    project.imports(json.loads(text.replace(PLAN, OTHER)), waived_by="test")
    project.runs(small_plan())
    with pytest.raises(Conflict, match=f"task c already belongs to plan {OTHER}"):
        amend(project, plus_c())


REFUSED = [
    pytest.param(small_plan(), {}, NothingToAmend, "changes nothing", id="nothing changes"),
    pytest.param({**small_plan(), "plan": {**small_plan()["plan"], "title": "Autumn"}}, {}, AmendmentRefused, "the title of plan .* cannot be amended; keep it", id="another title"),
    pytest.param(with_goal("a", plus_c()), {}, AmendmentRefused, "task a is DONE, and done work stays as it is; add a task behind", id="a done task"),
    pytest.param(plan([node("root", "GOAL"), node("a")], [edge("root", "a")]), {}, AmendmentRefused, "task b is IN_PROGRESS and cannot be removed; wait until it ends", id="a running task is removed"),
    pytest.param(plan([node("root", "GOAL"), node("n")], [edge("root", "n")]), {}, AmendmentRefused, r"task a is DONE, and done work stays \(and 1 more\); keep a", id="several reasons"),
    pytest.param(plus_c(), {"atempts": 3}, InvalidFuses, "atempts", id="an unknown fuse"),
]  # fmt: skip


@pytest.mark.parametrize(("new", "fuses", "error", "why"), REFUSED)
def test_what_is_refused(
    on_sqlite: Project,
    new: Message,
    fuses: dict[str, object],
    error: type[Exception],
    why: str,
) -> None:
    """In one line, with the way out; nothing has changed."""
    on_sqlite.runs(small_plan()).finish("a")
    on_sqlite.take()
    head = on_sqlite.plan().head
    with pytest.raises(error, match=why):
        amend(on_sqlite, new, fuses=fuses)
    assert on_sqlite.plan().head == head
    assert on_sqlite.holds()


def test_what_is_over_is_not_amended(on_sqlite: Project) -> None:
    """A new plan is written for what is still to be done."""
    on_sqlite.runs(small_plan())
    plan_life.cancel(on_sqlite.ledger, PLAN, by="ann")
    with pytest.raises(
        UnfitPlanState, match="is CANCELLED and cannot be amended; import"
    ):
        amend(on_sqlite, plus_c())
