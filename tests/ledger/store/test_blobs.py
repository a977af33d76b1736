"""Large blobs: put before they are named, checked when read, collected when loose."""

from __future__ import annotations

import hashlib
import os
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import text

from accordance.domain.blobs import Blob, BlobConfig
from accordance.errors import (
    BlobChanged,
    BlobMissing,
    BlobStoreAddress,
    BlobStoreDenied,
    BlobStoreForeign,
    BlobStoreMissing,
    BlobStoreUnavailable,
    Conflict,
)
from accordance.store.blobs.collecting import collect
from accordance.store.blobs.folder import FolderStore
from accordance.store.blobs.port import BlobStore
from accordance.store.blobs.s3 import S3Store
from accordance.store.blobs.sources import (
    PART_BYTES,
    BytesSource,
    measured,
    source_of,
)
from accordance.store.opening import open_ledger
from accordance.store.sql import SqlLedger
from tests.s3_server import BUCKET, KEY, s3_server

pytestmark = pytest.mark.xdist_group("s3")
LARGE = b"large " * 100_000
TWO_PARTS = os.urandom(PART_BYTES) + b"the rest"


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server."""
    with s3_server() as address:
        yield address


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEY.items():
        monkeypatch.setenv(name, value)


def s3_config(address: str, prefix: str, **more: object) -> BlobConfig:
    """A store below a prefix of the server's bucket."""
    return BlobConfig(
        store=f"s3://{BUCKET}/{prefix}",
        endpoint=address,
        region="us-east-1",
        patience_seconds=1,
        **more,  # type: ignore[arg-type]
    )


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty store of each kind."""
    if request.param == "folder":
        return FolderStore(tmp_path / "store")
    return S3Store(s3_config(request.getfixturevalue("s3"), tmp_path.name))


# -- stores


@pytest.mark.parametrize("content", [b"", b"small", TWO_PARTS], ids=len)
def test_what_is_put_comes_back(store: BlobStore, content: bytes) -> None:
    """Whole, under its hash, once however often it is put."""
    source = BytesSource(content)
    about = measured(source)
    assert about.blob == Blob(hashlib.sha256(content).hexdigest(), len(content))
    assert not store.has(about.blob)

    for _ in range(2):
        store.put(about, source)
    assert store.has(about.blob)
    assert b"".join(store.chunks(about.blob)) == content
    assert list(store.blobs()) == [about.blob]

    store.delete(about.blob.sha256)
    store.delete(about.blob.sha256)
    assert list(store.blobs()) == []
    with pytest.raises(BlobMissing, match=about.blob.sha256[:12]):
        list(store.chunks(about.blob))


def test_an_upload_goes_on_with_what_is_missing(store: BlobStore) -> None:
    """A part that is there is not read again, and one that was cut is put anew."""
    source = BytesSource(TWO_PARTS)
    about = measured(source)
    store.put(about, source)
    (first, second) = [stored.key for stored in store.objects()]
    store.write(second, b"cut")
    assert not store.has(about.blob)

    read = []

    class Watched(BytesSource):
        def read(self, start: int, length: int) -> bytes:
            read.append(start)
            return super().read(start, length)

    store.put(about, Watched(TWO_PARTS))
    assert read == [PART_BYTES]
    assert store.has(about.blob)
    assert first < second


def test_changed_bytes_are_never_handed_out(store: BlobStore) -> None:
    """Neither those that somebody changed in the store, nor a source that moves."""
    source = BytesSource(LARGE)
    about = measured(source)
    store.put(about, source)
    (stored,) = store.objects()
    store.write(stored.key, LARGE[:-1] + b"x")
    with pytest.raises(BlobChanged, match=about.blob.sha256[:12]):
        list(store.chunks(about.blob))

    store.delete(about.blob.sha256)
    with pytest.raises(BlobChanged):
        store.put(about, BytesSource(b"x" * len(LARGE)))
    assert not store.has(about.blob)


def test_a_label_says_whose_store_it_is(store: BlobStore) -> None:
    """It is no blob."""
    assert store.owner() is None
    store.give_to("some-ledger")
    assert store.owner() == "some-ledger"
    assert list(store.blobs()) == []


def test_a_large_file_is_moved_in_bounded_memory(tmp_path: Path) -> None:
    """Only a few parts are in memory at once, however large the file."""
    size = 12 * PART_BYTES
    file = tmp_path / "large.bin"
    with file.open("wb") as stream:
        stream.truncate(size)
    store = FolderStore(tmp_path / "store")

    tracemalloc.start()
    with source_of(file) as source:
        about = measured(source)
        store.put(about, source)
    got = sum(map(len, store.chunks(about.blob)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert got == size
    assert peak < 6 * PART_BYTES


Breaks = Callable[[str, Path], BlobStore]


def _denied_folder(_: str, folder: Path) -> BlobStore:
    (folder / "file").write_text("")
    return FolderStore(folder / "file" / "store")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda s3, _: S3Store(BlobConfig(store="s3://none", endpoint=s3)),
            BlobStoreMissing,
            "no such bucket; create the bucket",
        ),
        (
            lambda _, folder: S3Store(s3_config("http://127.0.0.1:9", folder.name)),
            BlobStoreUnavailable,
            "does not answer; check its address",
        ),
        (_denied_folder, BlobStoreUnavailable, "cannot be used"),
    ],
    ids=["no bucket", "nobody there", "no folder"],
)
def test_a_store_that_cannot_be_used(
    make: Breaks, error: type[Exception], words: str, s3: str, tmp_path: Path
) -> None:
    """One line, and the way out."""
    with pytest.raises(error, match=words) as caught:
        make(s3, tmp_path).write("aa/x", b"content")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["s3://", "s3://key:secret@bucket/x", "ftp://bucket", "s3://UPPER"]
)
def test_an_address_that_names_no_bucket(address: str) -> None:
    """Credentials in it are refused, and not repeated."""
    with pytest.raises(BlobStoreAddress, match="s3://BUCKET/PREFIX") as caught:
        S3Store(BlobConfig(store=address))
    assert "secret" not in str(caught.value)


def test_credentials_that_are_not_accepted(s3: str, tmp_path: Path) -> None:
    """The store's own words are not repeated: they name the key."""
    error = S3Store(s3_config(s3, tmp_path.name))._error(
        "403 Forbidden: <Code>InvalidAccessKeyId</Code><Key>tests</Key>"
    )
    assert isinstance(error, BlobStoreDenied)
    assert "set AWS_ACCESS_KEY_ID" in str(error)
    assert "<" not in str(error)


