"""What accordance thinks of a message while its agent still runs: provisional, for the agent to act on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from accordance.api import check
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
    is_final: bool = (
        False  # nothing to mend: it asks a person, or says itself that it has failed
    )

    def to_json(self) -> JsonObject:
        """As the agent is told."""
        verdict = "DONE" if self.done else "RETRY"
        return {
            "verdict": verdict,
            "reason_code": self.reason_code,
            "messages": self.text.splitlines(),
            "provisional": True,
        }


def by_contract(raw: bytes, contract: Contract[Any], context: Context) -> Opinion:
    """What can be said from the message alone."""
    result = check(raw, contract, context)
    if isinstance(result, Accepted):
        return Opinion(
            done=True,
            text="The message honours its contract. It is judged when you have ended.",
        )
    return Opinion(done=False, text=feedback(result), reason_code="SCHEMA_VIOLATION")
