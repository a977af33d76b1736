"""Webhooks: who hears of questions, dead letters and finished plans, and the log of it."""

from __future__ import annotations

import base64
import datetime as dt
import ipaddress
import secrets
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final
from urllib.parse import urlsplit

from accordance.domain.chain import ChainEntry
from accordance.domain.client_tasks import life_in
from accordance.domain.webhooks import (
    SECRET_PREFIX,
    NotificationKind,
    notification_of,
    pause_after,
)
from accordance.errors import AccordanceError, LedgerUnavailable, NotFound
from accordance.runtime import observing
from accordance.service.events import EventReader
from accordance.service.project import Project
from accordance.service.views.webhooks import (
    DeliveryListView,
    DeliveryView,
    NewWebhookView,
    RemovedWebhookView,
    WebhookListView,
    WebhookView,
)
from accordance.store.clock import now
from accordance.store.sql import SqlLedger
from accordance.store.webhooks import (
    DELIVERED,
    GIVEN_UP,
    WAITING,
    DeliveryRecord,
    WebhookRecord,
    WebhooksInLedger,
)
from accordance.telemetry import tracing
from accordance.telemetry.tracing import SpanPlace

_SECRET_BYTES: Final = 32
_MOST_SHOWN: Final = 200
_MOST_WEBHOOKS: Final = 50
_LEASE_SECONDS: Final = 60.0
_LONGEST_ERROR: Final = 300


class InvalidWebhook(AccordanceError):
    """A webhook that cannot be made as it was asked for."""

    code = "invalid-webhook"


