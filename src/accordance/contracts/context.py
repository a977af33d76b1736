"""What a check may know beside the message: who was asked, for what, within which bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from accordance.contracts.pins import Pins

APPROVE_AT: Final = 90  # the score from which a review approves; one setting for contract, gate and prompt
ROLES: Final = frozenset(
    (
        "planner",
        "splitter",
        "engineer",
        "reviewer",
        "doc",
        "ssot_curator",
        "designer",
        "executor",
    )
)
READING_ROLES: Final = frozenset(
    ("planner", "splitter", "reviewer", "designer")
)  # these change no files
EXECUTOR_KINDS: Final = ("command", "llm", "codex", "opencode", "claude", "external")
"""The kinds of executors there are: one list for tasks, routes and settings."""
ALSO_CALLED: Final[Mapping[str, str]] = MappingProxyType({"opencode": "opencodecli"})
"""Other names by which tasks allow a kind of executor."""
EXECUTORS: Final = frozenset((*EXECUTOR_KINDS, *ALSO_CALLED.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The typed context of a check. Everything is optional; what is absent is not checked."""

    task_id: str | None = (
        None  # the task that was asked: a message for another one is refused
    )
    plan_id: str | None = None  # what a review of a PLAN carries as its task_id
    threshold: int = APPROVE_AT
    pins: Pins | None = None  # the task's pins, for the paths a submission declares
    allowed_tests: tuple[str, ...] = ()
    roles: frozenset[str] = ROLES
    executors: frozenset[str] = EXECUTORS
    profile: str = "strict"


NO_CONTEXT: Final = Context()
