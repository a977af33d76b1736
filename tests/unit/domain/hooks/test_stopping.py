"""May an agent stop? Every standing, on every round."""

from __future__ import annotations

import pytest

from accordance.domain.causes import Cause
from accordance.domain.hooks.stopping import (
    Judged,
    StopAnswer,
    WorkStanding,
    standing_of,
    stop_answer,
)


def judged(standing: WorkStanding) -> Judged:
    """Work with this standing."""
    return Judged(standing, "RETRY CI_FAILED", "- 1 test failed\n", "T-1")


@pytest.mark.parametrize(
    ("standing", "refused", "may_stop"),
    [
        (WorkStanding.DONE, 0, True),
        (WorkStanding.DONE, 2, True),
        (WorkStanding.ASKS, 0, True),
        (WorkStanding.NOT_DONE, 0, False),
        (WorkStanding.NOT_DONE, 1, False),
        (WorkStanding.NOT_DONE, 2, False),
        (WorkStanding.NOT_DONE, 3, True),
        (WorkStanding.NOT_JUDGED, 0, False),
        (WorkStanding.NOT_JUDGED, 1, True),
    ],
)
def test_when_an_agent_may_stop(
    standing: WorkStanding, refused: int, may_stop: bool
) -> None:
    """It is sent back three times for what it can mend, once for what it can only report."""
    assert stop_answer(judged(standing), refused).may_stop == may_stop


@pytest.mark.parametrize(
    ("refused", "bound"),
    [
        (0, "It will be judged 2 more times."),
        (1, "It will be judged 1 more time."),
        (2, "It will not be judged again."),
    ],
)
def test_the_agent_learns_why_and_how_often_still(refused: int, bound: str) -> None:
    """And what to do if it cannot mend it."""
    reason = stop_answer(judged(WorkStanding.NOT_DONE), refused).reason
    assert "- 1 test failed" in reason
    assert bound in reason
    assert "artifacts/T-1/submit.json" in reason
    assert "say that the work is not done" in reason


@pytest.mark.parametrize(
    ("standing", "refused", "note"),
    [
        (WorkStanding.DONE, 0, "accordance: RETRY CI_FAILED"),
        (WorkStanding.ASKS, 0, "accordance: RETRY CI_FAILED. The agent asks you."),
        (
            WorkStanding.NOT_DONE,
            3,
            (
                "accordance: NOT DONE, RETRY CI_FAILED. The agent was sent back 3 "
                "times. Whatever it says, the work is not done."
            ),
        ),
        (WorkStanding.NOT_JUDGED, 1, "accordance: NOT JUDGED. RETRY CI_FAILED"),
    ],
)
def test_the_person_learns_how_it_ended(
    standing: WorkStanding, refused: int, note: str
) -> None:
    """An agent is never let go without a word."""
    assert stop_answer(judged(standing), refused) == StopAnswer(note=note)


def test_an_agent_has_to_say_that_nothing_was_judged() -> None:
    """It is not asked to mend what is not its fault."""
    reason = stop_answer(judged(WorkStanding.NOT_JUDGED), 0).reason
    assert "could not judge the work: RETRY CI_FAILED" in reason
    assert "say that it was not judged" in reason
    assert "Mend" not in reason


def test_without_reasons_there_is_no_empty_paragraph() -> None:
    """An error is a line."""
    error = Judged(WorkStanding.NOT_JUDGED, "the task is gone")
    assert "gone\n\nThis is not yours" in stop_answer(error, 0).reason


@pytest.mark.parametrize(
    ("cause", "standing"),
    [
        (None, WorkStanding.DONE),
        (Cause.CHANGE, WorkStanding.NOT_DONE),
        (Cause.QUESTION, WorkStanding.ASKS),
        (Cause.TASK, WorkStanding.NOT_JUDGED),
        (Cause.ENVIRONMENT, WorkStanding.NOT_JUDGED),
    ],
)
def test_what_a_cause_means_for_the_agent(
    cause: Cause | None, standing: WorkStanding
) -> None:
    """A broken machine is nothing that an agent can mend."""
    assert standing_of(cause) is standing