class PrivateTarget(AccordanceError):
    """A webhook would lead into this machine or its private network."""

    code = "private-target"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a webhook leads, looked up: the address that was checked is connected to."""

    url: str
    host: str
    address: str
    port: int

    @property
    def is_secure(self) -> bool:
        """Whether it is reached over TLS."""
        return self.url.startswith("https:")


# -- where a webhook leads


def target_of(url: str, *, private: bool = False) -> Target:
    """Look a webhook's address up.

    Raises InvalidWebhook, and PrivateTarget unless private addresses are allowed.
    """
    try:
        parts = urlsplit(url)
        usual_port = 443 if parts.scheme == "https" else 80
        port = parts.port or usual_port
    except ValueError:
        raise InvalidWebhook("the address of the webhook cannot be read") from None
    host = parts.hostname
    if parts.scheme not in ("http", "https") or not host or parts.username:
        raise InvalidWebhook(
            "a webhook is an http or https address", way_out="https://host/path"
        )
    addresses = _addresses(host, port)
    if not private:
        for address in addresses:
            if not ipaddress.ip_address(address).is_global:
                raise PrivateTarget(
                    f"{host} is at {address}, which is no public address",
                    way_out="allow it with private_webhooks in [server]",
                )
    return Target(url, host, addresses[0], port)


def _addresses(host: str, port: int) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise InvalidWebhook(f"the host {host[:100]!r} is not known") from None
    hosts = [str(entry[4][0]) for entry in entries]
    without_zones = [host.partition("%")[0] for host in hosts]
    return list(dict.fromkeys(without_zones))


# -- made and removed


def make_webhook(
    project: Project,
    url: str,
    kinds: Sequence[str],
    *,
    by: str,
    private: bool = False,
) -> NewWebhookView:
    """Make a webhook for some kinds of notifications, or for all.

    It hears what happens from now on. Raises InvalidWebhook, PrivateTarget.
    """
    target_of(url, private=private)
    unknown = [kind for kind in kinds if kind not in list(NotificationKind)]
    if unknown:
        raise InvalidWebhook(
            f"there is no notification {unknown[0][:60]!r}",
            way_out=f"known: {', '.join(NotificationKind)}",
        )
    store = webhooks_of(project)
    if len(_own(store)) >= _MOST_WEBHOOKS:
        raise InvalidWebhook(f"a project has at most {_MOST_WEBHOOKS} webhooks")
    with project.ledger.read() as tx:
        seen = tx.last_number()
    record = WebhookRecord(
        webhook_id=new_webhook_id(),
        url=url,
        secret=new_secret(),
        kinds=tuple(dict.fromkeys(kinds)),
        made_by=by,
        made_at=now(),
        seen=seen,
    )
    store.add(record)
    return NewWebhookView(**dict(_view(record)), secret=record.secret)


def new_webhook_id() -> str:
    """Return a name for a webhook."""
    return f"wh-{secrets.token_hex(8)}"


def new_secret() -> str:
    """Return a secret to sign deliveries with."""
    secret = base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    return f"{SECRET_PREFIX}{secret}"


def list_webhooks(project: Project) -> WebhookListView:
    """Return the webhooks of a project."""
    return WebhookListView(items=tuple(map(_view, _own(webhooks_of(project)))))


def _own(store: WebhooksInLedger) -> list[WebhookRecord]:
    """Return the webhooks that follow the whole project."""
    return [webhook for webhook in store.active() if webhook.push is None]


def remove_webhook(project: Project, webhook_id: str, *, by: str) -> RemovedWebhookView:
    """Send nothing more to a webhook. Raises NotFound."""
    if not webhooks_of(project).disable(webhook_id, by=by):
        raise NotFound("webhook", webhook_id)
    return RemovedWebhookView(webhook_id=webhook_id)


def list_deliveries(project: Project, webhook_id: str) -> DeliveryListView:
    """Return the newest deliveries of a webhook. Raises NotFound."""
    known = [record.webhook_id for record in webhooks_of(project).active()]
    if webhook_id not in known:
        raise NotFound("webhook", webhook_id, known)
    deliveries = webhooks_of(project).deliveries(webhook_id, _MOST_SHOWN)
    return DeliveryListView(items=tuple(map(_delivery_view, deliveries)))


def redeliver(project: Project, delivery_id: str) -> DeliveryView:
    """Send a notification again, now. Raises NotFound."""
    store = webhooks_of(project)
    delivery = store.delivery(delivery_id)
    if delivery is None:
        raise NotFound("delivery", delivery_id)
    again = replace(
        delivery,
        state=WAITING,
        attempts=0,
        next_at=now(),
        error=None,
        ended_at=None,
    )
    store.save(again)
    return _delivery_view(again)


# -- sending


@dataclass(frozen=True, slots=True)
class DueDelivery:
    """A notification to be sent now, and where to."""

    delivery: DeliveryRecord
    webhook: WebhookRecord


def collect(project: Project) -> int:
    """Make deliveries of what has happened; return how many."""
    store = webhooks_of(project)
    made = 0
    for webhook in _own(store):
        reader = EventReader(project, after=webhook.seen)
        there_is_more = True
        while there_is_more:
            entries, there_is_more = reader.next_page()
            deliveries = _deliveries(project, webhook, entries)
            if not store.advance(webhook, reader.after, deliveries):
                break  # another process is at it
            made += len(deliveries)
            webhook = replace(webhook, seen=reader.after)  # noqa: PLW2901
    return made


def take_due(project: Project, most: int) -> list[DueDelivery]:
    """Take deliveries that are due; other processes leave them alone meanwhile."""
    store = webhooks_of(project)
    webhooks = {webhook.webhook_id: webhook for webhook in store.active()}
    if not webhooks:
        return []
    moment = now()
    until = _later(moment, _LEASE_SECONDS)
    return [
        DueDelivery(delivery, webhooks[delivery.webhook_id])
        for delivery in store.take_due(moment, until, most)
        if delivery.webhook_id in webhooks
    ]


def place_of(project: Project, due: DueDelivery) -> SpanPlace | None:
    """Return the span that a notification belongs to: that of its task."""
    plan_id, task_id = _subject_of(due)
    if not tracing.is_on() or not plan_id:
        return None
    try:
        with project.ledger.read() as tx:
            plan = tx.plan(plan_id)
    except AccordanceError:
        return None  # it stands alone
    return observing.place_of(plan, task_id)


def _subject_of(due: DueDelivery) -> tuple[str, str]:
    """Return the plan and the task that a notification is about, if any.

    That of a push is written for its client, and names them in the client's words.
    """
    push = due.webhook.push
    if push is not None:
        return push.plan_id, life_in(push.task)[0]
    data = due.delivery.payload["data"]
    return data["plan_id"] or "", data["task_id"] or ""


def note_result(
    project: Project,
    delivery: DeliveryRecord,
    status: int | None,
    error: str | None,
) -> DeliveryRecord:
    """Keep what came of a delivery: done, to be tried again, or given up."""
    attempts = delivery.attempts + 1
    moment = now()
    noted = replace(
        delivery,
        attempts=attempts,
        status=status,
        error=error[:_LONGEST_ERROR] if error else None,
    )
    pause = pause_after(attempts)
    if error is None:
        noted = replace(
            noted,
            state=DELIVERED,
            next_at=None,
            ended_at=moment,
        )
    elif pause is None:
        noted = replace(
            noted,
            state=GIVEN_UP,
            next_at=None,
            ended_at=moment,
        )
    else:
        noted = replace(noted, state=WAITING, next_at=_later(moment, pause))
    webhooks_of(project).save(noted)
    return noted


def _deliveries(
    project: Project,
    webhook: WebhookRecord,
    entries: Sequence[ChainEntry],
) -> list[DeliveryRecord]:
    roots = {}
    with project.ledger.read() as tx:
        for plan_id in {entry.plan_id for entry in entries if entry.plan_id}:
            try:
                roots[plan_id] = tx.plan(plan_id).root_task_id
            except NotFound:
                continue  # deleted since
    deliveries = []
    for entry in entries:
        kind = notification_of(entry, roots)
        if kind is None or (webhook.kinds and kind not in webhook.kinds):
            continue
        deliveries.append(new_delivery(webhook, kind.value, _payload(kind, entry)))
    return deliveries


def new_delivery(
    webhook: WebhookRecord,
    kind: str,
    payload: dict[str, Any],
) -> DeliveryRecord:
    """Return a notification that is due now."""
    moment = now()
    return DeliveryRecord(
        delivery_id=f"msg_{secrets.token_hex(12)}",
        webhook_id=webhook.webhook_id,
        kind=kind,
        payload=payload,
        made_at=moment,
        next_at=moment,
    )


def _payload(kind: NotificationKind, entry: ChainEntry) -> dict[str, Any]:
    return {
        "type": kind.value,
        "timestamp": entry.at,
        "data": {
            "number": entry.number,
            "plan_id": entry.plan_id,
            "task_id": entry.task_id,
            "event": entry.kind,
            "details": dict(entry.payload),
        },
    }


def _later(moment: str, seconds: float) -> str:
    later = dt.datetime.fromisoformat(moment) + dt.timedelta(seconds=seconds)
    return later.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def webhooks_of(project: Project) -> WebhooksInLedger:
    """Return where the webhooks of a project are kept. Raises LedgerUnavailable."""
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise LedgerUnavailable("webhooks are kept in a database; this ledger has none")
    return WebhooksInLedger(ledger.engine)


def _view(record: WebhookRecord) -> WebhookView:
    return WebhookView(
        webhook_id=record.webhook_id,
        url=record.url,
        kinds=record.kinds,
        made_by=record.made_by,
        made_at=record.made_at,
    )


def _delivery_view(record: DeliveryRecord) -> DeliveryView:
    return DeliveryView(**asdict(record))
