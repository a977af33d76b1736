"""A base that moves while a plan is carried out: it is reported, taken in on request, and never by halves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from accordance.changes.plan_rebasing import PlanRebase
from accordance.domain.records import MessageRecord
from accordance.errors import Conflict, NotRebased
from accordance.service import plans, verification
from accordance.service.plan_rebasing import rebase_plan
from accordance.service.runs import RunOptions, prepare_run
from accordance.store.tables import MESSAGES
from tests.acceptance.coding import BRANCH, FIRST, SECOND
from tests.hostile.stage import git
from tests.messages import PLAN
from tests.service.landing_stage import (
    FILES,
    NAME,
    RATE,
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
    """A plan whose first change has landed, and whose second is under way."""
    ledger = None
    if request.param == "postgresql":
        ledger = request.getfixturevalue("postgresql_url")
    with staged(tmp_path / "project", TWO, ledger) as made:
        made.make("ann", FIRST, prices=RATE)
        yield made


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[LandingStage]:
    """The same, on SQLite alone."""
    with staged(tmp_path / "project", TWO) as made:
        made.make("ann", FIRST, prices=RATE)
        yield made


def test_a_moved_base_is_reported_and_taken_in(stage: LandingStage) -> None:
    """The landed change is replayed on it and tested, the branch follows, and what was under way lands on the new head."""
    project = stage.project
    second = stage.take("bob", SECOND)
    stage.write(second, prices=NAME)
    assert plans.plan_status(project.ledger, PLAN, project.home).base_moved is None

    moved = stage.commit(more="MORE = 1\n")
    shown = plans.show_plan(project).base_moved
    assert shown is not None
    assert shown.startswith("main has moved since the plan began (")
    assert shown.endswith("`accordance plan rebase` takes that in")

    tried = rebase_plan(project, None, by="eve", dry_run=True)
    assert (tried.is_done, tried.new_base) == (False, moved)
    assert "more.py" not in git(stage.repository, "ls-tree", "--name-only", BRANCH)

    done = rebase_plan(project, None, by="eve")
    assert (done.is_done, done.not_published) == (True, None)
    assert [run.command for run in done.tests] == ["python3 -B check_rate.py"]
    assert git(stage.repository, "rev-parse", f"{BRANCH}~1").strip() == moved
    assert "return 7" in stage.shown("prices.py")
    assert plans.show_plan(project).base_moved is None
    assert not rebase_plan(project, None, by="eve").has_moved
    stage.holds()

    assert stage.hand_in(second)["state"] == "DONE"
    assert stage.landed() == ["own work", "Raise the rate", "Rename it"]
    stage.holds()


def test_a_run_says_that_the_base_has_moved(on_sqlite: LandingStage) -> None:
    """Before anything begins, in a line."""
    on_sqlite.commit(more="MORE = 1\n")
    warnings: list[str] = []
    with prepare_run(on_sqlite.project, None, RunOptions(), warnings.append):
        pass
    (warning,) = warnings
    assert warning.startswith("main has moved since the plan began")


def test_a_base_that_conflicts_is_refused(on_sqlite: LandingStage) -> None:
    """Nothing is moved; the task and the files are named."""
    before = git(on_sqlite.repository, "rev-parse", BRANCH)
    on_sqlite.commit(prices=FILES["prices.py"].replace("return 5", "return 6"))
    with pytest.raises(NotRebased) as refused:
        rebase_plan(on_sqlite.project, None, by="eve")
    text = str(refused.value)
    assert f"task {FIRST} (Raise the rate) does not apply to main at" in text
    assert "prices.py; nothing was moved" in text
    assert git(on_sqlite.repository, "rev-parse", BRANCH) == before
    on_sqlite.holds()


def test_a_base_on_which_tests_fail_is_refused(tmp_path: Path) -> None:
    """The changes apply, but the tests of a landed task fail together with the new base."""
    message = a_plan(
        change(FIRST, "Add up", "check_total.py"),
        change(SECOND, "Rename it", "check_name.py"),
    )
    with staged(tmp_path / "project", message) as stage:
        stage.make("ann", FIRST, total=TOTAL)
        before = git(stage.repository, "rev-parse", BRANCH)
        stage.commit(prices=RATE)
        with pytest.raises(NotRebased) as refused:
            rebase_plan(stage.project, None, by="eve")
        text = str(refused.value)
        assert f"the tests of task {FIRST} (Add up) fail on main at" in text
        assert "check_total.py" in text
        assert git(stage.repository, "rev-parse", BRANCH) == before
        stage.holds()


def test_a_change_that_lands_meanwhile_comes_first(
    on_sqlite: LandingStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The head is only moved from where it was when the changes were replayed."""
    second = on_sqlite.take("bob", SECOND)
    on_sqlite.write(second, prices=RATE.replace("'price'", "'cost'"))
    on_sqlite.commit(more="MORE = 1\n")
    move = PlanRebase.move

    def too_late(rebase: PlanRebase, *arguments: object) -> None:
        on_sqlite.hand_in(second)
        move(rebase, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(PlanRebase, "move", too_late)
    with pytest.raises(Conflict, match="rebase it again"):
        rebase_plan(on_sqlite.project, None, by="eve")
    monkeypatch.setattr(PlanRebase, "move", move)
    assert len(rebase_plan(on_sqlite.project, None, by="eve").changes) == 2
    assert on_sqlite.landed() == ["own work", "Raise the rate", "Rename it"]
    on_sqlite.holds()


def test_what_the_plan_itself_has_brought_is_nothing_new(
    on_sqlite: LandingStage,
) -> None:
    """A person merges the plan's branch: its base has moved, but there is nothing to take in."""
    git(on_sqlite.repository, "merge", "--quiet", "--ff-only", BRANCH)
    assert plans.show_plan(on_sqlite.project).base_moved is None
    on_sqlite.commit(more="MORE = 1\n")
    done = rebase_plan(on_sqlite.project, None, by="eve")
    assert (done.is_done, len(done.changes)) == (True, 1)
    on_sqlite.holds()


def test_a_new_base_that_was_touched_is_seen(on_sqlite: LandingStage) -> None:
    """The event, the report and the row of a rebase have to agree."""
    on_sqlite.commit(more="MORE = 1\n")
    rebase_plan(on_sqlite.project, None, by="eve")
    ledger = on_sqlite.project.ledger
    with ledger.read() as tx:
        (message,) = tx.find(MessageRecord, plan_id=PLAN, kind="REBASE")
    touched = {**message.case, "name": "another"}
    rebases = MESSAGES.c.kind == "REBASE"
    with ledger.engine.begin() as connection:  # type: ignore[attr-defined]
        connection.execute(MESSAGES.update().where(rebases).values(case=touched))
    verified = verification.verify(on_sqlite.project)
    broken = [text for plan in verified.findings for text in plan.integrity]
    assert any("its event names another base" in text for text in broken)
