"""Removing what no row names: never what a row names, never anything young."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, Engine, text

from accordance.store.blobs.keeper import ANNOUNCE, BlobKeeper
from accordance.store.blobs.port import BlobStore
from accordance.store.failures import translated
from accordance.store.looking import looking

_OLD: Final = {
    "sqlite": "since <= datetime('now', '-' || :seconds || ' seconds')",
    "postgresql": "since <= CURRENT_TIMESTAMP - make_interval(secs => :seconds)",
}
_KNOWN: Final = text(
    "SELECT 1 FROM blob_objects WHERE sha256 = :key"
    " UNION ALL SELECT 1 FROM loose_blobs WHERE sha256 = :key"
)
_NAMED: Final = text("SELECT 1 FROM blob_objects WHERE sha256 = :key")
_FORGET: Final = text("DELETE FROM loose_blobs WHERE sha256 = :key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What a collection has removed, or would remove."""

    removed: tuple[str, ...]
    young: int  # loose, and not old enough
    unknown: int  # were in the store, and the ledger did not know them


def collect(
    engine: Engine, keeper: BlobKeeper, *, grace_seconds: float, dry_run: bool = False
) -> Collection:
    """Remove what has been loose for longer than the grace time.

    What lies in the store unknown to the ledger is noted as loose from now on. Raises
    BlobError.
    """
    store = keeper.store
    if store is None:
        return Collection(removed=(), young=0, unknown=0)

    with looking(engine) as connection:
        keeper.must_be_ours(connection)
    unknown = _note_unknown(engine, store, dry_run=dry_run)
    old = _old_names(engine, grace_seconds)
    removed = old
    if not dry_run:
        removed = [name for name in old if _remove(engine, store, name, grace_seconds)]
    return Collection(
        removed=tuple(removed),
        young=_count_loose(engine) - (len(old) if dry_run else 0),
        unknown=unknown,
    )


def _note_unknown(engine: Engine, store: BlobStore, *, dry_run: bool) -> int:
    unknown = 0
    for blob in store.blobs():
        key = {"key": blob.sha256}
        with translated(engine), engine.begin() as connection:
            if connection.execute(_KNOWN, key).first():
                continue
            unknown += 1
            if not dry_run:
                connection.execute(ANNOUNCE, key)
    return unknown


def _old_names(engine: Engine, grace_seconds: float) -> list[str]:
    condition = _OLD[engine.dialect.name]
    query = text(f"SELECT sha256 FROM loose_blobs WHERE {condition} ORDER BY sha256")  # noqa: S608 - our own words
    with looking(engine) as connection:
        return list(connection.execute(query, {"seconds": grace_seconds}).scalars())


def _remove(
    engine: Engine, store: BlobStore, sha256: str, grace_seconds: float
) -> bool:
    """Remove a blob that is still loose; the loose row is held until it is gone."""
    key = {"key": sha256}
    with translated(engine), engine.begin() as connection:
        if not _is_still_old(connection, sha256, grace_seconds):
            return False
        is_named = connection.execute(_NAMED, key).first() is not None
        if not is_named:
            store.delete(sha256)
        connection.execute(_FORGET, key)
    return not is_named


def _is_still_old(connection: Connection, sha256: str, grace_seconds: float) -> bool:
    dialect = connection.dialect.name
    hold = " FOR UPDATE" if dialect == "postgresql" else ""
    query = f"SELECT 1 FROM loose_blobs WHERE sha256 = :key AND {_OLD[dialect]}{hold}"  # noqa: S608
    values = {"key": sha256, "seconds": grace_seconds}
    return connection.execute(text(query), values).first() is not None


def _count_loose(engine: Engine) -> int:
    with looking(engine) as connection:
        count = connection.execute(text("SELECT count(*) FROM loose_blobs"))
        return int(count.scalar_one())
