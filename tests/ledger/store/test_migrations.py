"""The tables: made by migrations, equal to what the code knows, refused when somebody newer made them."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from accordance.errors import LedgerBusy, LedgerMissing, LedgerTooNew, LedgerUnavailable
from accordance.project.home import Home
from accordance.store.opening import (
    SCHEMA,
    VERSION_TABLE,
    make_engine,
    open_ledger,
    version_of,
)
from accordance.store.sql import SqlLedger
from accordance.store.tables import METADATA
from tests.ledger.project import Clock, Project
from tests.limits import LIMIT
from tests.messages import small_plan


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a database can be made."""
    if request.param == "sqlite":
        yield str(tmp_path / "ledger.db")
    else:
        yield request.getfixturevalue("postgresql_url")


def test_the_migrations_make_the_tables_the_code_knows(place: str) -> None:
    """Nothing more, nothing less; opening it again changes nothing."""
    for _ in range(2):
        ledger = open_ledger(place)
        with ledger.engine.connect() as connection:
            assert version_of(connection) == SCHEMA
            options = {"version_table": VERSION_TABLE, "compare_type": True}
            context = MigrationContext.configure(connection, opts=options)
            assert compare_metadata(context, METADATA) == []
        ledger.close()


def test_the_names_of_the_seeds_work_in_sql(place: str, tmp_path: Path) -> None:
    """Beside our own names for the same columns; nobody can set them to anything else."""
    clock = Clock()
    ledger = open_ledger(place, clock=clock)
    project = Project(ledger, Home(tmp_path), clock)
    project.runs(small_plan())
    project.submit("a", b"no action")
    with ledger.engine.connect().execution_options(reading=True) as connection:
        (kinds,) = zip(
            *connection.execute(
                text("SELECT type FROM task_events WHERE task_id = 'a'")
            ),
            strict=True,
        )
        tasks = "SELECT status, attempt_count FROM task_nodes WHERE task_id = 'a'"
        assert tuple(connection.execute(text(tasks)).one()) == ("READY", 1)
        plans = "SELECT constraints FROM plans"
        assert connection.execute(text(plans)).scalar() is None
    assert "LLM_UNPARSEABLE" in kinds
    with pytest.raises(DBAPIError), ledger.engine.begin() as connection:
        connection.execute(text("UPDATE task_nodes SET status = 'DONE'"))
    ledger.close()


def test_a_newer_ledger_is_refused(place: str) -> None:
    """It is left as it is, and the way out is said."""
    ledger = open_ledger(place)
    with ledger.engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    ledger.close()
    with pytest.raises(
        LedgerTooNew, match=f"tables 9999, this one knows {SCHEMA}.*upgrade"
    ):
        open_ledger(place)


def test_two_that_open_a_new_ledger_at_once(place: str) -> None:
    """One makes the tables, the others find them."""
    opened: list[SqlLedger] = []
    failures: list[BaseException] = []
    barrier = threading.Barrier(4)

    def run() -> None:
        barrier.wait()
        try:
            opened.append(open_ledger(place))
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test shows it
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for ledger in opened:
        ledger.close()
    assert failures == []


def test_a_new_file_that_somebody_else_is_writing(tmp_path: Path) -> None:
    """SQLite says at once that it is locked; it is opened when the other is done."""
    place = tmp_path / "ledger.db"
    other = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.2, other.rollback)
    timer.start()
    open_ledger(place).close()
    timer.join()
    other.close()


@pytest.mark.parametrize("name", ["what? #1 100%", "目录", "a'b;c", "spa ce"])
def test_folders_of_any_name(tmp_path: Path, name: str) -> None:
    """The ledger lies where it was asked to lie."""
    path = tmp_path / name / "ledger.db"
    open_ledger(path).close()
    assert path.is_file()
    open_ledger(path, create=False).close()


