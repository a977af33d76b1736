"""What a machine and a ledger can do."""

from __future__ import annotations

from accordance.service.views.base import View


class HealthView(View):
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    needed: bool = True  # whether something is broken if it is not there

    @property
    def is_broken(self) -> bool:
        """Whether something needed is missing."""
        return self.needed and not self.ok
