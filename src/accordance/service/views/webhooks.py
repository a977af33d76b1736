"""Webhooks and what was sent to them."""

from __future__ import annotations

from typing import Any

from accordance.service.views.base import View


class WebhookView(View):
    """Where notifications are sent."""

    webhook_id: str
    url: str
    kinds: tuple[str, ...]
    made_by: str
    made_at: str


class WebhookListView(View):
    """All webhooks of a project."""

    items: tuple[WebhookView, ...]


class NewWebhookView(WebhookView):
    """A webhook that was just made."""

    secret: str  # shown this once; signatures are made with it


class RemovedWebhookView(View):
    """A webhook that nothing is sent to any more."""

    webhook_id: str


class DeliveryView(View):
    """A notification that is sent, or was."""

    delivery_id: str
    webhook_id: str
    kind: str
    payload: dict[str, Any]
    made_at: str
    state: str
    attempts: int
    next_at: str | None
    status: int | None  # of the last answer
    error: str | None
    ended_at: str | None


class DeliveryListView(View):
    """The newest deliveries of a webhook."""

    items: tuple[DeliveryView, ...]
