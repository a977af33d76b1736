"""The lifecycle: a table, held against the rules it must keep."""

from __future__ import annotations

import itertools
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accordance.domain.lifecycle import (
    CLAIMABLE,
    LIFECYCLE,
    TERMINAL,
    WAITS_FOR,
    Event,
    State,
    TaskStanding,
    Waiting,
    advance,
    next_state,
)
from accordance.errors import IllegalTransition


@pytest.mark.parametrize(("state", "event"), list(itertools.product(State, Event)))
def test_every_pair_is_decided(state: State, event: Event) -> None:
    """A move is in the table, or it raises and says what would be possible."""
    legal = LIFECYCLE[state].get(event)
    if legal is not None:
        assert next_state(state, event) is legal
        return
    before = TaskStanding(state=state)
    with pytest.raises(IllegalTransition) as caught:
        advance(before, event)
    assert caught.value.legal == tuple(LIFECYCLE[state])
    assert f"{event} is not possible for a task that is {state}" in str(caught.value)
    assert before == TaskStanding(state=state)


def test_every_state_has_a_row_and_every_event_a_use() -> None:
    """Nothing is forgotten, nothing is decoration."""
    assert set(LIFECYCLE) == set(State)
    assert {event for row in LIFECYCLE.values() for event in row} == set(Event)


def test_what_must_hold() -> None:
    """The sentences of the design, asked of the table."""
    assert LIFECYCLE[State.DONE] == {}
    assert set(LIFECYCLE[State.BLOCKED]) == {
        Event.ANSWERED,
        Event.GRANTED,
        Event.CAUSE_GONE,
        Event.REVIEW_CAUSE_GONE,
        Event.VOUCHED,
        Event.DROPPED,
        Event.BURIED,
    }
    assert set(LIFECYCLE[State.ABANDONED]) == {Event.CHOSEN}
    assert set(LIFECYCLE[State.DEAD_LETTER]) == {Event.REQUEUED, Event.DROPPED}
    assert {State.READY, State.TO_BE_MODIFY} == CLAIMABLE
    into_done = {
        event
        for row in LIFECYCLE.values()
        for event, state in row.items()
        if state is State.DONE
    }
    assert into_done == {Event.APPROVED, Event.VOUCHED, Event.COMPLETED}
    into_blocked = {
        event
        for row in LIFECYCLE.values()
        for event, state in row.items()
        if state is State.BLOCKED
    }
    assert into_blocked == set(WAITS_FOR)


@pytest.mark.seed("000-33", "000-34")
def test_an_unparseable_message_fails_the_task_and_counts() -> None:
    """Seed 000 s4: the event, FAILED, one attempt more; and the kinds of failure are counted apart."""
    taken = advance(advance(TaskStanding(), Event.ENABLED), Event.CLAIMED)
    failed = advance(taken, Event.UNPARSEABLE)
    assert (failed.state, Event.UNPARSEABLE.value) == (State.FAILED, "LLM_UNPARSEABLE")
    assert asdict(failed.counters) == {
        "attempts": 1,
        "failures": 0,
        "parse_failures": 1,
        "idle_rounds": 0,
        "review_rounds": 0,
        "review_failures": 0,
    }


def test_a_blocked_task_says_why() -> None:
    """By the event, unless somebody knows better; and no longer when it goes on."""
    taken = TaskStanding(state=State.IN_PROGRESS)
    assert advance(taken, Event.ASKED).waiting is Waiting.INPUT
    skill = advance(taken, Event.STALLED, waiting=Waiting.SKILL)
    assert skill.waiting is Waiting.SKILL
    assert advance(skill, Event.ANSWERED).waiting is None


def test_another_chance_forgives_without_forgetting() -> None:
    """The counters never fall; what counts against a limit begins anew when a person says so."""
    failed = advance(TaskStanding(state=State.IN_PROGRESS), Event.ERRED)
    assert advance(failed, Event.RETRIED).used.failures == 1
    granted = advance(failed, Event.GRANTED)
    assert (granted.counters.failures, granted.used.failures) == (1, 0)


@given(st.lists(st.sampled_from(list(Event)), max_size=40))
def test_whatever_happens(events: list[Event]) -> None:
    """Counters never fall; a reason stands exactly beside BLOCKED; DONE stays."""
    standing = TaskStanding()
    for event in events:
        before = standing
        try:
            standing = advance(standing, event)
        except IllegalTransition:
            assert standing is before
            continue
        assert all(
            new >= old
            for new, old in zip(
                asdict(standing.counters).values(),
                asdict(before.counters).values(),
                strict=True,
            )
        )
        assert (standing.waiting is not None) == (standing.state is State.BLOCKED)
        assert before.state is not State.DONE
        assert before.state not in TERMINAL or event in (
            Event.CHOSEN,
            Event.REQUEUED,
            Event.DROPPED,
        )


def test_an_answer_that_is_asked_for_again_is_counted_and_forgiven() -> None:
    """The attempts of a task are its runs; a reviewer's bad message is never the executor's."""
    taken = advance(TaskStanding(state=State.READY), Event.CLAIMED)
    mended = advance(advance(taken, Event.UNPARSEABLE), Event.ASKED_AGAIN)
    assert (
        mended.state,
        mended.counters.attempt_count,
        mended.counters.parse_failures,
    ) == (
        State.IN_PROGRESS,
        2,
        1,
    )
    assert (mended.used.attempts, mended.used.parse_failures) == (1, 0)
    reviewed = advance(TaskStanding(state=State.READY_TO_CHECK), Event.UNPARSEABLE)
    assert (reviewed.state, reviewed.counters.attempt_count) == (State.FAILED, 1)
    assert (reviewed.used.review_failures, reviewed.used.parse_failures) == (1, 0)
    assert advance(reviewed, Event.RECHECKED).used.review_failures == 1
    assert advance(reviewed, Event.REVIEWER_ASKED_AGAIN).used.review_failures == 0