# -- ledgers


@pytest.fixture(params=["sqlite-folder", "sqlite-s3", "postgresql-s3"])
def config(
    request: pytest.FixtureRequest, tmp_path: Path
) -> tuple[str | Path, BlobConfig]:
    """Where a ledger lies, and where its large blobs do."""
    database, store = request.param.split("-")
    place: str | Path = tmp_path / "ledger.db"
    if database == "postgresql":
        place = request.getfixturevalue("postgresql_url")
    if store == "folder":
        return place, BlobConfig()
    return place, s3_config(request.getfixturevalue("s3"), tmp_path.name)


@pytest.fixture
def ledger(config: tuple[str | Path, BlobConfig]) -> Iterator[SqlLedger]:
    """A ledger with a store."""
    place, blobs = config
    opened = open_ledger(place, blobs=blobs)
    yield opened
    opened.close()


def _rows(ledger: SqlLedger, table: str) -> int:
    with ledger.engine.connect() as connection:
        count = connection.execute(text(f"SELECT count(*) FROM {table}"))
        return int(count.scalar_one())


def test_large_blobs_lie_in_the_store_and_small_ones_in_the_database(
    ledger: SqlLedger, tmp_path: Path
) -> None:
    """A reader cannot tell."""
    file = tmp_path / "file"
    file.write_bytes(LARGE)
    kept = [ledger.put(file), ledger.put(b"small")]
    assert [item.content for item in kept] == [None, b"small"]
    with ledger.write() as tx:
        names = [tx.keep_blob(item) for item in kept]

    assert (_rows(ledger, "blob_objects"), _rows(ledger, "blobs")) == (1, 1)
    assert _rows(ledger, "loose_blobs") == 0
    with ledger.read() as tx:
        assert [tx.blob(name) for name in names] == [LARGE, b"small"]
        assert [tx.blob_size(name) for name in names] == [len(LARGE), 5]
        assert tx.blob_size("f" * 64) is None
        assert dict(tx.blobs()) == {name: name for name in names}


def test_what_was_staged_is_only_named(ledger: SqlLedger) -> None:
    """Code that keeps bytes need not know; what was not staged lies in the database."""
    ledger.stage(LARGE)
    with ledger.write() as tx:
        tx.keep(LARGE)
        tx.keep(LARGE + b"!")
    assert _rows(ledger, "blob_objects") == 1
    with ledger.read() as tx:
        assert all(name == found for name, found in tx.blobs())


