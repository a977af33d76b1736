"""Who has a task."""

from __future__ import annotations

from accordance.domain.records import Lease
from accordance.service.views.base import View


class LeaseView(View):
    """Who has a task, and until when it is theirs."""

    holder: str
    until: str


def lease_view(lease: Lease | None) -> LeaseView | None:
    """Show a lease, if a task has one."""
    if lease is None:
        return None
    return LeaseView(holder=lease.holder, until=lease.until)