def test_what_is_no_ledger(tmp_path: Path) -> None:
    """Nothing there, a text, a folder, a database that cannot be reached, an address that is none: each says so."""
    with pytest.raises(LedgerMissing, match="no ledger at"):
        open_ledger(tmp_path / "none.db", create=False)
    (tmp_path / "text.db").write_text(
        "this is no database, and long enough to be read as one " * 20
    )
    with pytest.raises(LedgerUnavailable, match="the file is something else"):
        open_ledger(tmp_path / "text.db")
    (tmp_path / "folder.db").mkdir()
    with pytest.raises(
        LedgerUnavailable, match="the folder is missing or may not be written"
    ):
        open_ledger(tmp_path / "folder.db")
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerUnavailable, match="Not a directory"):
        open_ledger(tmp_path / "file" / "sub" / "ledger.db")
    for url, said in (
        ("mysql://somewhere/x", "mysql: a ledger lies in SQLite or PostgreSQL"),
        ("://", "cannot be read"),
        ("postgresql://127.0.0.1:1/x", "127.0.0.1"),
    ):
        with pytest.raises(LedgerUnavailable, match=said):
            open_ledger(url)


def test_a_password_is_never_told(tmp_path: Path) -> None:
    """Errors name the database, not how to get in."""
    with pytest.raises(LedgerUnavailable) as caught:
        open_ledger("postgresql://me:secret@127.0.0.1:1/x")
    assert "secret" not in str(caught.value)
    assert "me:***@127.0.0.1" in str(caught.value)


def test_a_database_that_does_not_exist(postgresql_url: str) -> None:
    """PostgreSQL is there, the database is not."""
    with pytest.raises(
        LedgerUnavailable, match="the database or user is missing; create it first"
    ):
        open_ledger(postgresql_url.replace("?", "x?", 1))


def test_a_sqlite_url(tmp_path: Path) -> None:
    """A path may be written as a URL too."""
    open_ledger(f"sqlite:///{tmp_path}/ledger.db").close()
    assert (tmp_path / "ledger.db").is_file()


def test_durability_is_a_choice(tmp_path: Path) -> None:
    """Normal by default; full syncs every commit."""
    for durability, level in (("normal", 1), ("full", 2)):
        engine = make_engine(tmp_path / "ledger.db", durability=durability)  # type: ignore[arg-type]
        with engine.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        engine.dispose()


def test_a_locked_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else writes for too long: it is said, nothing is lost, and later it goes on. Readers do not wait."""
    monkeypatch.setenv("ACCORDANCE_PATIENCE", "0.05")
    ledger = open_ledger(tmp_path / "ledger.db", clock=Clock())
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with (
        pytest.raises(LedgerBusy, match="another process holds it; try again"),
        ledger.write(),
    ):
        pass
    with ledger.read() as tx:
        assert tx.plans() == []
    other.execute("ROLLBACK")
    other.close()
    with ledger.write() as tx:
        tx.keep(b"now")
    ledger.close()


@pytest.mark.parametrize("said", ["soon", "1,5"])
def test_patience_is_a_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    """Anything else is refused by name."""
    monkeypatch.setenv("ACCORDANCE_PATIENCE", said)
    with pytest.raises(
        LedgerUnavailable,
        match=f"ACCORDANCE_PATIENCE is a number of seconds, got '{said}'",
    ):
        open_ledger(tmp_path / "ledger.db")


WITHOUT_RIGHTS = """
import os, sys
from accordance.errors import LedgerUnavailable
from accordance.store.opening import open_ledger
open_ledger(sys.argv[2]).close()  # whatever is loaded when it is needed is loaded now
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    with open_ledger(sys.argv[1]).write() as tx:
        tx.keep(b"x")
except LedgerUnavailable as error:
    print(error)
"""


@pytest.mark.parametrize("exists", [True, False])
def test_what_may_not_be_written(tmp_path: Path, exists: bool) -> None:
    """Somebody else's ledger, or a folder for a new one: a process that has lost its rights is told so in one line."""
    with tempfile.TemporaryDirectory() as open_to_all:
        home = Path(open_to_all) / "home"
        home.mkdir()
        Path(open_to_all).chmod(0o755)
        if exists:
            open_ledger(home / "ledger.db").close()
        home.chmod(0o555)
        command = [
            sys.executable,
            "-c",
            WITHOUT_RIGHTS,
            str(home / "ledger.db"),
            str(tmp_path / "first.db"),
        ]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=LIMIT
        )
        home.chmod(0o755)
    assert (ran.returncode, len(ran.stdout.splitlines())) == (0, 1), ran.stderr
    assert "may not be written" in ran.stdout
