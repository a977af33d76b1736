"""What a person does with a plan as a whole: approve, return, pause, cancel, archive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from accordance.domain.filters import Filter
from accordance.domain.fuses import Fuses
from accordance.domain.paging import PageRequest
from accordance.domain.plan_lifecycle import PlanState
from accordance.domain.records import PlanRecord, Rules
from accordance.domain.ruling import QuestionKind
from accordance.errors import Conflict, PlanArchived, UnfitPlanState
from accordance.store.ledger import Ledger
from accordance.store.listings import QUESTION_LIST, TASK_LIST, Listing
from accordance.work import plan_approval, plan_life
from accordance.work.person_answers import EmptyAnswer
from accordance.work.taking import NoTaskReason
from accordance.work.tasks import cancel as cancel_task
from tests.ledger.project import Project, asking, failing
from tests.messages import PLAN, small_plan
from tests.reviews import plan_review


def state(project: Project) -> PlanState:
    """The state that people see."""
    with project.ledger.read() as tx:
        return plan_life.state_of(tx, tx.plan(PLAN))


def approve(ledger: Ledger) -> PlanRecord:
    return plan_approval.approve(ledger, PLAN, by="ann", note="go ahead")


def return_(ledger: Ledger) -> PlanRecord:
    return plan_approval.return_plan(ledger, PLAN, by="ann", reasons=["too long"])


def pause(ledger: Ledger) -> PlanRecord:
    return plan_life.pause(ledger, PLAN, by="ann", reason="lunch")


def resume(ledger: Ledger) -> PlanRecord:
    return plan_life.resume(ledger, PLAN, by="ann")


def cancel(ledger: Ledger) -> PlanRecord:
    return plan_life.cancel(ledger, PLAN, by="ann", reason="not needed")


def archive(ledger: Ledger) -> PlanRecord:
    return plan_life.archive(ledger, PLAN, by="ann")


def unarchive(ledger: Ledger) -> PlanRecord:
    return plan_life.unarchive(ledger, PLAN, by="ann")


# -- approving


def test_a_plan_that_waits_asks_a_person(project: Project) -> None:
    """Its question is there until the review comes, from wherever."""
    project.imports(small_plan())
    (question,) = project.questions(QuestionKind.APPROVAL)
    assert question.text == "the plan waits for its review"
    assert project.review_plan().content["state"] == "ACTIVE"
    assert project.questions() == []


def test_a_person_approves_their_own_plan(project: Project) -> None:
    """Who did it, and what they remarked, is in the chain."""
    project.imports(small_plan())
    assert approve(project.ledger).state is PlanState.ACTIVE
    with project.ledger.read() as tx:
        (entry,) = [one for one in tx.entries(PLAN) if one.kind == "PLAN_APPROVED"]
    assert entry.payload == {"by": "ann", "note": "go ahead"}
    assert project.questions() == []
    assert project.takes() == "a"


def test_a_person_returns_a_plan(project: Project) -> None:
    """A better one is imported then, and asks anew; or it is approved after all."""
    project.imports(small_plan())
    returned = return_(project.ledger)
    assert (returned.state, returned.rounds) == (PlanState.RETURNED, 1)
    assert project.questions() == []
    better = small_plan()
    better["nodes"][1]["goal_statement"] = "better"
    project.imports(better)
    assert [question.kind for question in project.questions()] == ["APPROVAL"]
    return_(project.ledger)
    assert approve(project.ledger).state is PlanState.ACTIVE


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param({"approve": True, "text": "fine"}, PlanState.ACTIVE, id="an approval"),
        pytest.param({"text": "split task a"}, PlanState.RETURNED, id="what has to change"),
        pytest.param({"give_up": True}, PlanState.CANCELLED, id="giving the plan up"),
    ],
)  # fmt: skip
def test_the_question_can_be_answered(
    project: Project, answer: dict[str, object], expected: PlanState
) -> None:
    """The answer does what the command does."""
    project.imports(small_plan())
    project.answer(**answer)
    assert state(project) is expected
    assert project.questions() == []


def test_an_empty_answer_is_refused(project: Project) -> None:
    """And the question stays."""
    project.imports(small_plan())
    with pytest.raises(EmptyAnswer, match="asks for the review of a plan"):
        project.answer()
    assert len(project.questions()) == 1


def test_a_held_review_is_decided_by_a_person(project: Project) -> None:
    """The question of the review closes with it; a plan that is asked for again asks."""
    project.imports(small_plan())
    project.review_plan(plan_review(60, "REQUEST_EXTERNAL_INPUT"))
    assert [question.kind for question in project.questions()] == ["PLAN"]
    with pytest.raises(UnfitPlanState, match="held by its review"):
        resume(project.ledger)
    project.answer(text="it is in the drawer")
    assert [question.kind for question in project.questions()] == ["APPROVAL"]
    project.review_plan(plan_review(60, "REQUEST_EXTERNAL_INPUT"))
    approve(project.ledger)
    assert project.questions() == []


# -- pausing


def test_a_paused_plan_begins_nothing(project: Project) -> None:
    """What is in work comes to its end; then nothing moves until it is resumed."""
    project.runs(small_plan())
    assert project.takes() == "a"
    pause(project.ledger)
    assert project.submit("a").status == "accepted"
    assert project.take() is NoTaskReason.PAUSED
    refused = project.review("a")
    assert (refused.status, "is PAUSED" in str(refused.content["why"])) == (
        "refused",
        True,
    )
    resume(project.ledger)
    assert project.review("a").content["state"] == "DONE"
    assert project.takes() == "b"


def test_a_pause_leaves_the_fuses_as_they_are(project: Project) -> None:
    """Its time does not count, and what was used up stays used up."""
    rules = Rules(fuses=Fuses(run_seconds=100, calls_per_run=5))
    project.runs(small_plan(), rules)
    project.finish("a")
    used = project.plan().calls
    project.clock.pass_by(60)
    pause(project.ledger)
    project.clock.pass_by(1000)
    resume(project.ledger)
    assert (project.plan().calls, project.plan().paused_at) == (used, None)
    assert project.takes() == "b"
    project.clock.pass_by(60)
    assert project.take() is NoTaskReason.HELD


def test_a_pause_before_anything_began(project: Project) -> None:
    """Nothing has to be left out."""
    project.runs(small_plan())
    pause(project.ledger)
    assert resume(project.ledger).run_started_at is None


# -- the end


def test_a_plan_whose_root_is_done_is_finished(project: Project) -> None:
    """Whatever its stored state says."""
    project.runs(small_plan())
    project.finish("a")
    assert state(project) is PlanState.ACTIVE
    project.finish("b")
    assert state(project) is PlanState.FINISHED
    assert project.take() is NoTaskReason.FINISHED


def test_a_cancelled_plan(project: Project) -> None:
    """Done work stays done, everything else is abandoned, and late work is refused."""
    project.runs(small_plan())
    project.finish("a")
    assert project.takes() == "b"
    cancel(project.ledger)
    assert project.states() == {"root": "ABANDONED", "a": "DONE", "b": "ABANDONED"}
    assert project.task("b").lease is None
    assert project.submit("b").status == "refused"
    assert (state(project), project.take()) == (
        PlanState.CANCELLED,
        NoTaskReason.CANCELLED,
    )
    with pytest.raises(Conflict, match="is over and cannot be replaced"):
        project.imports({**small_plan(), "edges": small_plan()["edges"][:-1]})


def test_dead_letters_and_questions_of_a_cancelled_plan(project: Project) -> None:
    """Nobody has to look after them any more."""
    project.runs(small_plan())
    project.submit("a", failing("a", "LLM_REFUSAL"))
    project.answer(give_up=True)
    assert (project.state("a"), len(project.questions())) == ("DEAD_LETTER", 1)
    cancel(project.ledger)
    assert project.states() == dict.fromkeys(("root", "a", "b"), "ABANDONED")
    assert project.questions() == []


def test_a_plan_whose_root_is_cancelled_is_cancelled(project: Project) -> None:
    """It was cancelled as a task."""
    project.runs(small_plan())
    cancel_task(project.ledger, "root", by="ann", cascade=True)
    assert state(project) is PlanState.CANCELLED


def test_the_archive(project: Project) -> None:
    """What is in it takes no change, and comes out as it was."""
    project.runs(small_plan())
    cancel(project.ledger)
    archive(project.ledger)
    assert (state(project), project.take()) == (
        PlanState.ARCHIVED,
        NoTaskReason.ARCHIVED,
    )
    with pytest.raises(PlanArchived, match="is archived and read-only; take it out"):
        project.submit("a")
    unarchive(project.ledger)
    assert state(project) is PlanState.CANCELLED
    assert project.submit("a").status == "refused"


@pytest.mark.parametrize("listing", [TASK_LIST, QUESTION_LIST])
def test_lists_without_what_is_archived(
    project: Project, listing: Listing[Any]
) -> None:
    """Its tasks and questions are listed only where they are wanted."""
    project.runs(small_plan())
    project.submit("a", asking("a"))
    everything = Filter(listing.subject)
    unarchived = replace(everything, leaves_out_archived=True)

    def listed(wanted: Filter) -> int:
        with project.ledger.read() as tx:
            return len(tx.page(listing, wanted, PageRequest(limit=100)).items)

    before = listed(everything)
    assert (before > 0, listed(unarchived)) == (True, before)
    cancel(project.ledger)
    archive(project.ledger)
    assert listed(unarchived) == 0
    assert listed(everything) > 0


# -- what does not fit


UNFIT: list[object] = [
    pytest.param([], approve, "is approved already", id="approving twice"),
    pytest.param([], return_, "is approved already", id="returning what is approved"),
    pytest.param([pause], pause, "is PAUSED: only an active plan can be paused", id="pausing twice"),
    pytest.param([], resume, "is ACTIVE: there is nothing to resume", id="resuming what runs"),
    pytest.param([cancel], cancel, "is CANCELLED: nothing is left to cancel", id="cancelling twice"),
    pytest.param([cancel], pause, "is CANCELLED: only an active plan", id="pausing what is cancelled"),
    pytest.param([cancel], approve, "is CANCELLED: there is nothing to approve", id="approving what is cancelled"),
    pytest.param([], archive, "is ACTIVE, and only a plan that is over is archived; cancel it first", id="archiving what runs"),
    pytest.param([cancel, archive], archive, "is archived already", id="archiving twice"),
    pytest.param([], unarchive, "is not archived", id="taking out what is not in"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "wish", "why"), UNFIT)
def test_what_does_not_fit(
    on_sqlite: Project,
    before: list[Callable[[Ledger], object]],
    wish: Callable[[Ledger], object],
    why: str,
) -> None:
    """One line, and nothing has changed."""
    on_sqlite.runs(small_plan())
    for step in before:
        step(on_sqlite.ledger)
    head = on_sqlite.plan().head
    with pytest.raises(UnfitPlanState, match=why):
        wish(on_sqlite.ledger)
    assert on_sqlite.plan().head == head


def test_a_finished_plan_is_not_paused(on_sqlite: Project) -> None:
    """Nothing runs in it."""
    on_sqlite.runs(small_plan()).finish("a", "b")
    with pytest.raises(UnfitPlanState, match="is FINISHED: only an active plan"):
        pause(on_sqlite.ledger)


def test_returning_twice(on_sqlite: Project) -> None:
    """The first return says it already."""
    on_sqlite.imports(small_plan())
    return_(on_sqlite.ledger)
    with pytest.raises(UnfitPlanState, match="was returned already; import a better"):
        return_(on_sqlite.ledger)


def test_a_blown_fuse_is_not_approved(on_sqlite: Project) -> None:
    """The plan was approved; a person resumes it."""
    on_sqlite.runs(small_plan(), Rules(fuses=Fuses(calls_per_run=1)))
    on_sqlite.submit("a")
    assert on_sqlite.take() is NoTaskReason.HELD
    with pytest.raises(UnfitPlanState, match="held by a blown fuse; resume it"):
        approve(on_sqlite.ledger)
