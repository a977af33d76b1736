"""Webhooks and their deliveries, in the ledger's database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, and_, insert, select, update

from accordance.store.clock import time_on
from accordance.store.failures import translated
from accordance.store.looking import looking
from accordance.store.server_tables import DELIVERIES, WEBHOOKS
from accordance.store.sql import within

WEBHOOK_MADE: Final = "WEBHOOK_MADE"
WEBHOOK_REMOVED: Final = "WEBHOOK_REMOVED"
WAITING: Final = "waiting"
DELIVERED: Final = "delivered"
GIVEN_UP: Final = "given up"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushRecord:
    """What a webhook that follows a single task is about."""

    task: str  # as the client calls it
    plan_id: str
    client: str  # who hears of it
    name: str  # what the client calls the webhook
    scheme: str  # how the target knows who calls
    headers: Mapping[str, str] = field(default_factory=dict)
    told: str = ""  # the hash of what was sent last
    is_over: bool = False  # the last word was sent


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookRecord:
    """Where notifications are sent."""

    webhook_id: str
    url: str
    secret: str
    kinds: tuple[str, ...]  # none: all
    made_by: str
    made_at: str
    disabled_at: str | None = None
    seen: int = 0  # the last event that was looked at
    push: PushRecord | None = None  # None: it follows the whole project


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRecord:
    """A notification that is sent, or was."""

    delivery_id: str
    webhook_id: str
    kind: str
    payload: Any
    made_at: str
    state: str = WAITING
    attempts: int = 0
    next_at: str | None = None
    status: int | None = None
    error: str | None = None
    ended_at: str | None = None


@dataclass(frozen=True, slots=True)
class WebhooksInLedger:
    """The webhooks in the database of a ledger; its chain says who made them."""

    engine: Engine

    def add(self, record: WebhookRecord) -> None:
        """Keep a new webhook."""
        row = {**asdict(record), "kinds": list(record.kinds)}
        event = {
            "webhook_id": record.webhook_id,
            "url": record.url,
            "by": record.made_by,
        }
        with (
            self._writing() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            tx.ledger_head()
            connection.execute(insert(WEBHOOKS), row)
            tx.record_in_ledger([(WEBHOOK_MADE, event)])

    def disable(self, webhook_id: str, *, by: str) -> bool:
        """Send nothing more to a webhook; whether it existed."""
        is_it = and_(
            WEBHOOKS.c.webhook_id == webhook_id, WEBHOOKS.c.disabled_at.is_(None)
        )
        with (
            self._writing() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            tx.ledger_head()
            changed = connection.execute(
                update(WEBHOOKS).where(is_it).values(disabled_at=tx.now)
            ).rowcount
            if changed:
                event = {"webhook_id": webhook_id, "by": by}
                tx.record_in_ledger([(WEBHOOK_REMOVED, event)])
        return bool(changed)

    def active(self) -> list[WebhookRecord]:
        """Return the webhooks that are sent to, the oldest first.

        Those that follow a single task are among them.
        """
        query = (
            select(WEBHOOKS)
            .where(WEBHOOKS.c.disabled_at.is_(None))
            .order_by(WEBHOOKS.c.made_at, WEBHOOKS.c.webhook_id)
        )
        with looking(self.engine) as connection:
            return [_webhook(row) for row in connection.execute(query)]

    def advance(
        self,
        record: WebhookRecord,
        seen: int,
        deliveries: Sequence[DeliveryRecord],
        push: PushRecord | None = None,
    ) -> bool:
        """Note that events were looked at, with the notifications they cause.

        Whether this process was the first to do so.
        """
        noted: dict[str, Any] = {"seen": seen}
        if push is not None:
            noted["push"] = asdict(push)
        was_there = and_(
            WEBHOOKS.c.webhook_id == record.webhook_id, WEBHOOKS.c.seen == record.seen
        )
        with self._writing() as connection:
            first = connection.execute(
                update(WEBHOOKS).where(was_there).values(noted)
            ).rowcount
            if first and deliveries:
                rows = [asdict(delivery) for delivery in deliveries]
                connection.execute(insert(DELIVERIES), rows)
        return bool(first)

    def take_due(self, moment: str, until: str, most: int) -> list[DeliveryRecord]:
        """Take deliveries that are due; others leave them alone until a moment."""
        due = (
            select(DELIVERIES)
            .join(WEBHOOKS, WEBHOOKS.c.webhook_id == DELIVERIES.c.webhook_id)
            .where(
                DELIVERIES.c.state == WAITING,
                DELIVERIES.c.next_at <= moment,
                WEBHOOKS.c.disabled_at.is_(None),
            )
            .order_by(DELIVERIES.c.next_at)
            .limit(most)
        )
        with looking(self.engine) as connection:
            seen = [_delivery(row) for row in connection.execute(due)]
        taken = []
        for delivery in seen:
            is_still_due = and_(
                DELIVERIES.c.delivery_id == delivery.delivery_id,
                DELIVERIES.c.state == WAITING,
                DELIVERIES.c.next_at == delivery.next_at,
            )
            with self._writing() as connection:
                change = update(DELIVERIES).where(is_still_due).values(next_at=until)
                if connection.execute(change).rowcount:
                    taken.append(delivery)
        return taken

    def save(self, delivery: DeliveryRecord) -> None:
        """Keep what has become of a delivery."""
        values = asdict(delivery)
        key = values.pop("delivery_id")
        change = update(DELIVERIES).where(DELIVERIES.c.delivery_id == key)
        with self._writing() as connection:
            connection.execute(change.values(**values))

    def deliveries(self, webhook_id: str, most: int) -> list[DeliveryRecord]:
        """Return the newest deliveries of a webhook."""
        query = (
            select(DELIVERIES)
            .where(DELIVERIES.c.webhook_id == webhook_id)
            .order_by(DELIVERIES.c.made_at.desc(), DELIVERIES.c.delivery_id)
            .limit(most)
        )
        with looking(self.engine) as connection:
            return [_delivery(row) for row in connection.execute(query)]

    def delivery(self, delivery_id: str) -> DeliveryRecord | None:
        """Return a delivery."""
        query = select(DELIVERIES).where(DELIVERIES.c.delivery_id == delivery_id)
        with looking(self.engine) as connection:
            row = connection.execute(query).first()
        return None if row is None else _delivery(row)

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        with translated(self.engine), self.engine.begin() as connection:
            yield connection


def _webhook(row: Row[Any]) -> WebhookRecord:
    fields = dict(row._mapping)  # noqa: SLF001 - the public name of SQLAlchemy's own
    fields["kinds"] = tuple(fields["kinds"])
    push = fields["push"]
    fields["push"] = None if push is None else PushRecord(**push)
    return WebhookRecord(**fields)


def _delivery(row: Row[Any]) -> DeliveryRecord:
    return DeliveryRecord(**dict(row._mapping))  # noqa: SLF001 - the same
