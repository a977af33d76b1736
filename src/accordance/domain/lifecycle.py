"""The life of a task: a table, state x event -> state. Nothing else changes a state.

The rules of this file: every state has a row, also those that nothing leaves; an event
that is not in the row is illegal, raises, and changes nothing; what an event needs
beside the state (an approved artifact, a reason to wait) is its guard and is checked in
`advance`. Counters only grow. docs/lifecycle.md is generated from the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accordance.errors import IllegalTransition


class State(StrEnum):
    """The state of a task."""

    PENDING = "PENDING"  # waits for prerequisites or inputs
    READY = "READY"  # may be claimed
    IN_PROGRESS = "IN_PROGRESS"  # is being worked on
    READY_TO_CHECK = "READY_TO_CHECK"  # has a product that waits for its review
    TO_BE_MODIFY = "TO_BE_MODIFY"  # returned with suggestions; may be claimed
    BLOCKED = "BLOCKED"  # waits for a person or a skill; sticky
    FAILED = "FAILED"  # the last attempt failed
    DONE = "DONE"
    ABANDONED = "ABANDONED"  # not needed: another alternative was chosen, or cancelled
    DEAD_LETTER = "DEAD_LETTER"  # given up; everything is kept


class Waiting(StrEnum):
    """What a blocked task waits for."""

    INPUT = "WAITING_INPUT"
    EXTERNAL = "WAITING_EXTERNAL"
    SKILL = "WAITING_SKILL"


class Event(StrEnum):
    """What can happen to a task."""

    ENABLED = "ENABLED"  # prerequisites and inputs are there
    DISABLED = "DISABLED"  # a prerequisite or an input is gone
    CLAIMED = "CLAIMED"  # an attempt starts
    RELEASED = "RELEASED"  # handed back, nothing lost
    LEASE_LOST = "LEASE_LOST"  # its worker is gone
    IDLED = "IDLED"  # the attempt reports that there is nothing to do (NOOP)
    PRODUCED = "PRODUCED"  # the attempt delivered an artifact
    ASKED = "ASKED"  # the attempt needs documents (NEEDS_INPUT)
    STALLED = "STALLED"  # the attempt cannot continue without outside help
    ERRED = "ERRED"  # the attempt failed
    UNPARSEABLE = "LLM_UNPARSEABLE"  # the message, or the review, breaks its contract
    ASKED_AGAIN = "ASKED_AGAIN"  # its sender is asked again within the same run
    REVIEWER_ASKED_AGAIN = "REVIEWER_ASKED_AGAIN"  # the same, for a review
    APPROVED = "APPROVED"  # by the review, or by the verdict
    RETURNED = "RETURNED"  # the review wants changes
    REFERRED = "REFERRED"  # the review wants external input
    OVERTAKEN = "OVERTAKEN"  # a good change that is to land on the plan's new head
    MISREVIEWED = "REVIEW_FAILED"  # the reviewer's run ended without a review
    RECHECKED = "REVIEW_RETRIED"  # the policy gives its product another review
    ANSWERED = "ANSWERED"  # a person answered, or the input arrived
    RETRIED = "RETRIED"  # the policy gives it another attempt
    GRANTED = "GRANTED"  # a person gives it another chance: used-up limits are forgiven
    CAUSE_GONE = "CAUSE_GONE"  # the cause outside that blocked it is gone
    REVIEW_CAUSE_GONE = "REVIEW_CAUSE_GONE"  # the same, for a review
    VOUCHED = "VOUCHED"  # a person approves the existing product
    ESCALATED = "ESCALATED"  # attempts or rounds are used up: a person decides
    BURIED = "BURIED"  # given up
    REQUEUED = "REQUEUED"  # taken back from the dead letters
    COMPLETED = "COMPLETED"  # its parts are done, all or any; a check's approval stands
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
            Event.OVERTAKEN: State.READY,
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
            Event.OVERTAKEN: State.READY,
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
            Event.CAUSE_GONE: State.READY,
            Event.REVIEW_CAUSE_GONE: State.READY_TO_CHECK,
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
"""The table.

