"""The outcome of an executor's run, as it is kept between the two steps of an attempt.

It is kept before any decision, so that a paid run is not repeated because settling it
failed. The keys are part of what `ports.VERSION` stands for: workflows of earlier
processes were kept with them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from accordance.contracts.jsonpath import JsonObject
from accordance.executors.protocol import RunLog, RunOutcome

_AS_MESSAGE: Final = True
"""In place of a log that is the message itself."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """The message of a run, our report of it, the verdict on a change, and logs."""

    message: bytes | None
    report: dict[str, Any]
    judged: JsonObject | None
    logs: tuple[RunLog, ...] = ()

    @classmethod
    def of(cls, produced: RunOutcome) -> Self:
        """Return what is kept of an executor's outcome."""
        return cls(produced.raw, produced.to_json(), produced.judged, produced.logs)

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> Self:
        """Return a run as it was kept."""
        message = _bytes(kept["raw"])
        logs = []
        for log in kept.get("logs", ()):
            content = message if log["raw"] is _AS_MESSAGE else _bytes(log["raw"])
            logs.append(
                RunLog(
                    name=log["name"],
                    sha256=log["sha256"],
                    size=log["size"],
                    content=content,
                )
            )
        return cls(message, kept["seen"], kept["judged"], tuple(logs))

    def to_json(self) -> JsonObject:
        """Return the run as it is kept."""
        kept: JsonObject = {
            "raw": _text(self.message),
            "seen": self.report,
            "judged": self.judged,
        }
        if self.logs:
            kept["logs"] = [self._log(log) for log in self.logs]
        return kept

    def _log(self, log: RunLog) -> JsonObject:
        """A log; many programs print their message and nothing else."""
        is_message = log.content is not None and log.content == self.message
        raw = _AS_MESSAGE if is_message else _text(log.content)
        return {"name": log.name, "sha256": log.sha256, "size": log.size, "raw": raw}


def _text(raw: bytes | None) -> str | None:
    return None if raw is None else base64.b64encode(raw).decode()


def _bytes(encoded: str | None) -> bytes | None:
    return None if encoded is None else base64.b64decode(encoded)
