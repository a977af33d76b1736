"""What a check may know besides the message: the task, its bounds, the threshold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from accordance.contracts.pins import Pins

APPROVE_AT: Final = 90
"""The score from which a review approves, for contract, gate and prompt alike."""
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
READING_ROLES: Final = frozenset(("planner", "splitter", "reviewer", "designer"))
"""The roles that change no files."""
EXECUTOR_KINDS: Final = ("command", "llm", "codex", "opencode", "claude", "external")
"""The kinds of executors, for tasks, routes and settings alike."""
EXECUTOR_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {"opencode": "opencodecli"}
)
"""Other names by which tasks allow a kind of executor."""
EXECUTORS: Final = frozenset((*EXECUTOR_KINDS, *EXECUTOR_ALIASES.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The typed context of a check.

    Everything is optional, and what is absent is not checked. A message for another
    task than `task_id` is refused. The review of a PLAN carries `plan_id` as its
    task_id. `pins` are those of the task, for the paths that a submission declares.
    """

    task_id: str | None = None
    plan_id: str | None = None
    threshold: int = APPROVE_AT
    pins: Pins | None = None
    allowed_tests: tuple[str, ...] = ()
    roles: frozenset[str] = ROLES
    executors: frozenset[str] = EXECUTORS
    profile: str = "strict"


NO_CONTEXT: Final = Context()
