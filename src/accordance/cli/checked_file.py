"""One checked file."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from accordance.cli.locating import LineAndColumn, places
from accordance.contracts.violation import Accepted, Notice, Rejected, Violation


@dataclass(frozen=True)
class Checked:
    """A file, its bytes and what came of it."""

    file: str
    raw: bytes
    result: Accepted[Any] | Rejected

    @cached_property
    def text(self) -> str:
        """The text, for finding lines only."""
        return self.raw.decode("utf-8", "replace")

    @cached_property
    def places(self) -> dict[str, LineAndColumn]:
        """Where the findings are."""
        found: tuple[Violation | Notice, ...]
        found = (
            self.result.violations
            if isinstance(self.result, Rejected)
            else self.result.warnings
        )
        return places(self.text, found, self.result.repairs) if found else {}
