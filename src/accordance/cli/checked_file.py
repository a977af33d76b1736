"""A file whose message has been checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from accordance.cli.locating import LineAndColumn, places
from accordance.contracts.violation import Accepted, Notice, Rejected, Violation


@dataclass(frozen=True)
class Checked:
    """A file, its bytes, and the result of checking them."""

    file: str
    raw: bytes
    result: Accepted[Any] | Rejected

    @property
    def findings(self) -> tuple[Violation | Notice, ...]:
        """The violations of a rejected message, the warnings of an accepted message."""
        if isinstance(self.result, Rejected):
            return self.result.violations
        return self.result.warnings

    @cached_property
    def places(self) -> dict[str, LineAndColumn]:
        """The line and column of each path that has a finding."""
        if not self.findings:
            return {}
        text = self.raw.decode("utf-8", "replace")
        return places(text, self.findings, self.result.repairs)
