"""Changes of a plan that are made at once, each in a clone of its own, and land by rebase and a new judgement."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accordance.changes import landing
from accordance.executors.protocol import RunOutcome
from accordance.service import inbox, tasks, verification
from accordance.service.inbox import PersonAnswer
from accordance.work.landing import MOST_OVERTAKINGS
from tests.acceptance.coding import FIRST, SECOND
from tests.service.landing_stage import (
    NAME,
    OTHER_RATE,
    RATE,
    THIRD,
    TOTAL,
    TWO,
    LandingStage,
    a_plan,
    change,
    staged,
)

pytestmark = pytest.mark.skipif(
    not Path("/proc/self").exists(),
    reason="isolation needs Linux: no test could be run",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LandingStage]:
    """Two changes that could begin at once."""
    ledger = None
    if request.param == "postgresql":
        ledger = request.getfixturevalue("postgresql_url")
    with staged(tmp_path / "project", TWO, ledger) as made:
        yield made


def test_two_changes_of_one_file_land_both(stage: LandingStage) -> None:
    """The second is applied to what the first has come to, judged there with its own evidence, and lands; nobody is asked again."""
    first, second = stage.take("ann", FIRST), stage.take("bob", SECOND)
    stage.write(first, prices=RATE)
    stage.write(second, prices=NAME)
    assert stage.hand_in(first)["outcome"] == "DONE"
    answer = stage.hand_in(second)
    assert (answer["outcome"], answer["state"], answer["attempt"]) == (
        "DONE",
        "DONE",
        2,
    )
    assert stage.landed() == ["Raise the rate", "Rename it"]
    assert "return 7" in stage.shown("prices.py")
    assert "'cost'" in stage.shown("prices.py")
    evidence = stage.project.home.root / str(answer["bundle"])
    assert (evidence.name, answer["rebased"]["attempt"]) == ("attempt-2", 1)
    assert stage.failures(SECOND) == 0
    stage.holds()


def test_a_change_that_does_not_apply_is_made_again(stage: LandingStage) -> None:
    """Both changed the same line: the next attempt begins on the new head, and is told the files; nobody has failed."""
    first, second = stage.take("ann", FIRST), stage.take("bob", SECOND)
    stage.write(first, prices=RATE)
    stage.write(second, prices=OTHER_RATE)
    stage.hand_in(first)
    answer = stage.hand_in(second)
    assert (answer["state"], answer["reason_code"]) == ("READY", "MERGE_CONFLICT")
    assert "prices.py" in answer["messages"][0]

    again = stage.take("bob", SECOND)
    clone = Path(str(again.view.workspace))
    assert (clone / "prices.py").read_text("utf-8") == RATE
    conflict, errors = again.view.context["last_errors"]
    assert conflict.startswith("MERGE_CONFLICT: your last change does not apply")
    assert errors.startswith("Your last change was good by itself, but it does not")
    stage.write(again, prices=RATE.replace("'price'", "'cost'"))
    assert stage.hand_in(again)["outcome"] == "DONE"
    assert stage.failures(SECOND) == 0
    stage.holds()


TOGETHER = a_plan(
    change(FIRST, "Raise the rate", "check_rate.py"),
    change(SECOND, "Add up", "check_total.py"),
)


def test_changes_that_are_right_alone_and_wrong_together(tmp_path: Path) -> None:
    """Only the new judgement can see it: the second does not land, and its next attempt is told the tests and the other change."""
    with staged(tmp_path / "project", TOGETHER) as stage:
        first, second = stage.take("ann", FIRST), stage.take("bob", SECOND)
        stage.write(first, prices=RATE)
        stage.write(second, total=TOTAL)
        stage.hand_in(first)
        answer = stage.hand_in(second)
        assert (answer["state"], answer["reason_code"]) == ("READY", "REBASE_FAILED")
        assert stage.landed() == ["Raise the rate"]
        stage.holds()

        again = stage.take("bob", SECOND)
        clone = Path(str(again.view.workspace))
        assert (clone / "total.py").read_text("utf-8") == TOTAL
        assert (clone / "prices.py").read_text("utf-8") == RATE
        errors = "\n".join(again.view.context["last_errors"])
        assert "what has come since (Raise the rate)" in errors
        assert "check_total.py" in errors
        stage.write(again, total=TOTAL.replace("rate()", "(rate() - 2)"))
        assert stage.hand_in(again)["outcome"] == "DONE"
        assert stage.failures(SECOND) == 0
        stage.holds()


REVIEWED = a_plan(
    change(FIRST, "Raise the rate", "check_rate.py"),
    change(SECOND, "Rename it", "check_name.py"),
    checked=(FIRST,),
)


def test_a_slow_reviewer_holds_up_nobody(tmp_path: Path) -> None:
    """The other change lands meanwhile; the approval stands for the rebased change, which is the same, and its check is over."""
    with staged(tmp_path / "project", REVIEWED) as stage:
        assert stage.make("ann", FIRST, prices=RATE)["state"] == "READY_TO_CHECK"
        assert stage.make("bob", SECOND, prices=NAME)["state"] == "DONE"
        answer = stage.review(FIRST)
        assert (answer["state"], answer["check_state"]) == ("DONE", "DONE")
        assert stage.landed() == ["Rename it", "Raise the rate"]
        assert stage.state("root") == "DONE"
        stage.holds()


def test_a_rebased_change_that_is_another_is_reviewed_again(tmp_path: Path) -> None:
    """A part of it has landed with another change, so the reviewer has not seen what would land."""
    with staged(tmp_path / "project", REVIEWED) as stage:
        stage.make("ann", FIRST, prices=RATE.replace("'price'", "'cost'"))
        stage.make("bob", SECOND, prices=NAME)
        answer = stage.review(FIRST)
        assert (answer["state"], answer["reason_code"]) == ("READY_TO_CHECK", "PASSED")
        assert stage.landed() == ["Rename it"]
        assert stage.review(FIRST)["state"] == "DONE"
        assert stage.landed() == ["Rename it", "Raise the rate"]
        stage.holds()


def test_what_a_person_approves_late_lands_all_the_same(tmp_path: Path) -> None:
    """The reviewer wanted help, another change landed, and a person approved: the change is rebased."""
    with staged(tmp_path / "project", REVIEWED) as stage:
        stage.make("ann", FIRST, prices=RATE)
        second = stage.take("bob", SECOND)
        assigned = stage.take("reviewer", f"check-{FIRST[-1]}")
        help_wanted = stage.review_message(FIRST, 50, "REQUEST_EXTERNAL_INPUT")
        tasks.review(stage.project, help_wanted, task_id=assigned.taken.task.task_id)
        stage.write(second, prices=NAME)
        stage.hand_in(second)
        (question,) = inbox.list_questions(stage.project).items
        answered = inbox.answer_question(
            stage.project, question.question_id, PersonAnswer(by="eve", approve=True)
        )
        assert answered.state == "DONE"
        assert stage.landed() == ["Rename it", "Raise the rate"]
        assert stage.state("root") == "DONE"
        stage.holds()


class Killed(BaseException):
    """The process ends here."""


def test_a_kill_between_the_rebase_and_its_settlement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing has landed, the ledger holds, and the change lands when it is taken up again; nobody has failed."""
    with staged(tmp_path / "project", TWO) as stage:
        first, second = stage.take("ann", FIRST), stage.take("bob", SECOND)
        stage.write(first, prices=RATE)
        stage.write(second, prices=NAME)
        stage.hand_in(first)

        def killed(*_: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            patch.setattr(landing, "change_in", killed)
            with pytest.raises(Killed):
                stage.hand_in(second)
        assert (stage.state(SECOND), stage.landed()) == (
            "IN_PROGRESS",
            ["Raise the rate"],
        )
        stage.holds()

        tasks.release(stage.project, SECOND, by="eve")
        assert stage.why_nothing("bob") == "FINISHED"
        assert stage.landed() == ["Raise the rate", "Rename it"]
        assert stage.failures(SECOND) == 0
        stage.holds()


def test_a_lost_landing_is_nobodys_failure(tmp_path: Path) -> None:
    """The lease of a killed landing runs out: the change is only taken up again."""
    with staged(tmp_path / "project", TWO) as stage:
        first, second = stage.take("ann", FIRST), stage.take("bob", SECOND)
        stage.write(first, prices=RATE)
        stage.write(second, prices=NAME)
        stage.hand_in(second)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(landing, "LANDING_SECONDS", -1)
            patch.setattr(landing, "settle_landing", _raise_killed)
            with pytest.raises(Killed):
                stage.hand_in(first)
        assert stage.why_nothing("ann") == "FINISHED"
        assert (stage.state(FIRST), stage.failures(FIRST)) == ("DONE", 0)
        stage.holds()


def _raise_killed(*_: object) -> None:
    raise Killed


def test_one_at_a_time_if_the_settings_say_so(tmp_path: Path) -> None:
    """With parallel_changes = 1, no other change begins while one is made or reviewed."""
    settings = "parallel_changes = 1\n"
    with staged(tmp_path / "project", REVIEWED, settings=settings) as stage:
        assigned = stage.take("ann", FIRST)
        assert stage.why_nothing("bob") == "CHANGING"
        stage.write(assigned, prices=RATE)
        stage.hand_in(assigned)
        assert stage.why_nothing("ann") in ("CHANGING", "OWN_WORK")


def test_no_more_than_the_settings_allow(tmp_path: Path) -> None:
    """The third of three has to wait; a change under review takes no room."""
    third = change(THIRD, "Add up", "check_total.py")
    message = a_plan(*REVIEWED["nodes"][1:3], third, checked=(FIRST,))
    settings = "parallel_changes = 2\n"
    with staged(tmp_path / "project", message, settings=settings) as stage:
        first = stage.take("ann", FIRST)
        stage.take("bob", SECOND)
        assert stage.why_nothing("eve") == "CHANGING"
        stage.write(first, prices=RATE)
        stage.hand_in(first)
        stage.take("eve", THIRD)


def test_a_change_that_is_overtaken_again_and_again_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After so many rebases in vain no other change begins, until it has landed."""
    others = [f"{FIRST[:-2]}{number}0" for number in range(1, MOST_OVERTAKINGS + 2)]
    parts = [change(task_id, f"Part {task_id}", "check_name.py") for task_id in others]
    slow = {**change(SECOND, "Slow", "check_rate.py"), "priority": 99}
    rebase = landing._rebased

    with staged(tmp_path / "project", a_plan(slow, *parts)) as stage:

        def another_lands() -> None:
            task_id = others.pop(0)
            stage.make("quick", task_id, **{f"part_{len(others)}": "X = 1\n"})

        def rebase_too_late(*arguments: Any) -> RunOutcome:
            rebased = rebase(*arguments)
            if len(others) > 1:
                another_lands()
            else:
                assert stage.why_nothing("quick") == "CHANGING"
            return rebased

        assigned = stage.take("slow", SECOND)
        stage.write(assigned, prices=RATE)
        another_lands()
        monkeypatch.setattr(landing, "_rebased", rebase_too_late)
        answer = stage.hand_in(assigned)
        assert (answer["state"], answer["attempt"]) == ("DONE", MOST_OVERTAKINGS + 1)
        assert stage.landed()[-1] == "Slow"
        stage.make("quick", others.pop(), part="X = 1\n")
        stage.holds()


def test_evidence_that_was_touched_does_not_land(tmp_path: Path) -> None:
    """What lands is the commit that was judged, on the new head; a patch on the disk that was changed is only seen by verify."""
    with staged(tmp_path / "project", REVIEWED) as stage:
        answer = stage.make("ann", FIRST, prices=RATE)
        patch = stage.project.home.root / answer["bundle"] / "patch.diff"
        patch.write_text(patch.read_text("utf-8").replace("return 7", "return 8"))
        stage.make("bob", SECOND, prices=NAME)
        assert stage.review(FIRST)["state"] == "DONE"
        assert "return 7" in stage.shown("prices.py")
        verified = verification.verify(stage.project)
        problems = [text for plan in verified.findings for text in plan.integrity]
        assert any("patch.diff" in text for text in problems), problems