Nothing leaves DONE. A task leaves ABANDONED only when its alternative is chosen again,
and DEAD_LETTER only by a person.
"""

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
"""What a blocked task waits for, by the event; a failed skill may wait for another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """How often things happened.

    They are counted separately: an executor that fails is not a reviewer that
    disagrees. An attempt is known by its number.
    """

    attempts: int = 0  # started, whatever their outcome
    failures: int = 0
    parse_failures: int = 0
    idle_rounds: int = 0
    review_rounds: int = 0
    review_failures: int = 0

    @property
    def attempt_count(self) -> int:
        """All tries: attempts that were started, and reviews that failed."""
        return self.attempts + self.review_failures

    def plus(self, **more: int) -> Counters:
        """Return the counters with so much more of each."""
        counts = {}
        for name, number in more.items():
            counts[name] = getattr(self, name) + number
        return replace(self, **counts)

    def __sub__(self, other: Counters) -> Counters:
        """Return what was added since then."""
        counts = {name: getattr(self, name) - getattr(other, name) for name in _NAMES}
        return Counters(**counts)

    def to_json(self) -> dict[str, int]:
        """The counters by their names."""
        return {name: getattr(self, name) for name in _NAMES}


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
_FORGIVEN_AT_ONCE: Final[Mapping[Event, Mapping[str, int]]] = MappingProxyType(
    {
        Event.ASKED_AGAIN: {"attempts": 1, "parse_failures": 1},
        Event.REVIEWER_ASKED_AGAIN: {"review_failures": 1},
    }
)
"""The cost of asking again within a run: counted, but not held against the task."""

FORGIVES: Final = frozenset(
    (
        Event.ANSWERED,
        Event.GRANTED,
        Event.CAUSE_GONE,
        Event.REVIEW_CAUSE_GONE,
        Event.REQUEUED,
    )
)
"""The events that give a task another chance: a person's, and the end of a cause that
never was the task's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStanding:
    """All that the lifecycle knows of a task.

    `forgiven` are the counters when a person last gave it another chance.
    """

    state: State = State.PENDING
    waiting: Waiting | None = None
    counters: Counters = Counters()
    forgiven: Counters = Counters()

    @property
    def used(self) -> Counters:
        """What was used up since a person last gave it another chance."""
        return self.counters - self.forgiven


AT_THE_BEGINNING: Final = TaskStanding()


def next_state(state: State, event: Event) -> State:
    """Return the state after an event. Raises IllegalTransition."""
    try:
        return LIFECYCLE[state][event]
    except KeyError:
        raise IllegalTransition(state, event, LIFECYCLE[state]) from None


def advance(
    standing: TaskStanding,
    event: Event,
    *,
    waiting: Waiting | None = None,
) -> TaskStanding:
    """Return the standing after an event: state, reason to wait, counters.

    Raises IllegalTransition for a move that is not in the table.
    """
    state = next_state(standing.state, event)

    reason = None
    if state is State.BLOCKED:
        reason = waiting or WAITS_FOR.get(event)

    counters = _counted(standing, event)
    forgiven = standing.forgiven
    if event in FORGIVES:
        forgiven = counters
    elif event in _FORGIVEN_AT_ONCE:
        forgiven = forgiven.plus(**_FORGIVEN_AT_ONCE[event])

    return TaskStanding(
        state=state,
        waiting=reason,
        counters=counters,
        forgiven=forgiven,
    )


def _counted(standing: TaskStanding, event: Event) -> Counters:
    """Return the counters after an event."""
    name = _COUNTED.get(event)
    is_about_a_review = standing.state is State.READY_TO_CHECK
    if event is Event.UNPARSEABLE and is_about_a_review:
        name = "review_failures"  # the message is the reviewer's, not the executor's
    if name is None:
        return standing.counters
    return standing.counters.plus(**{name: 1})
