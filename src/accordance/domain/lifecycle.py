"""The life of a task: one table, state x event -> state. Nothing else in the project changes a state.

The rules of this file: every state has a row, also the ones nothing leaves; an event that is not in the row is illegal,
raises, and changes nothing; what an event needs beside the state (an approved artifact, a reason to wait) is its guard
and is checked in `advance`. Counters only grow. docs/lifecycle.md is generated from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.errors import IllegalTransition


class State(StrEnum):
    """Where a task stands."""

    PENDING = "PENDING"  # waits for prerequisites or inputs
    READY = "READY"  # somebody may take it
    IN_PROGRESS = "IN_PROGRESS"  # somebody has it
    READY_TO_CHECK = "READY_TO_CHECK"  # has a product that waits for its review
    TO_BE_MODIFY = "TO_BE_MODIFY"  # was returned with suggestions; somebody may take it
    BLOCKED = "BLOCKED"  # waits for a person or a skill; sticky
    FAILED = "FAILED"  # the last attempt failed
    DONE = "DONE"
    ABANDONED = (
        "ABANDONED"  # not needed: another alternative was chosen, or it was cancelled
    )
    DEAD_LETTER = "DEAD_LETTER"  # given up on; everything is kept for whoever looks


class Waiting(StrEnum):
    """What a blocked task waits for."""

    INPUT = "WAITING_INPUT"
    EXTERNAL = "WAITING_EXTERNAL"
    SKILL = "WAITING_SKILL"


class Event(StrEnum):
    """What can happen to a task."""

    ENABLED = "ENABLED"  # prerequisites and inputs are there
    DISABLED = "DISABLED"  # one of them went
    CLAIMED = "CLAIMED"  # an attempt begins
    RELEASED = "RELEASED"  # handed back, nothing lost
    LEASE_LOST = "LEASE_LOST"  # whoever had it is gone
    IDLED = "IDLED"  # the attempt said there is nothing to do (NOOP)
    PRODUCED = "PRODUCED"  # the attempt delivered an artifact
    ASKED = "ASKED"  # the attempt needs documents (NEEDS_INPUT)
    STALLED = "STALLED"  # the attempt cannot go on without help from outside
    ERRED = "ERRED"  # the attempt failed
    UNPARSEABLE = "LLM_UNPARSEABLE"  # a message honours no contract: the attempt's, or the review's
    ASKED_AGAIN = "ASKED_AGAIN"  # whoever sent it is asked again within the same run
    REVIEWER_ASKED_AGAIN = (
        "REVIEWER_ASKED_AGAIN"  # the same, where a product was being reviewed
    )
    APPROVED = "APPROVED"  # the review, or the verdict, lets it pass
    RETURNED = "RETURNED"  # the review wants changes
    REFERRED = "REFERRED"  # the review wants external input
    MISREVIEWED = "REVIEW_FAILED"  # the reviewer's run ended without a review
    RECHECKED = "REVIEW_RETRIED"  # the policy gives its product another review
    ANSWERED = "ANSWERED"  # a person answered, or the input came
    RETRIED = "RETRIED"  # the policy gives it another attempt
    GRANTED = (
        "GRANTED"  # a person gives it another chance: what was used up is forgiven
    )
    VOUCHED = "VOUCHED"  # a person approves the product that is there
    ESCALATED = "ESCALATED"  # attempts or rounds are used up: a person decides
    BURIED = "BURIED"  # given up
    REQUEUED = "REQUEUED"  # taken out of the dead letters
    COMPLETED = "COMPLETED"  # all its parts are done, as its rule says
    DROPPED = "DROPPED"  # another alternative is active, or it was cancelled
    CHOSEN = "CHOSEN"  # its alternative became active again


_DROP_OR_BURY: Final = {Event.DROPPED: State.ABANDONED, Event.BURIED: State.DEAD_LETTER}

LIFECYCLE: Final[Mapping[State, Mapping[Event, State]]] = MappingProxyType(
    {
        State.PENDING: {
            Event.ENABLED: State.READY,
            Event.COMPLETED: State.DONE,
            Event.ESCALATED: State.BLOCKED,
            **_DROP_OR_BURY,
        },
        State.READY: {
            Event.DISABLED: State.PENDING,
            Event.CLAIMED: State.IN_PROGRESS,
            Event.COMPLETED: State.DONE,
            Event.ESCALATED: State.BLOCKED,
            **_DROP_OR_BURY,
        },
        State.IN_PROGRESS: {
            Event.RELEASED: State.READY,
            Event.LEASE_LOST: State.READY,
            Event.IDLED: State.READY,
            Event.PRODUCED: State.READY_TO_CHECK,
            Event.ASKED: State.BLOCKED,
            Event.STALLED: State.BLOCKED,
            Event.ERRED: State.FAILED,
            Event.UNPARSEABLE: State.FAILED,
            Event.ESCALATED: State.BLOCKED,
            Event.APPROVED: State.DONE,
            **_DROP_OR_BURY,
        },
        State.READY_TO_CHECK: {
            Event.APPROVED: State.DONE,
            Event.RETURNED: State.TO_BE_MODIFY,
            Event.REFERRED: State.BLOCKED,
            Event.MISREVIEWED: State.READY_TO_CHECK,
            Event.UNPARSEABLE: State.FAILED,
            Event.ESCALATED: State.BLOCKED,
            **_DROP_OR_BURY,
        },
        State.TO_BE_MODIFY: {
            Event.CLAIMED: State.IN_PROGRESS,
            Event.ESCALATED: State.BLOCKED,
            **_DROP_OR_BURY,
        },
        State.BLOCKED: {
            Event.ANSWERED: State.READY,
            Event.GRANTED: State.READY,
            Event.VOUCHED: State.DONE,
            **_DROP_OR_BURY,
        },
        State.FAILED: {
            Event.RETRIED: State.READY,
            Event.RECHECKED: State.READY_TO_CHECK,
            Event.ASKED_AGAIN: State.IN_PROGRESS,
            Event.REVIEWER_ASKED_AGAIN: State.READY_TO_CHECK,
            Event.GRANTED: State.READY,
            Event.ESCALATED: State.BLOCKED,
            **_DROP_OR_BURY,
        },
        State.DONE: {},
        State.ABANDONED: {Event.CHOSEN: State.PENDING},
        State.DEAD_LETTER: {
            Event.REQUEUED: State.READY,
            Event.DROPPED: State.ABANDONED,
        },
    }
)
"""The table. DONE is left by nothing; ABANDONED only when its alternative is chosen again, DEAD_LETTER only by a person."""

CLAIMABLE: Final = frozenset(
    state for state, row in LIFECYCLE.items() if Event.CLAIMED in row
)
TERMINAL: Final = frozenset((State.DONE, State.ABANDONED, State.DEAD_LETTER))
WAITS_FOR: Final[Mapping[Event, Waiting]] = MappingProxyType(
    {
        Event.ASKED: Waiting.INPUT,
        Event.STALLED: Waiting.EXTERNAL,
        Event.REFERRED: Waiting.EXTERNAL,
        Event.ESCALATED: Waiting.EXTERNAL,
    }
)
"""Why each event that blocks a task blocks it; a skill's failure may say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What happened how often, separately: an executor that fails is not a reviewer that disagrees."""

    attempts: int = (
        0  # begun, whatever came of them; the number of the last one is its name
    )
    failures: int = 0
    parse_failures: int = 0
    idle_rounds: int = 0
    review_rounds: int = 0
    review_failures: int = 0

    @property
    def attempt_count(self) -> int:
        """Everything that was tried: attempts that were begun, and reviews that failed."""
        return self.attempts + self.review_failures

    def plus(self, **more: int) -> Counters:
        """So much more of each."""
        return replace(
            self,
            **{name: getattr(self, name) + number for name, number in more.items()},
        )

    def __sub__(self, other: Counters) -> Counters:
        """What was added since then."""
        return Counters(
            **{name: getattr(self, name) - getattr(other, name) for name in _NAMES}
        )


