"""Opening a ledger: the database, its settings, and its tables up to date.

SQLite by a path, PostgreSQL by a URL. SQLite runs in WAL with `synchronous=NORMAL` (a
killed process loses nothing, a power cut may lose the last commits) unless
`durability="full"` is asked for.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from accordance.domain.blobs import BlobConfig
from accordance.errors import (
    LedgerAddress,
    LedgerDenied,
    LedgerMissing,
    LedgerTooNew,
    LedgerTooOld,
    LedgerUnavailable,
)
from accordance.store.blobs.keeper import attach_keeper
from accordance.store.clock import time_on
from accordance.store.failures import translated, where
from accordance.store.read_only import engine_for_reading, is_for_reading, may_write
from accordance.store.sealing_old_rows import take_over
from accordance.store.sql import SqlLedger
from accordance.store.write_lock import begin_in_turn

Durability: TypeAlias = Literal["normal", "full"]
Clock: TypeAlias = Callable[[], str]

DEFAULT_BLOBS: Final = BlobConfig()
SCHEMA: Final = "0015"
_FIRST_SEALED: Final = "0006"  # tables of that version have seals
VERSION_TABLE: Final = "accordance_schema"
_PATIENCE_SECONDS: Final = 30.0
_RETRY_SECONDS: Final = 0.01
_KEPT: Final = 5  # connections that stay open
_REST_SECONDS: Final = 1.0  # of a connection, then it is asked whether it is there
_PREPARED_AFTER: Final = 1  # execution of a statement on a connection
_RESTS_SINCE: Final = "rests since"
_CONNECTIONS: Final = 15
SILENT_SECONDS: Final = 300.0
"""How long a transaction may be silent, unless its opener allows less."""


def open_ledger(
    place: str | Path,
    *,
    create: bool = True,
    durability: Durability = "normal",
    clock: Clock | None = None,
    blobs: BlobConfig = DEFAULT_BLOBS,
    silent_seconds: float = SILENT_SECONDS,
) -> SqlLedger:
    """Open the ledger at a path (SQLite) or URL, and bring its tables up to date.

    `blobs` says where large blobs are kept, `silent_seconds` how long a transaction may
    be silent; see `bound_silence`. A ledger that may not be written is opened
    for reading only, as it is. Raises LedgerUnavailable, LedgerBusy, LedgerTooNew or
    LedgerTooOld, each with the way out, and BlobStoreAddress.
    """
    engine = make_engine(
        place,
        create=create,
        durability=durability,
        blobs=blobs,
        silent_seconds=silent_seconds,
    )
    try:
        with translated(engine):
            _bring_up_to_date(engine)
    except BaseException:
        engine.dispose()
        raise
    return SqlLedger(engine, clock)


def make_engine(
    place: str | Path,
    *,
    create: bool = True,
    durability: Durability = "normal",
    connections: int = _CONNECTIONS,
    blobs: BlobConfig = DEFAULT_BLOBS,
    silent_seconds: float = SILENT_SECONDS,
) -> Engine:
    """Return the engine for a path or a URL, with our settings.

    Raises LedgerUnavailable and BlobStoreAddress.
    """
    engine = _engine(place, create, durability, connections)
    attach_keeper(engine, blobs)
    bound_silence(engine, silent_seconds)
    return engine


def bound_silence(engine: Engine, seconds: float) -> None:
    """Let PostgreSQL end transactions of an engine that are silent for so long.

    A machine that is cut off in the middle of one would hold the row of its plan, and
    with it all other workers, until the network gives it up, which may be never.
    """
    if engine.dialect.name != "postgresql":
        return
    milliseconds = int(seconds * 1000)
    statement = f"SET idle_in_transaction_session_timeout = {milliseconds}"

    @event.listens_for(engine, "connect")
    def bound(connection: Any, _: object) -> None:
        connection.execute(statement)
        connection.commit()


def plan_once(engine: Engine) -> None:
    """Let PostgreSQL plan each prepared statement once, whatever its values are.

    For a worker, whose statements all go by an index. PostgreSQL would plan those with
    lists again for each execution, which takes longer than to execute them.
    """
    if engine.dialect.name != "postgresql":
        return

    @event.listens_for(engine, "connect")
    def settle(connection: Any, _: object) -> None:
        connection.execute("SET plan_cache_mode = force_generic_plan")
        connection.commit()


def _engine(
    place: str | Path, create: bool, durability: Durability, connections: int
) -> Engine:
    if isinstance(place, str) and "://" in place:
        return _from_url(place, create, durability, connections)
    path = Path(place)
    is_there = _exists(path)
    if not is_there and not create:
        raise LedgerMissing(f"no ledger at {path}")
    if is_there and not may_write(path):
        return engine_for_reading(path, _patience())
    if not is_there:
        make_private_file(path)
    return _sqlite(URL.create("sqlite", database=str(path)), durability, connections)


def _exists(path: Path) -> bool:
    if "\0" in str(path):
        raise LedgerAddress(
            f"{str(path)[:80]!r} can be no ledger: the name holds a NUL"
        )
    try:
        return path.exists()
    except (
        OSError
    ) as error:  # a name that is too long, a folder that may not be entered
        raise LedgerAddress(
            f"{str(path)[:80]!r} can be no ledger: {error.strerror or error}"
        ) from None


def make_private_file(path: Path) -> None:
    """Make the file of a new ledger, readable by this user only.

    SQLite gives the files beside it the same rights.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except PermissionError:
        raise LedgerDenied(
            f"ledger {path}: the folder {path.parent} may not be written; check who owns it"
        ) from None
    except OSError as error:
        raise LedgerUnavailable(f"{path.parent}: {error.strerror or error}") from None


