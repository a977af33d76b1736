"""Requests with an Idempotency-Key: carried out once, answered as often as they come.

A reply is kept for a day. A request whose server was killed half-way may be sent again
after a minute.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from accordance.errors import AccordanceError, Category, LedgerUnavailable
from accordance.service.project import Project
from accordance.store.clock import now
from accordance.store.kept_replies import RepliesInLedger, earlier
from accordance.store.sql import SqlLedger

KEPT_SECONDS: Final = 24 * 3600.0
STALE_SECONDS: Final = 60.0


class StillRunning(AccordanceError):
    """The same request is being carried out right now."""

    code = "still-running"
    category = Category.CONFLICT


class ReusedRequestKey(AccordanceError):
    """The key of a request was used before, for another request."""

    code = "reused-request-key"


class ShownOnce(AccordanceError):
    """The request was carried out; its answer had a secret, which is not kept."""

    code = "shown-once"
    category = Category.CONFLICT


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptReply:
    """A reply, and the hash of the request it belongs to."""

    request: str
    status: int
    headers: Mapping[str, str]
    body: bytes


def claim(project: Project, caller: str, key: str) -> KeptReply | None:
    """Begin a request, or return the reply it got before. Raises StillRunning."""
    moment = now()
    stale = earlier(moment, STALE_SECONDS)
    row = _replies(project).claim(caller, key, now=moment, stale=stale)
    if row is None:
        return None
    if row.status is None:
        raise StillRunning(
            "a request with this Idempotency-Key is being carried out",
            way_out="wait a moment, and send it again",
        )
    return KeptReply(
        request=row.request_hash or "",
        status=row.status,
        headers=row.reply["headers"],
        body=base64.b64decode(row.reply["body"]),
    )


def must_be_same(kept: KeptReply, request: str) -> None:
    """Refuse another request with the same key. Raises ReusedRequestKey."""
    if kept.request != request:
        raise ReusedRequestKey(
            "this Idempotency-Key was used for another request",
            way_out="take a new key for a new request",
        )


def keep(project: Project, caller: str, key: str, reply: KeptReply) -> None:
    """Keep the reply to a request."""
    content = {
        "headers": dict(reply.headers),
        "body": base64.b64encode(reply.body).decode(),
    }
    _replies(project).keep(
        caller,
        key,
        request_hash=reply.request,
        status=reply.status,
        reply=content,
    )


def forget(project: Project, caller: str, key: str) -> None:
    """Forget a request that came to nothing, so that it may be sent again."""
    _replies(project).forget(caller, key)


def forget_old(project: Project) -> int:
    """Forget the replies of more than a day ago; return how many."""
    return _replies(project).forget_before(earlier(now(), KEPT_SECONDS))


def _replies(project: Project) -> RepliesInLedger:
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise LedgerUnavailable("replies are kept in a database; this ledger has none")
    return RepliesInLedger(ledger.engine)
