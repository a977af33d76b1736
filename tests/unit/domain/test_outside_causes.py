"""Which faults have a cause outside their task, and when a task goes on by itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from accordance.domain.faults import FAULTS, Fault
from accordance.domain.fuses import FUSES
from accordance.domain.lifecycle import Counters, Event, State
from accordance.domain.outside_causes import (
    OutsideCause,
    cause_from,
    event_of_going_on,
    outside_cause,
    review_details,
)
from accordance.domain.records import QuestionRecord
from accordance.domain.ruling import rule_fault, rule_review_fault
from accordance.domain.task_ruling import QuestionKind, TaskHistory

KEY = OutsideCause(Fault.KEY_MISSING, "OPENAI_API_KEY")
ASKED = QuestionRecord(
    question_id="q-1",
    plan_id="P",
    task_id="a",
    kind=QuestionKind.HELP,
    text="PERMISSION_DENIED: it is not set",
    details={},
    asked_at="2026-01-01",
    cause=KEY.key,
)


@pytest.mark.parametrize("fault", list(Fault))
def test_a_cause_outside_says_how_to_mend_it(fault: Fault) -> None:
    """A fault of the task itself has none, whatever it lacks."""
    cause = outside_cause(fault, "something")
    if not FAULTS[fault].mend:
        assert cause is None
        return
    assert cause is not None
    assert cause_from(cause.key) == cause
    assert cause.mend
    assert cause.is_about_a_key is (fault is Fault.KEY_MISSING)


def test_what_is_not_known_is_no_cause() -> None:
    """Nobody could say when it is gone."""
    assert outside_cause(Fault.NOT_INSTALLED, "") is None


@pytest.mark.parametrize("key", [None, "", "nonsense", "nonsense: x", "crashed: x"])
def test_a_key_that_names_no_cause(key: str | None) -> None:
    """Is read as none."""
    assert cause_from(key) is None


@pytest.mark.parametrize(
    ("question", "state", "obstacle", "event"),
    [
        pytest.param(
            ASKED, State.BLOCKED, None, Event.CAUSE_GONE, id="the cause is gone"
        ),
        pytest.param(
            replace(ASKED, details=review_details()),
            State.BLOCKED,
            None,
            Event.REVIEW_CAUSE_GONE,
            id="a review can be made now",
        ),
        pytest.param(
            ASKED, State.BLOCKED, "it is not set", None, id="the cause is still there"
        ),
        pytest.param(
            replace(ASKED, answered_at="2026-01-02"),
            State.BLOCKED,
            None,
            None,
            id="a person was faster",
        ),
        pytest.param(
            replace(ASKED, cause=None),
            State.BLOCKED,
            None,
            None,
            id="the task itself is the cause",
        ),
        pytest.param(ASKED, State.READY, None, None, id="it is not blocked any more"),
    ],
)
def test_going_on(
    question: QuestionRecord, state: State, obstacle: str | None, event: Event | None
) -> None:
    """Only a blocked task, and only when nothing is in its way."""
    assert event_of_going_on(question, state, obstacle) is event


CASE = TaskHistory(used=Counters())


def test_a_ruling_names_the_cause() -> None:
    """In its question, where it asks one."""
    ruling = rule_fault(Fault.KEY_MISSING, "not set", CASE, FUSES, "KEY")
    assert ruling.ask is not None
    assert ruling.ask.cause == "key_missing: KEY"

    review = rule_review_fault(Fault.KEY_MISSING, "not set", CASE, FUSES, "KEY")
    assert review.ask is not None
    assert (review.ask.cause, review.ask.details) == (
        "key_missing: KEY",
        review_details(),
    )


def test_a_ruling_without_a_question_or_a_cause() -> None:
    """Is left as it is."""
    retried = rule_fault(Fault.UNAVAILABLE, "away", CASE, FUSES, "host:1")
    assert retried.ask is None
    unknown = rule_fault(Fault.KEY_MISSING, "not set", CASE, FUSES)
    assert unknown.ask is not None
    assert unknown.ask.cause is None