def _from_url(
    url: str, create: bool, durability: Durability, connections: int
) -> Engine:
    parsed = read_url(url)
    match parsed.get_backend_name():
        case "sqlite" if parsed.database and parsed.database != ":memory:":
            return _engine(Path(parsed.database), create, durability, connections)
        case "sqlite":
            raise LedgerAddress(
                f"{url} names no file; write it as sqlite:///path/to/ledger.db"
            )
        case "postgresql":
            return _postgresql(parsed, connections)
        case other:
            raise LedgerAddress(f"{other}: a ledger lies in SQLite or PostgreSQL")


def read_url(url: str) -> URL:
    """A ledger's address in its parts. Raises LedgerAddress."""
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        raise LedgerAddress(
            "the ledger's address cannot be read; write it as postgresql://user@host/name"
        ) from None


def _postgresql(url: URL, connections: int) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        max_overflow=max(0, connections - _KEPT),
        pool_use_lifo=True,  # what a connection has prepared is used again
        connect_args={"connect_timeout": 10, "prepare_threshold": _PREPARED_AFTER},
    )
    _ask_rested_connections(engine)
    return engine


def _ask_rested_connections(engine: Engine) -> None:
    """Ask a connection that has rested whether it is still there, before it is used.

    A busy worker uses its connections many times in a second, and asking would cost a
    round trip each time.
    """
    dialect = engine.dialect

    @event.listens_for(engine, "checkin")
    def rest(_: object, record: ConnectionPoolEntry) -> None:
        record.info[_RESTS_SINCE] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def ask(connection: Any, record: ConnectionPoolEntry, _: object) -> None:
        since = record.info.get(_RESTS_SINCE)
        if since is None or time.monotonic() - since < _REST_SECONDS:
            return
        try:
            dialect.do_ping(connection)
        except dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError(str(error)) from None


def _sqlite(url: URL, durability: Durability, connections: int) -> Engine:
    settings = {"isolation_level": None, "timeout": _patience()}
    engine = create_engine(
        url, max_overflow=max(0, connections - _KEPT), connect_args=settings
    )

    event.listen(engine, "connect", _settings(durability.upper()))
    begin_in_turn(engine, _patience())
    return engine


def _settings(synchronous: str) -> Callable[[Any, object], None]:
    def settings(connection: Any, _: object) -> None:
        _switch_to_wal(connection)
        connection.execute(f"PRAGMA synchronous={synchronous}")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute(
            "PRAGMA cache_size=-32000"
        )  # KiB: an import writes into many indexes

    return settings


def _switch_to_wal(connection: Any) -> None:
    """Switch to WAL, as soon as nobody else does the same with a new file.

    SQLite does not wait for that, whatever its timeout is.
    """
    deadline = time.monotonic() + _patience()
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _patience() -> float:
    """Return how many seconds to wait for another transaction.

    ACCORDANCE_PATIENCE sets it.
    """
    setting = os.environ.get("ACCORDANCE_PATIENCE", "")
    if not setting:
        return _PATIENCE_SECONDS
    try:
        return max(0.0, float(setting))
    except ValueError:
        raise LedgerUnavailable(
            f"ACCORDANCE_PATIENCE is a number of seconds, got {setting!r}"
        ) from None


def version_of(connection: Connection) -> str | None:
    """Return the version of the tables; None if there are none."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    query = text(f"SELECT version_num FROM {VERSION_TABLE}")  # noqa: S608
    version: str | None = connection.execute(query).scalar()
    return version


def _bring_up_to_date(engine: Engine) -> None:
    with engine.connect().execution_options(reading=True) as connection:
        version = version_of(connection)
    if version == SCHEMA:
        return
    if version is not None and version > SCHEMA:
        raise LedgerTooNew(
            f"{where(engine)}: was written by a newer accordance (tables {version},"
            f" this one knows {SCHEMA}); upgrade"
        )
    if is_for_reading(engine):
        raise LedgerTooOld(
            f"{where(engine)}: has the tables of an older accordance"
            f" ({version or 'none'}, this one knows {SCHEMA}) and may not be written"
            " here",
            way_out="a user who may write it has to upgrade it",
        )
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # only one process makes the tables
            connection.execute(text("SELECT pg_advisory_xact_lock(7242077)"))
        version = version_of(connection)
        if version != SCHEMA:
            migrate(connection)
        if version is not None and version < _FIRST_SEALED:
            take_over(connection, time_on(connection))


def migrate(connection: Connection) -> None:
    """Bring the tables up to date, in the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, SCHEMA)
