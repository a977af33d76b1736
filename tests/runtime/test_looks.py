"""What several looks at plans come to: whether a run goes on, and why it rests."""

from __future__ import annotations

import pytest

from accordance.runtime.looks import Look, Progress, combined, resting
from accordance.work.tasks import Nothing

BEGAN = Look(Progress.BEGAN)
BUSY = resting(Nothing.BUSY)
FINISHED = resting(Nothing.FINISHED)
WAITING = resting(Nothing.WAITING)
HELD = resting(Nothing.HELD)


@pytest.mark.parametrize(
    ("looks", "is_stranded", "progress", "rest"),
    [
        ([], False, Progress.AT_REST, Nothing.FINISHED),
        ([FINISHED, FINISHED], False, Progress.AT_REST, Nothing.FINISHED),
        ([FINISHED, WAITING, HELD], False, Progress.AT_REST, Nothing.WAITING),
        ([WAITING, BEGAN, BUSY], False, Progress.BEGAN, None),
        ([WAITING, BEGAN, BUSY], True, Progress.BEGAN, None),
        ([WAITING, BUSY], False, Progress.UNDER_WAY, Nothing.BUSY),
        ([WAITING, BUSY], True, Progress.AT_REST, Nothing.BUSY),
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
def test_looks_as_one(looks: list[Look], is_stranded: bool, progress: Progress, rest: Nothing | None) -> None:
    """What moves anywhere keeps the run going."""
    assert combined(looks, is_stranded=is_stranded) == Look(progress, rest)


@pytest.mark.parametrize("why", list(Nothing), ids=lambda why: why.name)
def test_only_what_is_in_work_keeps_a_run_going(why: Nothing) -> None:
    """Every other reason waits for a person, an outside worker, or nothing at all."""
    assert resting(why).is_at_rest is (why is not Nothing.BUSY)
