"""Notifications to other systems: their content, their signature, when they are sent again.

The headers are those of Standard Webhooks.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from accordance.domain.chain import ChainEntry

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - how Standard Webhooks marks secrets
_PAUSES: Final = (5, 30, 120, 600, 3600, 21_600, 43_200)
"""Seconds before a delivery that failed is tried again."""


class NotificationKind(StrEnum):
    """The kind of a notification."""

    QUESTION_ASKED = "question.asked"
    DEAD_LETTER = "task.dead_letter"
    PLAN_FINISHED = "plan.finished"
    PLAN_CANCELLED = "plan.cancelled"
    PLAN_HELD = "plan.held"


_EVENTS: Final[Mapping[str, NotificationKind]] = {
    "ASKED_A_PERSON": NotificationKind.QUESTION_ASKED,
    "PLAN_CANCELLED": NotificationKind.PLAN_CANCELLED,
    "PLAN_FUSE_BLOWN": NotificationKind.PLAN_HELD,
}


def notification_of(
    entry: ChainEntry, roots: Mapping[str, str]
) -> NotificationKind | None:
    """Return the kind of an event's notification, if it has any; `roots` are the root tasks of plans."""
    if entry.kind in _EVENTS:
        return _EVENTS[entry.kind]
    moved_to = entry.payload.get("to")
    if moved_to == "DEAD_LETTER" and entry.payload.get("from") != "DEAD_LETTER":
        return NotificationKind.DEAD_LETTER
    root = roots.get(entry.plan_id)
    is_root = entry.task_id is not None and entry.task_id == root
    if is_root and moved_to == "DONE":
        return NotificationKind.PLAN_FINISHED
    return None


def signature(secret: str, delivery_id: str, timestamp: int, body: bytes) -> str:
    """Return the value of `webhook-signature`."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{delivery_id}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def pause_after(attempts: int) -> int | None:
    """Return the seconds until a delivery is tried again; None: it is given up."""
    if attempts > len(_PAUSES):
        return None
    return _PAUSES[attempts - 1]
