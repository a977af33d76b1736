"""The outcome of an executor's run, as it is kept between the two steps of an attempt.

It is kept before any decision, so that a paid run is not repeated because settling it
failed. The keys are part of what `ports.VERSION` stands for: workflows of earlier
processes were kept with them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.protocol import RunOutcome


@dataclass(frozen=True, slots=True)
class KeptRun:
    """The message of a run, our report of it, and the verdict on a judged change."""

    message: bytes | None
    report: dict[str, Any]
    judged: JsonObject | None

    @classmethod
    def of(cls, produced: RunOutcome) -> Self:
        """Return what is kept of an executor's outcome."""
        return cls(produced.raw, produced.to_json(), produced.judged)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return a run as it was kept."""
        encoded = kept["raw"]
        message = None if encoded is None else base64.b64decode(encoded)
        return cls(message, kept["seen"], kept["judged"])

    def to_json(self) -> JsonObject:
        """Return the run as it is kept."""
        encoded = None
        if self.message is not None:
            encoded = base64.b64encode(self.message).decode()
        return {"raw": encoded, "seen": self.report, "judged": self.judged}
