"""Keys of the server, in the ledger's database. A key itself is nowhere kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, insert, select, update

from accordance.domain.chain import Payload
from accordance.store.clock import time_on
from accordance.store.failures import translated
from accordance.store.looking import looking
from accordance.store.seals import as_stored
from accordance.store.server_tables import API_KEYS
from accordance.store.sql import SqlTransaction, within

KEY_MADE: Final = "KEY_MADE"
KEY_REVOKED: Final = "KEY_REVOKED"
_COLUMNS: Final = API_KEYS.c


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRecord:
    """A key, without the key."""

    key_id: str
    name: str
    kind: str  # key, or session
    role: str
    rights: tuple[str, ...]
    tasks: tuple[str, ...]
    contracts: tuple[str, ...]
    sha256: str
    made_by: str
    made_at: str
    expires_at: str | None = None
    revoked_at: str | None = None

    def holds_at(self, moment: str) -> bool:
        """Whether it is neither revoked nor expired."""
        is_expired = self.expires_at is not None and self.expires_at <= moment
        return self.revoked_at is None and not is_expired


@dataclass(frozen=True, slots=True)
class KeysInLedger:
    """The keys in the database of a ledger; who made and revoked them is in its chain."""

    engine: Engine

    def add(self, record: KeyRecord) -> None:
        """Keep a new key."""
        event = {
            "key_id": record.key_id,
            "name": record.name,
            "kind": record.kind,
            "role": record.role,
            "by": record.made_by,
        }
        with self._writing() as (connection, tx):
            connection.execute(insert(API_KEYS), _row(record))
            _seal(tx, record, KEY_MADE, event)

    def revoke(self, key_id: str, *, by: str) -> KeyRecord | None:
        """Revoke a key from now on; None if there is none of that id."""
        with self._writing() as (connection, tx):
            row = connection.execute(
                select(API_KEYS).where(_COLUMNS.key_id == key_id)
            ).first()
            if row is None:
                return None
            record = _record(row)
            if record.revoked_at is not None:
                return record
            revoked = replace(record, revoked_at=tx.now)
            connection.execute(
                update(API_KEYS)
                .where(_COLUMNS.key_id == key_id)
                .values(revoked_at=revoked.revoked_at)
            )
            event = {"key_id": key_id, "name": record.name, "by": by}
            _seal(tx, revoked, KEY_REVOKED, event)
        return revoked

    def find(self, key_id: str) -> KeyRecord | None:
        """Return a key by its id."""
        with looking(self.engine) as connection:
            query = select(API_KEYS).where(_COLUMNS.key_id == key_id)
            row = connection.execute(query).first()
        return None if row is None else _record(row)

    def all(self, kind: str) -> list[KeyRecord]:
        """Return the keys of a kind, the oldest first."""
        query = (
            select(API_KEYS)
            .where(_COLUMNS.kind == kind)
            .order_by(_COLUMNS.made_at, _COLUMNS.key_id)
        )
        with looking(self.engine) as connection:
            return [_record(row) for row in connection.execute(query)]

    @contextmanager
    def _writing(self) -> Iterator[tuple[Connection, SqlTransaction]]:
        with (
            translated(self.engine),
            self.engine.begin() as connection,
            within(connection, time_on(connection)) as tx,
        ):
            tx.ledger_head()  # held from here on, so that writers never deadlock
            yield connection, tx


def _seal(tx: SqlTransaction, record: KeyRecord, kind: str, event: Payload) -> None:
    tx.record_in_ledger([(kind, event)])
    tx.wrote(API_KEYS, as_stored(API_KEYS, _row(record)))


def _row(record: KeyRecord) -> dict[str, Any]:
    row = asdict(record)
    for name in ("rights", "tasks", "contracts"):
        row[name] = list(row[name])
    return row


def _record(row: Row[Any]) -> KeyRecord:
    fields = dict(row._mapping)  # noqa: SLF001 - the public name of SQLAlchemy's own
    for name in ("rights", "tasks", "contracts"):
        fields[name] = tuple(fields[name])
    return KeyRecord(**fields)
