"""What several looks at plans come to: whether a run goes on, and why it rests."""

from __future__ import annotations

import pytest

from accordance.runtime.run_progress import Look, RunProgress, combined, resting
from accordance.work.taking import NoTaskReason
from tests.runtime.stage import Stage, good

BEGAN = Look(RunProgress.BEGAN)
BUSY = resting(NoTaskReason.BUSY)
FINISHED = resting(NoTaskReason.FINISHED)
WAITING = resting(NoTaskReason.WAITING)
HELD = resting(NoTaskReason.HELD)


@pytest.mark.parametrize(
    ("looks", "is_stranded", "progress", "rest"),
    [
        ([], False, RunProgress.AT_REST, NoTaskReason.FINISHED),
        ([FINISHED, FINISHED], False, RunProgress.AT_REST, NoTaskReason.FINISHED),
        ([FINISHED, WAITING, HELD], False, RunProgress.AT_REST, NoTaskReason.WAITING),
        ([WAITING, BEGAN, BUSY], False, RunProgress.BEGAN, None),
        ([WAITING, BEGAN, BUSY], True, RunProgress.BEGAN, None),
        ([WAITING, BUSY], False, RunProgress.UNDER_WAY, NoTaskReason.BUSY),
        ([WAITING, BUSY], True, RunProgress.AT_REST, NoTaskReason.BUSY),
    ],
    ids=[
        "no plan",
        "all is finished",
        "the first that is not finished says why",
        "something began",
        "something began beside what is stranded",
        "something is in work",
        "all that is in work is for another version",
    ],
)
def test_looks_as_one(
    looks: list[Look],
    is_stranded: bool,
    progress: RunProgress,
    rest: NoTaskReason | None,
) -> None:
    """What moves anywhere keeps the run going."""
    assert combined(looks, is_stranded=is_stranded) == Look(progress, rest)


@pytest.mark.parametrize("why", list(NoTaskReason), ids=lambda why: why.name)
def test_only_what_is_in_work_keeps_a_run_going(why: NoTaskReason) -> None:
    """Every other reason waits for a person, an outside worker, or nothing at all."""
    assert resting(why).is_at_rest is (why is not NoTaskReason.BUSY)


def test_every_look_begins_at_another_plan(on: Stage) -> None:
    """So no plan has to wait for all others; a single plan, or none, is no exception."""
    runner = on.runner(good)
    firsts = [runner._in_turn(["a", "b", "c"])[0] for _ in range(3)]
    assert sorted(firsts) == ["a", "b", "c"]
    assert runner._in_turn(["a"]) == ["a"]
    assert runner._in_turn([]) == []
