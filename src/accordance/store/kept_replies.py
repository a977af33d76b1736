"""Replies to requests that may come again, in the ledger's database."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Engine, Row, and_, delete, select, update

from accordance.store.failures import translated
from accordance.store.server_tables import KEPT_REPLIES
from accordance.store.statements import insertion_if_new

_COLUMNS: Final = KEPT_REPLIES.c


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRow:
    """A request that was begun, and its reply once there is any."""

    request_hash: str | None
    status: int | None
    reply: Any


@dataclass(frozen=True, slots=True)
class RepliesInLedger:
    """The replies in the database of a ledger."""

    engine: Engine

    def claim(self, caller: str, key: str, *, now: str, stale: str) -> ReplyRow | None:
        """Begin a request, or return what is known of it.

        A request that was begun before `stale` and has no reply is begun again.
        """
        where = and_(_COLUMNS.caller == caller, _COLUMNS.request_key == key)
        row = {"caller": caller, "request_key": key, "at": now}
        begin = insertion_if_new(self.engine.dialect.name, KEPT_REPLIES)
        with translated(self.engine), self.engine.begin() as connection:
            fresh = begin.returning(_COLUMNS.caller)
            if connection.execute(fresh, row).first() is not None:
                return None
            again = and_(where, _COLUMNS.status.is_(None), _COLUMNS.at < stale)
            taken = connection.execute(
                update(KEPT_REPLIES).where(again).values(at=now)
            ).rowcount
            if taken:
                return None
            return _row(connection.execute(select(KEPT_REPLIES).where(where)).one())

    def keep(
        self, caller: str, key: str, *, request_hash: str, status: int, reply: Any
    ) -> None:
        """Keep the reply to a request that was begun."""
        where = and_(_COLUMNS.caller == caller, _COLUMNS.request_key == key)
        values = {"request_hash": request_hash, "status": status, "reply": reply}
        with translated(self.engine), self.engine.begin() as connection:
            connection.execute(update(KEPT_REPLIES).where(where).values(**values))

    def forget(self, caller: str, key: str) -> None:
        """Forget a request, so that it may come again."""
        where = and_(_COLUMNS.caller == caller, _COLUMNS.request_key == key)
        with translated(self.engine), self.engine.begin() as connection:
            connection.execute(delete(KEPT_REPLIES).where(where))

    def forget_before(self, moment: str) -> int:
        """Forget all replies from before a moment; return how many."""
        with translated(self.engine), self.engine.begin() as connection:
            old = delete(KEPT_REPLIES).where(_COLUMNS.at < moment)
            return int(connection.execute(old).rowcount)


def earlier(now: str, seconds: float) -> str:
    """Return the moment so many seconds before another."""
    moment = dt.datetime.fromisoformat(now) - dt.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _row(row: Row[Any]) -> ReplyRow:
    return ReplyRow(request_hash=row.request_hash, status=row.status, reply=row.reply)
