"""Keys: who may use the server of a project, for what, and until when.

A key is shown once. Its hash is kept, and the ledger's chain says who made and who
revoked it. A session of a person who has logged in is a key, too.
"""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from accordance.api import registry
from accordance.domain.access import Identity, Right, Role, rights_of
from accordance.errors import (
    AccordanceError,
    LedgerUnavailable,
    NotAuthenticated,
    NotFound,
)
from accordance.service.project import Project
from accordance.service.views.keys import KeyListView, KeyView, NewKeyView
from accordance.store.api_keys import KeyRecord, KeysInLedger
from accordance.store.clock import now
from accordance.store.sql import SqlLedger

__all__ = ["KeyRequest", "Right", "Role"]

PREFIX: Final = "acc_"
_ID_BYTES: Final = 5
_SECRET_BYTES: Final = 32
_LONGEST_NAME: Final = 100
_LONGEST_KEY: Final = 200
MOST_DAYS: Final = 3650


class InvalidKey(AccordanceError):
    """A key that cannot be made as it was asked for."""

    code = "invalid-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRequest:
    """A key that is wanted."""

    name: str
    role: Role
    scopes: tuple[Right, ...] = ()  # none: all rights of the role
    tasks: tuple[str, ...] = ()  # task or plan ids; none: it is not bound
    contracts: tuple[str, ...] = ()  # none: it is not bound
    days: float | None = None  # None: it does not expire
    kind: Literal["key", "session"] = "key"


def make_key(project: Project, request: KeyRequest, *, by: str) -> NewKeyView:
    """Make a key. Raises InvalidKey, NotAllowed and UnknownContract."""
    if not request.name.strip() or len(request.name) > _LONGEST_NAME:
        raise InvalidKey(f"the name of a key has 1 to {_LONGEST_NAME} characters")
    if not request.name.isprintable():
        raise InvalidKey("the name of a key has printable characters only")
    if request.kind == "key" and "/" in request.name:
        raise InvalidKey("the name of a key has no slash: KEY/WORKER is a worker of it")
    rights = rights_of(request.role, request.scopes)
    versions = [registry.get(name).version for name in request.contracts]

    key_id, key = new_key()
    made_at = now()
    record = KeyRecord(
        key_id=key_id,
        name=request.name,
        kind=request.kind,
        role=request.role.value,
        rights=tuple(sorted(right.value for right in rights)),
        tasks=request.tasks,
        contracts=tuple(dict.fromkeys(versions)),
        sha256=hash_of(key),
        made_by=by,
        made_at=made_at,
        expires_at=_expiry(made_at, request.days),
    )
    _keys(project).add(record)
    return NewKeyView(**dict(_view(record)), key=key)


def _expiry(made_at: str, days: float | None) -> str | None:
    if days is None:
        return None
    if not 0 < days <= MOST_DAYS:
        raise InvalidKey(f"a key holds for up to {MOST_DAYS} days, not {days}")
    moment = dt.datetime.fromisoformat(made_at) + dt.timedelta(days=days)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def list_keys(project: Project) -> KeyListView:
    """Return the keys of a project, the oldest first; sessions are left out."""
    return KeyListView(items=tuple(map(_view, _keys(project).all("key"))))


def revoke_key(project: Project, key_id: str, *, by: str) -> KeyView:
    """Revoke a key. Raises NotFound."""
    keys = _keys(project)
    revoked = keys.revoke(key_id, by=by)
    if revoked is None:
        raise NotFound("key", key_id, [record.key_id for record in keys.all("key")])
    return _view(revoked)


def end_session(project: Project, key_id: str, *, by: str) -> None:
    """End the session of a person who logs out; any other key is left as it is."""
    keys = _keys(project)
    record = keys.find(key_id)
    if record is not None and record.kind == "session":
        keys.revoke(key_id, by=by)


def identify(project: Project, key: str) -> Identity | None:
    """Return who has a key; None if no key of this project is like that.

    Raises NotAuthenticated if it was revoked or has expired.
    """
    key_id = id_in(key)
    record = None if key_id is None else _keys(project).find(key_id)
    if record is None or not hmac.compare_digest(record.sha256, hash_of(key)):
        return None
    if not record.holds_at(now()):
        raise NotAuthenticated(
            "the key was revoked, or has expired", way_out="ask an admin for another"
        )
    return Identity(
        name=record.name,
        role=Role(record.role),
        rights=frozenset(map(Right, record.rights)),
        key_id=record.key_id,
        tasks=record.tasks,
        contracts=record.contracts,
    )


# -- the form of a key


def new_key() -> tuple[str, str]:
    """Return a new id, and a new key that begins with it."""
    key_id = base64.b32encode(secrets.token_bytes(_ID_BYTES)).decode().lower()
    secret = secrets.token_urlsafe(_SECRET_BYTES)
    return key_id, f"{PREFIX}{key_id}_{secret}"


def id_in(key: str) -> str | None:
    """Return the id in a key; None if it cannot be a key."""
    is_plain = key.isascii() and len(key) <= _LONGEST_KEY
    if not is_plain or not key.startswith(PREFIX):
        return None
    key_id, _, secret = key.removeprefix(PREFIX).partition("_")
    return key_id if key_id.isalnum() and secret else None


def hash_of(key: str) -> str:
    """Return the hash of a key. It is random and long, so that no salt is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


def _keys(project: Project) -> KeysInLedger:
    ledger = project.ledger
    if not isinstance(ledger, SqlLedger):
        raise LedgerUnavailable("keys are kept in a database, and this ledger has none")
    return KeysInLedger(ledger.engine)


def _view(record: KeyRecord) -> KeyView:
    return KeyView(
        key_id=record.key_id,
        name=record.name,
        role=record.role,
        rights=record.rights,
        tasks=record.tasks,
        contracts=record.contracts,
        prefix=f"{PREFIX}{record.key_id}",
        made_by=record.made_by,
        made_at=record.made_at,
        expires_at=record.expires_at,
        revoked_at=record.revoked_at,
    )


def bound_to_known(project: Project, names: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of the tasks and plans that names mean. Raises NotFound."""
    from accordance.service.project import find_plan_id, find_task

    ids = []
    with project.ledger.read() as tx:
        for name in names:
            try:
                ids.append(find_task(tx, name).task_id)
            except NotFound:
                ids.append(find_plan_id(tx, name))
    return tuple(dict.fromkeys(ids))
