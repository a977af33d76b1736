"""What whoever hands in a message is told: the same for the same message, however often it comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from accordance.contracts.violation import Accepted, Rejected

Status: TypeAlias = Literal["accepted", "rejected", "refused"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What came of a message. `refused`: it came too late, or for something else; nothing was changed by it."""

    content: Mapping[str, Any]
    repeated: bool = False

    @property
    def status(self) -> Status:
        """Accepted, rejected by its contract, or refused."""
        found: Status = self.content["status"]
        return found

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {**self.content, "repeated": self.repeated}


def violations_of(result: Accepted[Any] | Rejected) -> list[dict[str, Any]]:
    """Why a message was rejected."""
    return (
        [violation.to_json() for violation in result.violations]
        if isinstance(result, Rejected)
        else []
    )
