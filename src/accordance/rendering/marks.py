"""The mark of each state, in every picture of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from accordance.domain.lifecycle import State

MARKS: Final[Mapping[State, str]] = MappingProxyType(
    {
        State.PENDING: "·",
        State.READY: "○",
        State.IN_PROGRESS: "◐",
        State.READY_TO_CHECK: "◑",
        State.TO_BE_MODIFY: "↻",
        State.BLOCKED: "‖",
        State.FAILED: "✗",
        State.DONE: "●",
        State.ABANDONED: "–",
        State.DEAD_LETTER: "†",
    }
)
