"""A ledger that may only be read, because this user may not write there."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event

_MARK: Final = "accordance_reading_only"
_copies: Final[list[tempfile.TemporaryDirectory[str]]] = []
"""Copies of ledgers; each is removed when the process ends."""


def may_write(path: Path) -> bool:
    """Whether a ledger's file may be written, and the files beside it.

    SQLite keeps files of its own there.
    """
    effective = os.access in os.supports_effective_ids
    may_write_file = os.access(path, os.W_OK, effective_ids=effective)
    may_write_folder = os.access(path.parent, os.W_OK, effective_ids=effective)
    return may_write_file and may_write_folder


def is_for_reading(engine: Engine) -> bool:
    """Whether an engine can only read."""
    return bool(engine.get_execution_options().get(_MARK))


def engine_for_reading(path: Path, patience: float) -> Engine:
    """An engine that writes nothing, neither into the file nor beside it."""
    address = _address(path)

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address,
            uri=True,
            isolation_level=None,
            timeout=patience,
            check_same_thread=False,
        )
        connection.execute(
            "PRAGMA query_only=ON"
        )  # what is written into a copy would be lost
        return connection

    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        creator=connect,
        execution_options={_MARK: True},
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        reading = connection.get_execution_options().get("reading")
        connection.exec_driver_sql("BEGIN" if reading else "BEGIN IMMEDIATE")

    return engine


def _address(path: Path) -> str:
    """Return how SQLite opens a file without writing.

    With nothing in the log beside it, the file is all there is. Otherwise the log is
    read too; where SQLite would have to write for that, because a writer was killed, a
    copy is read.
    """
    log = path.with_name(f"{path.name}-wal")
    if not (log.exists() and log.stat().st_size):
        return f"file:{quote(str(path))}?mode=ro&immutable=1"
    both = f"file:{quote(str(path))}?mode=ro"
    return both if _can_be_read(both) else f"file:{quote(str(_copied(path, log)))}"


def _can_be_read(address: str) -> bool:
    try:
        with closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.OperationalError:
        return False
    return True


def _copied(path: Path, log: Path) -> Path:
    """Copy a ledger with its log into a private folder of this process."""
    folder = tempfile.TemporaryDirectory(prefix="accordance-ledger-")
    _copies.append(folder)
    copy = Path(folder.name) / path.name
    shutil.copyfile(path, copy)
    shutil.copyfile(log, copy.with_name(log.name))
    return copy
