"""The values of a ruling: the task's history, the decision, the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeAlias

from accordance.domain.lifecycle import Counters, Event, Waiting
from accordance.domain.verdict import Outcome


class QuestionKind(StrEnum):
    """What a person is asked for."""

    DOCUMENTS = "DOCUMENTS"  # an attempt needs files
    HELP = "HELP"  # an attempt or a review needs something from outside
    DECISION = "DECISION"  # attempts or rounds are used up
    CONFIRMATION = "CONFIRMATION"  # a requirement of that kind
    BINDING = "BINDING"  # which requirement a file is meant for
    GOAL = "GOAL"  # a goal cannot finish
    PLAN = "PLAN"  # the plan's review needs something, or its fuse has blown
    APPROVAL = "APPROVAL"  # the plan waits for its review


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question to a person."""

    kind: QuestionKind
    text: str
    details: Mapping[str, object] = field(default_factory=dict)
    cause: str | None = None  # outside the task; see `outside_causes`


Step: TypeAlias = tuple[Event, Waiting | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskHistory:
    """What counts beside the message itself."""

    used: Counters  # since a person last gave it a chance, before this message
    last_error: str | None = None  # of the last failed attempt
    same_errors: int = 0  # how often in a row that error has come
    has_rival: bool = False  # another alternative could be tried
    other_checks: int = 0  # checks of the same product that have not approved yet
    has_stronger: bool = False  # a stronger model could be asked next
    is_behind: bool = False
    """The plan has moved on: the change is made again. In old ledgers only."""
    is_overtaken: bool = False  # the plan has moved on: the change is to be rebased
    is_rebase: bool = False  # accordance applied a good change to the plan's new head

    def to_json(self) -> dict[str, Any]:
        """The history as plain JSON, to be kept with a message."""
        values = {name: getattr(self, name) for name in _OF_HISTORY}
        return {**values, "used": self.used.to_json()}


_OF_HISTORY: Final = tuple(TaskHistory.__dataclass_fields__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What is decided about a message, and why.

    `steps` happen to the task, `check_steps` to the check that sent the message, each
    in this order.
    """

    steps: tuple[Step, ...] = ()
    check_steps: tuple[Step, ...] = ()
    outcome: Outcome | None = None  # None: undecided until a review
    reason: str = ""
    messages: tuple[str, ...] = ()
    error: str | None = None  # what the attempt failed of; equal texts are equal errors
    ask: Ask | None = None
