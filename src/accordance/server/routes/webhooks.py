"""Webhooks: added and removed by admins, with the log of what was sent."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import Request
from starlette.responses import Response

from accordance.server.authentication import Manager
from accordance.server.requests import WebhookWanted
from accordance.server.routing import ACT
from accordance.server.routing import router as new_router
from accordance.server.showing import shown
from accordance.server.state import state_of
from accordance.service import webhooks
from accordance.service.views.webhooks import (
    DeliveryListView,
    DeliveryView,
    NewWebhookView,
    RemovedWebhookView,
    WebhookListView,
)

router = new_router("webhooks")


@router.get("/webhooks", response_model=WebhookListView)
def list_webhooks(request: Request, caller: Manager) -> Response:
    """List the webhooks of the project."""
    return shown(request, webhooks.list_webhooks(caller.project))


@router.post(
    "/webhooks",
    response_model=NewWebhookView,
    status_code=HTTPStatus.CREATED,
    responses=ACT,
)
def make_webhook(request: Request, caller: Manager, body: WebhookWanted) -> Response:
    """Add a webhook. Its secret is shown this once."""
    made = webhooks.make_webhook(
        caller.project,
        body.url,
        body.kinds,
        by=caller.name,
        private=caller.tenant.settings.private_webhooks,
    )
    return shown(request, made, status=HTTPStatus.CREATED)


@router.post(
    "/webhooks/{webhook}/remove", response_model=RemovedWebhookView, responses=ACT
)
def remove_webhook(request: Request, caller: Manager, webhook: str) -> Response:
    """Send nothing more to a webhook."""
    removed = webhooks.remove_webhook(caller.project, webhook, by=caller.name)
    return shown(request, removed)


@router.get("/webhooks/{webhook}/deliveries", response_model=DeliveryListView)
def list_deliveries(request: Request, caller: Manager, webhook: str) -> Response:
    """List the newest deliveries of a webhook, with what came of each."""
    return shown(request, webhooks.list_deliveries(caller.project, webhook))


@router.post(
    "/deliveries/{delivery}/redeliver", response_model=DeliveryView, responses=ACT
)
def redeliver(request: Request, caller: Manager, delivery: str) -> Response:
    """Send a notification again, now."""
    again = webhooks.redeliver(caller.project, delivery)
    for sender in state_of(request).senders:
        sender.wake()
    return shown(request, again)
