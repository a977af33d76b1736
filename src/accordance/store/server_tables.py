"""The tables of the server: keys, answers to repeated requests, webhooks.

They lie in the ledger's database, so that several servers share them.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table

from accordance.store.columns import Id, Json, Words, hash_column, time_column
from accordance.store.tables import METADATA

API_KEYS: Final = Table(
    "api_keys",
    METADATA,
    Column("key_id", Id(16), primary_key=True),
    Column("name", Words, nullable=False),
    Column("kind", String(8), nullable=False),  # key, or the session of a person
    Column("role", String(8), nullable=False),
    Column("rights", Json, nullable=False),
    Column("tasks", Json, nullable=False),
    Column("contracts", Json, nullable=False),
    hash_column("sha256", nullable=False),  # of the whole key, which is not kept
    Column("made_by", Words, nullable=False),
    time_column("made_at", nullable=False),
    time_column("expires_at"),
    time_column("revoked_at"),
    Index("ix_api_keys_made", "made_at", "key_id"),
)

KEPT_REPLIES: Final = Table(
    "kept_replies",
    METADATA,
    Column("caller", Words, primary_key=True),  # who sent the request
    Column("request_key", Words, primary_key=True),  # its Idempotency-Key
    hash_column("request_hash"),  # NULL until the request was read
    time_column("at", nullable=False),
    Column("status", Integer),  # NULL while the request is carried out
    Column("reply", Json),
    Index("ix_kept_replies_at", "at"),
)

WEBHOOKS: Final = Table(
    "webhooks",
    METADATA,
    Column("webhook_id", Id(24), primary_key=True),
    Column("url", Words, nullable=False),
    Column("secret", Words, nullable=False),
    Column("kinds", Json, nullable=False),  # of notifications that are wanted
    Column("made_by", Words, nullable=False),
    time_column("made_at", nullable=False),
    time_column("disabled_at"),
    Column("seen", BigInteger, nullable=False),  # the last event looked at
    Column("push", Json),  # of a webhook that follows a single task; see records
)

DELIVERIES: Final = Table(
    "webhook_deliveries",
    METADATA,
    Column("delivery_id", Id(32), primary_key=True),
    Column("webhook_id", Id(24), ForeignKey("webhooks.webhook_id"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("payload", Json, nullable=False),
    time_column("made_at", nullable=False),
    Column("state", String(12), nullable=False),  # waiting, delivered, given up
    Column("attempts", Integer, nullable=False),
    time_column("next_at"),  # when it is tried next
    Column("status", Integer),  # of the last answer
    Column("error", Words),
    time_column("ended_at"),
    Index("ix_webhook_deliveries_due", "state", "next_at"),
    Index("ix_webhook_deliveries_webhook", "webhook_id", "made_at"),
)
