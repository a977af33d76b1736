"""Why a look at a plan would change nothing: many workers look, and none locks a plan for it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from accordance.domain.fuses import Fuses
from accordance.domain.records import Rules
from accordance.work.lease_times import LEASE_SECONDS
from accordance.work.plan_life import cancel, pause
from accordance.work.taking import NoTaskReason, why_no_look
from tests.ledger.project import Project
from tests.messages import PLAN, edge, node, plan

TWO = plan(
    [node("root", "GOAL"), node("a"), node("b")],
    [edge("root", "a"), edge("root", "b"), edge("a", "b", "DEPENDS_ON")],
)
ONE_CALL = Rules(fuses=Fuses(calls_per_run=1))


def reason(project: Project) -> NoTaskReason | None:
    """What a look says that locks nothing."""
    with project.ledger.read() as tx:
        return why_no_look(tx, tx.plan(PLAN), project.files())


def is_taken(project: Project) -> None:
    """Somebody works on the only task that is ready."""
    assert project.takes() == "a"


def is_lost(project: Project) -> None:
    """Whoever has the only task that is ready has had it for too long."""
    is_taken(project)
    project.clock.pass_by(LEASE_SECONDS + 1)


def has_a_new_file(project: Project) -> None:
    """A file came after the last task was taken up."""
    is_taken(project)
    project.put("prices.csv")


def is_paused(project: Project) -> None:
    """A person stops it while somebody works on a task."""
    is_taken(project)
    pause(project.ledger, PLAN, by="Ada")


def is_cancelled(project: Project) -> None:
    """A person no longer wants it."""
    is_taken(project)
    cancel(project.ledger, PLAN, by="Ada")


def is_finished(project: Project) -> None:
    """Everything is done."""
    project.finish("a", "b")


LOOKS = {
    "a task is ready": (lambda _: None, None),
    "everything is in work": (is_taken, NoTaskReason.BUSY),
    "a worker was lost": (is_lost, None),
    "a file was added": (has_a_new_file, None),
    "it was cancelled": (is_cancelled, NoTaskReason.CANCELLED),
    "it is finished": (is_finished, NoTaskReason.FINISHED),
}


@pytest.mark.parametrize(("happens", "expected"), LOOKS.values(), ids=LOOKS)
def test_looks(
    project: Project,
    happens: Callable[[Project], None],
    expected: NoTaskReason | None,
) -> None:
    """With a reason, a look under lock finds nothing either, and writes nothing."""
    happens(project.runs(TWO))
    assert reason(project) is expected
    if expected is not None:
        before = project.kinds()
        assert project.takes() is None
        assert project.kinds() == before


def test_work_under_way_ends_in_a_pause(project: Project) -> None:
    """A run waits for it."""
    is_paused(project.runs(TWO))
    assert reason(project) is NoTaskReason.BUSY
    assert project.take() is NoTaskReason.PAUSED


def test_a_fuse_blows_under_lock(project: Project) -> None:
    """A look that would hold the plan is worth its lock, and only that."""
    project.runs(TWO, ONE_CALL)
    is_taken(project)
    project.submit("a", attempt=1)
    assert reason(project) is None
    assert project.takes() is None
    assert reason(project) is NoTaskReason.HELD