_NAMES: Final = tuple(Counters.__dataclass_fields__)
_COUNTED: Final[Mapping[Event, str]] = MappingProxyType(
    {
        Event.CLAIMED: "attempts",
        Event.ERRED: "failures",
        Event.LEASE_LOST: "failures",
        Event.MISREVIEWED: "review_failures",
        Event.UNPARSEABLE: "parse_failures",
        Event.RETURNED: "review_rounds",
        Event.IDLED: "idle_rounds",
        Event.ASKED_AGAIN: "attempts",
    }
)
_MENDED: Final[Mapping[Event, Mapping[str, int]]] = MappingProxyType(
    {
        Event.ASKED_AGAIN: {"attempts": 1, "parse_failures": 1},
        Event.REVIEWER_ASKED_AGAIN: {"review_failures": 1},
    }
)
"""What an answer that is asked for again within a run has cost: it is counted, and not held against the task."""


FORGIVES: Final = frozenset((Event.ANSWERED, Event.GRANTED, Event.REQUEUED))
"""What a person does to give a task another chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStanding:
    """All that the lifecycle knows of one task."""

    state: State = State.PENDING
    waiting: Waiting | None = None
    counters: Counters = Counters()
    forgiven: Counters = (
        Counters()
    )  # the counters when a person last gave it another chance

    @property
    def used(self) -> Counters:
        """What was used up since a person last gave it another chance."""
        return self.counters - self.forgiven


AT_THE_BEGINNING: Final = TaskStanding()


def next_state(state: State, event: Event) -> State:
    """The table, asked once. Raises IllegalTransition."""
    try:
        return LIFECYCLE[state][event]
    except KeyError:
        raise IllegalTransition(state, event, LIFECYCLE[state]) from None


def advance(
    standing: TaskStanding, event: Event, *, waiting: Waiting | None = None
) -> TaskStanding:
    """One step of one task: the new state, why it waits if it does, and one counter more where the event costs one.

    Raises IllegalTransition for a move the table does not know; then nothing has changed.
    """
    state = next_state(standing.state, event)
    reason = (waiting or WAITS_FOR.get(event)) if state is State.BLOCKED else None
    counters = _count(standing, event)
    forgiven = (
        counters
        if event in FORGIVES
        else standing.forgiven.plus(**_MENDED.get(event, {}))
    )
    return TaskStanding(
        state=state, waiting=reason, counters=counters, forgiven=forgiven
    )


def _count(standing: TaskStanding, event: Event) -> Counters:
    name = _COUNTED.get(event)
    if event is Event.UNPARSEABLE and standing.state is State.READY_TO_CHECK:
        name = "review_failures"  # the reviewer's message, not the executor's
    return standing.counters.plus(**{name: 1}) if name else standing.counters
