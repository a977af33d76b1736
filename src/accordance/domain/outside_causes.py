"""Causes outside a task: a missing key, program or route, an endpoint that is away.

Nothing about the task is wrong, so it goes on by itself once the cause is gone. `faults`
lists the faults of this kind. The caller that starts a run tries out whether a cause is
gone; this module decides what follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from accordance.domain.faults import FAULTS, Fault
from accordance.domain.lifecycle import Event, State
from accordance.domain.records import QuestionRecord
from accordance.domain.task_ruling import Ruling

_OF_REVIEW: Final = "of_review"


@dataclass(frozen=True, slots=True)
class OutsideCause:
    """Why tasks wait, and for what. Tasks with equal causes wait for the same thing."""

    fault: Fault
    lacks: str  # the variable, the program, the address ...

    @property
    def key(self) -> str:
        """The cause in a text, which several questions may have in common."""
        return f"{self.fault}: {self.lacks}"

    @property
    def mend(self) -> str:
        """What a person does about it."""
        return FAULTS[self.fault].mend

    @property
    def is_about_a_key(self) -> bool:
        """Whether it waits for a key."""
        return self.fault is Fault.KEY_MISSING


def outside_cause(fault: Fault, lacks: str) -> OutsideCause | None:
    """Return the cause of a fault; None if it lies in the task, or is not known."""
    if not lacks or not FAULTS[fault].mend:
        return None
    return OutsideCause(fault, lacks)


def cause_from(key: str | None) -> OutsideCause | None:
    """Read the cause that is kept with a question; None if it has none."""
    name, _, lacks = (key or "").partition(": ")
    try:
        fault = Fault(name)
    except ValueError:
        return None
    return outside_cause(fault, lacks)


def review_details() -> dict[str, object]:
    """What marks a question about a review that failed, not about the work itself."""
    return {_OF_REVIEW: True}


def is_of_review(question: QuestionRecord) -> bool:
    """Whether the product waits for a review, and not the task for its work."""
    return question.details.get(_OF_REVIEW) is True


def with_cause(
    ruling: Ruling,
    cause: OutsideCause | None,
    details: Mapping[str, object] | None = None,
) -> Ruling:
    """Return a ruling whose question, if any, names the cause."""
    if ruling.ask is None or cause is None:
        return ruling
    ask = replace(
        ruling.ask,
        cause=cause.key,
        details={**ruling.ask.details, **(details or {})},
    )
    return replace(ruling, ask=ask)


def event_of_going_on(
    question: QuestionRecord,
    state: State,
    obstacle: str | None,
) -> Event | None:
    """Return how a task goes on whose question has a cause outside.

    `state` is that of the task, `obstacle` says what would keep it from beginning now.
    None: it goes on waiting.
    """
    is_open = question.answered_at is None
    has_cause = cause_from(question.cause) is not None
    if not is_open or not has_cause or state is not State.BLOCKED:
        return None
    if obstacle is not None:
        return None
    return Event.REVIEW_CAUSE_GONE if is_of_review(question) else Event.CAUSE_GONE