def test_a_transaction_that_is_rolled_back_leaves_only_what_is_loose(
    ledger: SqlLedger,
) -> None:
    """It is removed after the grace time, and not before."""
    kept = ledger.put(LARGE)
    with suppress(RuntimeError), ledger.write() as tx:
        tx.keep_blob(kept)
        raise RuntimeError
    store = ledger.blobs.store
    assert store is not None
    assert store.has(Blob(kept.sha256, kept.size))

    young = collect(ledger.engine, ledger.blobs, grace_seconds=3600)
    assert (young.removed, young.young) == ((), 1)
    would = collect(ledger.engine, ledger.blobs, grace_seconds=0, dry_run=True)
    assert would.removed == (kept.sha256,)
    assert store.has(Blob(kept.sha256, kept.size))

    done = collect(ledger.engine, ledger.blobs, grace_seconds=0)
    assert (done.removed, done.young) == ((kept.sha256,), 0)
    assert list(store.blobs()) == []
    with pytest.raises(Conflict, match="try again"), ledger.write() as tx:
        tx.keep_blob(kept)


def test_what_a_row_names_is_never_collected(ledger: SqlLedger) -> None:
    """Even if it was announced again meanwhile; once released, it goes."""
    kept = ledger.put(LARGE)
    with ledger.write() as tx:
        tx.keep_blob(kept)
    ledger.put(LARGE)
    assert collect(ledger.engine, ledger.blobs, grace_seconds=0).removed == ()
    with ledger.read() as tx:
        assert tx.blob(kept.sha256) == LARGE

    with ledger.write() as tx:
        tx.forget_blobs([kept.sha256])
    done = collect(ledger.engine, ledger.blobs, grace_seconds=0)
    assert done.removed == (kept.sha256,)


def test_what_the_ledger_does_not_know_becomes_loose_first(ledger: SqlLedger) -> None:
    """The grace time counts from when it was noticed, by the database's clock."""
    store = ledger.blobs.store
    assert store is not None
    ledger.put(LARGE)  # the store is this ledger's now
    source = BytesSource(TWO_PARTS)
    store.put(measured(source), source)
    seen = collect(ledger.engine, ledger.blobs, grace_seconds=3600)
    assert (seen.removed, seen.unknown, seen.young) == ((), 1, 2)


def test_another_store_is_refused(
    config: tuple[str | Path, BlobConfig], tmp_path: Path
) -> None:
    """An empty one, and that of another ledger; nothing is written there."""
    place, blobs = config
    first = open_ledger(place, blobs=blobs)
    kept = first.put(LARGE)
    with first.write() as tx:
        tx.keep_blob(kept)
    assert first.blobs.store is not None
    was = first.blobs.store.place
    first.close()

    swapped = open_ledger(place, blobs=BlobConfig(store=str(tmp_path / "empty")))
    with pytest.raises(BlobStoreForeign, match="they lie in") as caught:
        swapped.put(LARGE + b"!")
    assert was in str(caught.value)
    with pytest.raises(BlobStoreForeign), swapped.read() as tx:
        tx.blob(kept.sha256)
    swapped.close()

    taken = FolderStore(tmp_path / "taken")
    taken.give_to("another-ledger")
    other = open_ledger(place, blobs=BlobConfig(store=taken.place))
    with pytest.raises(BlobStoreForeign, match="of another ledger"):
        other.check_store()
    other.close()


def test_without_a_store_files_are_kept_in_pieces(
    postgresql_url: str, tmp_path: Path
) -> None:
    """As PostgreSQL has always kept them: in the transaction, a piece at a time."""
    file = tmp_path / "file"
    file.write_bytes(LARGE * 4)
    ledger = open_ledger(postgresql_url)
    kept = ledger.put(file)
    with ledger.write() as tx:
        tx.keep_blob(kept)
    assert (_rows(ledger, "blob_objects"), _rows(ledger, "blobs")) == (0, 3)

    file.write_bytes(b"changed" * 200_000)
    later = ledger.put(file)
    file.write_bytes(b"CHANGED" * 200_000)
    with pytest.raises(BlobChanged), ledger.write() as tx:
        tx.keep_blob(later)
    with ledger.read() as tx:
        assert tx.blob(kept.sha256) == LARGE * 4
        assert dict(tx.blobs()) == {kept.sha256: kept.sha256}
    ledger.close()
