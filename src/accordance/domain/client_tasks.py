"""Tasks as a client outside sees them that has handed work over: where they stand.

The words are those of A2A, whose tasks end for good in four of them. So a state that
may still be left is never shown as an end, and a task that is taken back after its end
is a new task to the client, which refers to the old task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from accordance.domain.lifecycle import TERMINAL, Event, State
from accordance.domain.plan_lifecycle import PlanState


class Stage(StrEnum):
    """Where a task stands for a client; the values are A2A's own."""

    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    REJECTED = "TASK_STATE_REJECTED"


STAGES: Final[Mapping[State, Stage]] = MappingProxyType(
    {
        State.PENDING: Stage.SUBMITTED,
        State.READY: Stage.SUBMITTED,
        State.IN_PROGRESS: Stage.WORKING,
        State.READY_TO_CHECK: Stage.WORKING,
        State.TO_BE_MODIFY: Stage.WORKING,
        State.BLOCKED: Stage.INPUT_REQUIRED,
        State.FAILED: Stage.WORKING,  # the policy has not decided yet what follows
        State.DONE: Stage.COMPLETED,
        State.ABANDONED: Stage.CANCELED,
        State.DEAD_LETTER: Stage.FAILED,
    }
)
"""The stage of each state of a task."""

PLAN_STAGES: Final[Mapping[PlanState, Stage]] = MappingProxyType(
    {
        PlanState.IN_REVIEW: Stage.SUBMITTED,
        PlanState.RETURNED: Stage.INPUT_REQUIRED,  # a better plan
        PlanState.HELD: Stage.INPUT_REQUIRED,
        PlanState.ACTIVE: Stage.WORKING,
        PlanState.PAUSED: Stage.WORKING,
        PlanState.FINISHED: Stage.COMPLETED,
        PlanState.CANCELLED: Stage.CANCELED,
    }
)
"""The stage of each state of a plan, whose task is its root. An archived plan is what
it was before."""

ENDS: Final = frozenset((Stage.COMPLETED, Stage.FAILED, Stage.CANCELED, Stage.REJECTED))
WAITS: Final = frozenset((Stage.INPUT_REQUIRED, Stage.AUTH_REQUIRED))
"""The stages in which the next word is the client's, or a person's."""

COMES_BACK: Final[Mapping[Event, Stage]] = MappingProxyType(
    {Event.REQUEUED: Stage.FAILED, Event.CHOSEN: Stage.CANCELED}
)
"""The events that take a task back from an end, and what that end was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFacts:
    """All that the stage of a task depends on."""

    state: State
    plan_state: PlanState | None = None  # of a root only: where its plan stands
    has_begun: bool = False
    asks: bool = False  # a question of it is open
    lacks_key: bool = False  # and every open question waits for a key
    is_with_client: bool = False  # the client itself holds it
    is_refused: bool = False  # the last verdict was a REJECT


def stage_of(facts: StageFacts) -> Stage:
    """Return where a task stands for a client."""
    stage = _stage_in_table(facts)
    if stage is Stage.FAILED and facts.is_refused:
        return Stage.REJECTED
    if stage in ENDS:
        return stage
    if facts.lacks_key:
        return Stage.AUTH_REQUIRED
    if facts.asks or facts.is_with_client:
        return Stage.INPUT_REQUIRED
    return stage


def _stage_in_table(facts: StageFacts) -> Stage:
    has_ended = facts.state in TERMINAL
    if facts.plan_state is not None and not has_ended:
        stage = PLAN_STAGES[facts.plan_state]
        is_waiting = stage is Stage.WORKING and not facts.has_begun
        return Stage.SUBMITTED if is_waiting else stage

    stage = STAGES[facts.state]
    is_between_attempts = stage is Stage.SUBMITTED and facts.has_begun
    return Stage.WORKING if is_between_attempts else stage


# -- names


_MARK: Final = "~"


def name_of(task_id: str, life: int) -> str:
    """Return what a client calls a task that was taken back after its end."""
    return task_id if life == 1 else f"{task_id}{_MARK}{life}"


def life_in(name: str) -> tuple[str, int]:
    """Return the task that such a name means, and which of its lives."""
    task_id, mark, number = name.rpartition(_MARK)
    if not mark or not task_id:
        return name, 1
    is_number = number.isascii() and number.isdecimal() and not number.startswith("0")
    if is_number and number != "1":
        return task_id, int(number[:9])
    return name, 1


# -- what a client is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientArtifact:
    """Something that came of a task: a text, or data."""

    name: str
    about: str
    title: str = ""
    text: str | None = None
    media_type: str = "text/plain"
    data: Mapping[str, Any] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Utterance:
    """A message about a task: from accordance, or from a person."""

    text: str
    is_ours: bool
    data: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientTask:
    """A task as a client sees it."""

    name: str
    plan_id: str
    stage: Stage
    at: str
    status: Utterance
    artifacts: tuple[ClientArtifact, ...] = ()
    talk: tuple[Utterance, ...] = ()  # what was asked before, and answered
    refers_to: str | None = None  # the same task before its end
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def has_ended(self) -> bool:
        """Whether nothing more happens to it."""
        return self.stage in ENDS

    @property
    def rests(self) -> bool:
        """Whether it has ended, or waits for a word."""
        return self.has_ended or self.stage in WAITS
