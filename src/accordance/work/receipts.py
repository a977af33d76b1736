"""Receipts: the answer to a message, the same however often the message comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from accordance.contracts.violation import Accepted, Rejected

Status: TypeAlias = Literal["accepted", "rejected", "refused"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The answer to a message.

    A refused message came too late, or for something else; it changed nothing.
    """

    content: Mapping[str, Any]
    repeated: bool = False

    @property
    def status(self) -> Status:
        """Accepted, rejected by its contract, or refused."""
        status: Status = self.content["status"]
        return status

    def to_json(self) -> dict[str, Any]:
        """The receipt as plain JSON."""
        return {**self.content, "repeated": self.repeated}


def violations_of(result: Accepted[Any] | Rejected) -> list[dict[str, Any]]:
    """Return why a message was rejected, as plain JSON."""
    if not isinstance(result, Rejected):
        return []
    return [violation.to_json() for violation in result.violations]
