"""What came of an executor's run, as it is kept between the two steps of an attempt.

It is kept before anything is decided, so that a run that was paid for is not made again because its settling failed. The keys
are part of what `ports.VERSION` stands for: workflows of earlier processes were kept with them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.protocol import Produced


@dataclass(frozen=True, slots=True)
class KeptRun:
    """The message a run has brought, our report of the run, and the verdict where a change was judged."""

    message: bytes | None
    report: dict[str, Any]
    judged: JsonObject | None

    @classmethod
    def of(cls, produced: Produced) -> Self:
        """What an executor has produced."""
        return cls(produced.raw, produced.to_json(), produced.judged)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """As it was kept."""
        text = kept["raw"]
        message = None if text is None else base64.b64decode(text)
        return cls(message, kept["seen"], kept["judged"])

    def to_json(self) -> JsonObject:
        """As it is kept."""
        text = None if self.message is None else base64.b64encode(self.message).decode()
        return {"raw": text, "seen": self.report, "judged": self.judged}
