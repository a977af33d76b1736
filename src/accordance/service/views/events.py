"""What happened."""

from __future__ import annotations

from typing import Any

from accordance.domain.chain import ChainEntry
from accordance.service.views.base import View


class EventView(View):
    """One link of a plan's chain."""

    plan_id: str
    seq: int
    at: str
    kind: str
    task_id: str | None
    payload: dict[str, Any]
    hash: str


def event_view(entry: ChainEntry) -> EventView:
    """Show an event."""
    return EventView(
        plan_id=entry.plan_id,
        seq=entry.seq,
        at=entry.at,
        kind=entry.kind,
        task_id=entry.task_id,
        payload=dict(entry.payload),
        hash=entry.hash,
    )
