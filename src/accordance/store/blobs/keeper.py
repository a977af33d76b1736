"""Keeping large blobs: announced, put into the store, then named by a transaction.

A committed row always has its bytes, because they were put before its transaction
began. What a transaction that was rolled back has left is loose, and so is what a
deleted plan has released: `collecting` removes it after a grace time.

    announce   a row in `loose_blobs`, by the database's clock
    put        the bytes, outside of any transaction
    name       a row in `blob_objects`, instead of the loose row

The collector holds the loose row until the bytes are gone, so an announcement of the
same blob waits for that, and its bytes are put again.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakValueDictionary

from sqlalchemy import Connection, Engine, Row, text

from accordance.domain.blobs import DATABASE, Blob, BlobConfig
from accordance.errors import BlobStoreForeign, Conflict
from accordance.store.blobs.sources import KeptBlob, measured, source_of
from accordance.store.failures import translated
from accordance.store.looking import looking

if TYPE_CHECKING:  # most commands move no large blob
    from accordance.store.blobs.port import BlobStore

OPTION: Final = "blobs"
"""The execution option of an engine that holds its keeper."""
ANNOUNCE: Final = text(
    "INSERT INTO loose_blobs (sha256, since) VALUES (:key, CURRENT_TIMESTAMP)"
    " ON CONFLICT (sha256) DO UPDATE SET since = CURRENT_TIMESTAMP"
)
_NAME: Final = text(
    "INSERT INTO blob_objects (sha256, size) VALUES (:key, :size)"
    " ON CONFLICT (sha256) DO NOTHING"
)
_NO_LONGER_LOOSE: Final = text("DELETE FROM loose_blobs WHERE sha256 = :key")
_SIZE: Final = text("SELECT size FROM blob_objects WHERE sha256 = :key")
_ANY: Final = text("SELECT 1 FROM blob_objects LIMIT 1")
_OWN_STORE: Final = text("SELECT ledger_id, place FROM blob_stores")
_CLAIM: Final = text(
    "INSERT INTO blob_stores (name, ledger_id, place) VALUES ('objects', :id, :place)"
    " ON CONFLICT (name) DO NOTHING"
)
_MOVE: Final = text("UPDATE blob_stores SET place = :place")
_MOST_STAGED: Final = 1000


@dataclass
class BlobKeeper:
    """Where the blobs of a ledger lie, and how large ones get there."""

    config: BlobConfig
    store: BlobStore | None  # None: all of them lie in the database
    _is_ours: bool = False
    _staged: dict[str, float] = field(default_factory=dict)
    """The blobs that this process has put and not named yet, and when."""

    # -- outside of transactions

    def put(self, engine: Engine, content: bytes | Path) -> KeptBlob:
        """Put bytes or a file where a transaction can name them.

        Raises BlobError, and OSError if the file cannot be read.
        """
        with source_of(content) as source:
            if source.size <= self.config.inline_bytes:
                raw = source.read(0, source.size)
                return KeptBlob(hashlib.sha256(raw).hexdigest(), len(raw), raw)

            about = measured(source)
            blob = about.blob
            if self.store is None:
                return KeptBlob(blob.sha256, blob.size, content)

            self._bind(engine, self.store)
            with translated(engine), engine.begin() as connection:
                connection.execute(ANNOUNCE, {"key": blob.sha256})
            self.store.put(about, source)
        return KeptBlob(blob.sha256, blob.size)

    def stage(self, engine: Engine, content: bytes) -> None:
        """Put bytes that a transaction of this process is about to keep.

        Without a store, and for small ones, there is nothing to do before.
        """
        if self.store is None or len(content) <= self.config.inline_bytes:
            return
        kept = self.put(engine, content)
        while len(self._staged) >= _MOST_STAGED:
            del self._staged[next(iter(self._staged))]
        self._staged[kept.sha256] = time.monotonic()

    def take_staged(self, sha256: str) -> bool:
        """Whether a blob was put by this process, so lately that it is still there."""
        since = self._staged.pop(sha256, None)
        if since is None:
            return False
        return time.monotonic() - since < self.config.grace_seconds / 2

    # -- within a transaction

    def name(self, connection: Connection, kept: KeptBlob) -> bool:
        """Name a blob that was put; return whether it is new.

        Raises Conflict if it was put so long ago that it has been removed.
        """
        key = {"key": kept.sha256}
        was_loose = connection.execute(_NO_LONGER_LOOSE, key).rowcount
        values = {**key, "size": kept.size}
        is_new = bool(connection.execute(_NAME, values).rowcount)
        if is_new and not was_loose:
            raise Conflict(
                f"blob {kept.sha256[:12]} was removed before it was named;"
                " nothing was changed, try again"
            )
        return is_new

    def size_of(self, connection: Connection, sha256: str) -> int | None:
        """Return the size of a blob in the store; None if there is none."""
        size: int | None = connection.execute(_SIZE, {"key": sha256}).scalar()
        return size

    def chunks(self, connection: Connection, blob: Blob) -> Iterator[bytes]:
        """Yield the bytes of a blob in the store. Raises BlobError."""
        self.must_be_ours(connection)
        if self.store is None:
            own_store = connection.execute(_OWN_STORE).first()
            place = own_store.place if own_store else "another store"
            raise BlobStoreForeign(
                f"blob {blob.sha256[:12]} lies in {place}, and [blobs] names no store",
                way_out=f"set {_settings_of(place)}",
            )
        yield from self.store.chunks(blob)

    # -- whose store it is

    def check(self, engine: Engine) -> str:
        """Return where large blobs lie, if that place answers and is ours.

        Raises BlobError.
        """
        if self.store is None:
            return "the database"
        self.store.owner()
        with looking(engine) as connection:
            self.must_be_ours(connection)
        return self.store.place

    def _bind(self, engine: Engine, store: BlobStore) -> None:
        """Make the store that of this ledger, if it has no owner yet."""
        if self._is_ours:
            return
        with translated(engine), engine.begin() as connection:
            values = {"id": secrets.token_hex(16), "place": store.place}
            connection.execute(_CLAIM, values)
            own_store = connection.execute(_OWN_STORE).one()
            is_empty = connection.execute(_ANY).first() is None

        owner = store.owner()
        if owner is None and is_empty:
            store.give_to(own_store.ledger_id)
            owner = store.owner()
        self._compare(owner, own_store)
        if own_store.place != store.place:
            with translated(engine), engine.begin() as connection:
                connection.execute(_MOVE, {"place": store.place})
        self._is_ours = True

    def must_be_ours(self, connection: Connection) -> None:
        """Raise BlobStoreForeign if the store is not that of this ledger."""
        if self._is_ours or self.store is None:
            return
        own_store = connection.execute(_OWN_STORE).first()
        if own_store is None:
            return  # nothing was ever put
        self._compare(self.store.owner(), own_store)
        self._is_ours = True

    def _compare(self, owner: str | None, own_store: Row[Any]) -> None:
        if owner == own_store.ledger_id or self.store is None:
            return
        here = self.store.place
        if owner is not None:
            raise BlobStoreForeign(
                f"{here} is the blob store of another ledger",
                way_out="name another folder, or another prefix, in [blobs] store",
            )
        raise BlobStoreForeign(
            f"{here} has no blobs of this ledger: they lie in {own_store.place}",
            way_out="set [blobs] store back, or copy everything from there",
        )


def _settings_of(place: str) -> str:
    """The settings that lead to a store, by its place."""
    address, _, endpoint = place.partition(" at ")
    store = f'[blobs] store = "{address}"'
    return f'{store} and endpoint = "{endpoint}"' if endpoint else store


_keepers: Final[WeakValueDictionary[tuple[BlobConfig, str], BlobKeeper]] = (
    WeakValueDictionary()
)
"""A keeper for each ledger: the engines of a process share it."""


def attach_keeper(engine: Engine, config: BlobConfig) -> None:
    """Let the transactions of an engine know where blobs are kept.

    Raises BlobStoreAddress.
    """
    address = engine.url.render_as_string(hide_password=True)
    key = (config, address)
    keeper = _keepers.get(key)
    if keeper is None:
        is_sqlite = engine.dialect.name == "sqlite"
        beside = Path(engine.url.database or "") if is_sqlite else None
        keeper = _keepers[key] = BlobKeeper(config, _store_for(config, beside))
    engine.update_execution_options(**{OPTION: keeper})


def _store_for(config: BlobConfig, beside: Path | None) -> BlobStore | None:
    """The store that the settings ask for; `beside` is a SQLite ledger."""
    named = config.store
    is_beside = named is None and beside is not None
    if named == DATABASE or (named is None and not is_beside):
        return None
    if named is not None and "://" in named:
        from accordance.store.blobs.s3 import S3Store

        return S3Store(config)

    from accordance.store.blobs.folder import FolderStore

    if is_beside and beside is not None:
        return FolderStore(beside.with_suffix(".blobs"))
    return FolderStore(Path(str(named)))


def keeper_of(owner: Engine | Connection) -> BlobKeeper:
    """Return the keeper of an engine or of a connection."""
    keeper: BlobKeeper | None = owner.get_execution_options().get(OPTION)
    return keeper or BlobKeeper(BlobConfig(), None)
