"""What happened."""

from __future__ import annotations

from typing import Any

from accordance.domain.chain import ChainEntry
from accordance.service.views.base import PageView, View


class EventView(View):
    """A link of a plan's chain, or of the ledger's own, which has no plan."""

    number: int  # among all events of the ledger
    plan_id: str | None
    seq: int  # in its chain
    at: str
    kind: str
    task_id: str | None
    payload: dict[str, Any]
    hash: str


class EventPageView(PageView):
    """A page of events."""

    items: tuple[EventView, ...]


def event_view(entry: ChainEntry) -> EventView:
    """Show an event."""
    return EventView(
        number=entry.number or 0,
        plan_id=entry.plan_id or None,
        seq=entry.seq,
        at=entry.at,
        kind=entry.kind,
        task_id=entry.task_id,
        payload=dict(entry.payload),
        hash=entry.hash,
    )
