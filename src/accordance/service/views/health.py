"""What a machine and a ledger can do."""

from __future__ import annotations

from pydantic import Field

from accordance.service.views.base import View


class HealthView(View):
    """A thing that was looked at."""

    name: str
    ok: bool
    found: str
    needed: bool = True  # whether something is broken if it is not there
    code: str = Field(
        default="", exclude=True
    )  # of the error that was met, for a face that knows a way out of it

    @property
    def is_broken(self) -> bool:
        """Whether something needed is missing."""
        return self.needed and not self.ok
