"""A provisional opinion on a message, for an agent that can still act on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accordance.contracts.context import Context
from accordance.contracts.contract import Contract
from accordance.contracts.feedback import feedback
from accordance.contracts.jsonpath import JsonObject
from accordance.contracts.violation import Accepted


@dataclass(frozen=True, slots=True)
class Opinion:
    """DONE or RETRY, and what to do about it."""

    done: bool
    text: str
    reason_code: str | None = None
    is_final: bool = False
    """Nothing can be fixed: the message asks a person, or admits failure itself."""

    def to_json(self) -> JsonObject:
        """Return the opinion as the agent sees it."""
        return {
            "verdict": "DONE" if self.done else "RETRY",
            "reason_code": self.reason_code,
            "messages": self.text.splitlines(),
            "provisional": True,
        }


def by_contract(raw: bytes, contract: Contract[Any], context: Context) -> Opinion:
    """Return the opinion that follows from the message alone."""
    from accordance.api import check  # the catalogue; readers of logs need none

    result = check(raw, contract, context)
    if isinstance(result, Accepted):
        return Opinion(
            done=True,
            text="The message honours its contract. It is judged after you end.",
        )
    return Opinion(
        done=False,
        text=feedback(result),
        reason_code="SCHEMA_VIOLATION",
    )
