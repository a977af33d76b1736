"""What a check may know beside the message: who was asked, for what, within which bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accordance.contracts.pins import Pins

APPROVE_AT: Final = 90  # the score from which a review approves; one setting for contract, gate and prompt
ROLES: Final = frozenset(
    ("planner", "splitter", "engineer", "reviewer", "doc", "ssot_curator", "designer", "executor")
)
READING_ROLES: Final = frozenset(("planner", "splitter", "reviewer", "designer"))  # these change no files
EXECUTORS: Final = frozenset(("opencodecli", "codex"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The typed context of a check. Everything is optional; what is absent is not checked."""

    task_id: str | None = None  # the task that was asked: a message for another one is refused
    plan_id: str | None = None  # what a review of a PLAN carries as its task_id
    threshold: int = APPROVE_AT
    pins: Pins | None = None  # the task's pins, for the paths a submission declares
    allowed_tests: tuple[str, ...] = ()
    roles: frozenset[str] = ROLES
    executors: frozenset[str] = EXECUTORS
    profile: str = "strict"


NO_CONTEXT: Final = Context()
