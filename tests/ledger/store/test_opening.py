"""Opening a ledger: one that may only be read, one nobody else may read, one somebody has changed, and what is none."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import DBAPIError

from accordance.cli.main import run
from accordance.errors import (
    LedgerAddress,
    LedgerDamaged,
    LedgerDenied,
    LedgerUnavailable,
    LedgerUnreachable,
)
from accordance.project.home import Home
from accordance.store.driver import Driver
from accordance.store.opening import (
    VERSION_TABLE,
    make_engine,
    open_ledger,
)
from accordance.store.tables import COUNTERS
from accordance.store.together import Change, Shape, write_together
from tests.ledger.project import Clock, Project
from tests.limits import LIMIT
from tests.messages import PLAN, small_plan

WITHOUT_RIGHTS = """
import contextlib, io, json, os, sys
from accordance.cli.main import run

def ran(home):
    for command in json.loads(sys.argv[3]):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run([*command, "--home", home])
        yield [code, out.getvalue(), err.getvalue()]

list(ran(sys.argv[2]))  # whatever is loaded when it is needed is loaded now
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
print(json.dumps(list(ran(sys.argv[1]))))
"""
LOOKS = (
    ["verify"],
    ["events"],
    ["plan", "list"],
    ["plan", "show"],
    ["plan", "status"],
    ["task", "show", "a"],
    ["inbox", "list"],
    ["dlq", "list"],
    ["anchor"],
)


def worked(folder: Path) -> Project:
    """A project in which a task was done."""
    clock = Clock()
    project = Project(
        open_ledger(folder / ".accordance" / "ledger.db", clock=clock),
        Home(folder),
        clock,
    )
    project.runs(small_plan())
    project.finish("a")
    return project


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that other users can reach."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        folder.chmod(0o755)
        yield folder
        for place in (folder, *folder.rglob("*")):
            place.chmod(0o755)


def close_to_writers(home: Path) -> None:
    """Everything may be read, nothing may be written, as on a medium that is read-only."""
    for place in home.rglob("*"):
        place.chmod(0o555 if place.is_dir() else 0o444)
    home.chmod(0o555)


def ran_without_rights(
    home: Path, other: Path, *commands: list[str]
) -> list[tuple[int, str, str]]:
    """What commands do in a process that has lost its rights."""
    command = [
        sys.executable,
        "-c",
        WITHOUT_RIGHTS,
        str(home),
        str(other),
        json.dumps(commands),
    ]
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert ran.returncode == 0, ran.stderr
    return [(code, out, err) for code, out, err in json.loads(ran.stdout)]


def with_its_log(home: Path, *, index: bool) -> None:
    """Leave the ledger as a killed writer leaves it: the newest events only in the log beside it."""
    project = worked(home)
    folder = home / ".accordance"
    copies = {
        name: (folder / name).read_bytes()
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm")
    }
    project.ledger.close()
    shutil.rmtree(folder)
    folder.mkdir()
    assert copies["ledger.db-wal"]
    for name, content in copies.items():
        if index or not name.endswith("-shm"):
            (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    "left", ["closed", "killed", "killed, without the index of the log"]
)
def test_a_ledger_that_may_not_be_written_is_read(
    home: Path, tmp_path: Path, left: str
) -> None:
    """Every command that only looks works, and nothing is left behind; one that writes says why it cannot."""
    if left == "closed":
        worked(home).ledger.close()
    else:
        with_its_log(home, index=left == "killed")
    (tmp_path / ".accordance").mkdir()
    worked(tmp_path).ledger.close()
    close_to_writers(home)
    before = sorted(path.name for path in (home / ".accordance").iterdir())
    *looks, writes = ran_without_rights(home, tmp_path, *LOOKS, ["task", "cancel", "b"])
    assert [(code, err) for code, _, err in looks] == [(0, "")] * len(LOOKS)
    assert f"✓ {PLAN}" in looks[0][1]
    assert (writes[0], len(writes[2].splitlines())) == (4, 1), writes
    assert "may not be written" in writes[2]
    assert sorted(path.name for path in (home / ".accordance").iterdir()) == before


def test_an_older_ledger_that_may_not_be_written_says_what_upgrades_it(
    home: Path, tmp_path: Path
) -> None:
    """It cannot be upgraded here, and is not read as something it is not."""
    worked(home).ledger.close()
    with sqlite3.connect(home / ".accordance" / "ledger.db") as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0005'")
    connection.close()
    (tmp_path / ".accordance").mkdir()
    worked(tmp_path).ledger.close()
    close_to_writers(home)
    ((code, _, err),) = ran_without_rights(home, tmp_path, ["plan", "list"])
    assert (code, len(err.splitlines())) == (2, 1)
    assert "an older accordance (0005" in err
    assert (
        "a user who may write it has to upgrade it (`accordance verify` does that)"
        in err
    )


def test_a_new_ledger_is_nobody_elses(tmp_path: Path) -> None:
    """Whatever the umask: the file, what SQLite keeps beside it, and the folder that was made for it."""
    old = os.umask(0)
    try:
        ledger = open_ledger(tmp_path / ".accordance" / "ledger.db", clock=Clock())
        Project(ledger, Home(tmp_path), Clock()).runs(small_plan())
        folder = tmp_path / ".accordance"
        modes = {
            path.name: stat.S_IMODE(path.stat().st_mode)
            for path in (folder, *folder.iterdir())
        }
    finally:
        os.umask(old)
    ledger.close()
    beside = {f"ledger.db{end}": 0o600 for end in ("", "-wal", "-shm")}
    assert modes == {".accordance": 0o700, **beside}


DAMAGE = {
    "a state that is none": "UPDATE task_nodes SET state = 'FLYING' WHERE task_id = 'a'",
    "a plan's state that is none": "UPDATE plans SET state = 'FLYING'",
    "rules that are no JSON": "UPDATE plans SET rules = '{'",
    "rules that are something else": "UPDATE plans SET rules = '[]'",
    "tags that are no JSON": "UPDATE task_nodes SET tags = 'x' WHERE task_id = 'a'",
    "a payload that is no JSON": "UPDATE task_events SET payload = '{' WHERE seq = 3",
    "a payload that is a number": "UPDATE task_events SET payload = '3' WHERE seq = 3",
    "a payload without end": f"UPDATE task_events SET payload = '{'[' * 100_000}' WHERE seq = 3",
    "an answer that is no JSON": "UPDATE messages SET answer = 'x'",
    "a case that is a list": "UPDATE messages SET \"case\" = '[]'",
    "words that are no JSON": "UPDATE verdicts SET messages = 'x'",
    "a ledger event that is no JSON": "UPDATE ledger_events SET payload = 'x' WHERE seq = 1",
    "seals that are something else": "UPDATE task_events SET payload = '{\"rows\": [1]}' WHERE kind = 'ROWS_WRITTEN'",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_cannot_be_read_is_a_finding_and_elsewhere_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: str
) -> None:
    """Somebody has changed the ledger from outside: that is never an internal error."""
    worked(tmp_path).ledger.close()
    with sqlite3.connect(tmp_path / ".accordance" / "ledger.db") as connection:
        connection.execute(DAMAGE[damage])
    connection.close()
    assert run(["verify", "--home", str(tmp_path)]) == 1, capsys.readouterr()
    assert "faults" in capsys.readouterr().out
    for look in (
        ["events"],
        ["plan", "list"],
        ["plan", "show"],
        ["plan", "status"],
        ["task", "show", "a"],
    ):
        code = run([*look, "--home", str(tmp_path)])
        told = capsys.readouterr().err
        assert code in (0, 1), (look, told)
        if code:
            assert len(told.splitlines()) == 1
            assert "`accordance verify` says what does not hold" in told


def test_a_row_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """By the error, for whoever calls from Python."""
    project = worked(tmp_path)
    with sqlite3.connect(tmp_path / ".accordance" / "ledger.db") as connection:
        connection.execute(DAMAGE["a state that is none"])
    connection.close()
    with pytest.raises(
        LedgerDamaged,
        match=r"the row with task_id 'a' and plan_id .*: 'FLYING' is not a valid State",
    ):
        project.task("a")
    with pytest.raises(LedgerDamaged, match="FLYING"), project.ledger.read() as tx:
        tx.count_states(PLAN)
    project.ledger.close()


NO_LEDGER = [
    pytest.param(
        "mysql://somewhere/x",
        LedgerAddress,
        "mysql: a ledger lies in SQLite",
        id="another database",
    ),
    pytest.param("://", LedgerAddress, "cannot be read", id="no address"),
    pytest.param(
        "postgresql://h:port/x",
        LedgerAddress,
        "cannot be read",
        id="a port that is none",
    ),
    pytest.param(
        "postgresql://127.0.0.1/x?no=1",
        LedgerAddress,
        "an option",
        id="an unknown option",
    ),
    pytest.param(
        "postgresql://127.0.0.1:1/x",
        LedgerUnreachable,
        "does not answer",
        id="nobody listens",
    ),
    pytest.param(
        "postgresql://nowhere.invalid/x",
        LedgerUnreachable,
        "does not answer",
        id="an unknown host",
    ),
    pytest.param(
        "postgresql:///x?host=/nowhere",
        LedgerUnreachable,
        "does not answer",
        id="no socket",
    ),
    pytest.param(
        "sqlite://", LedgerAddress, "names no file", id="SQLite without a file"
    ),
    pytest.param("a\0b", LedgerAddress, "can be no ledger", id="a name with a NUL"),
    pytest.param(
        "x" * 300, LedgerAddress, "can be no ledger", id="a name that is too long"
    ),
]


@pytest.mark.parametrize(("place", "kind", "said"), NO_LEDGER)
def test_what_is_no_ledger_says_why(
    place: str, kind: type[LedgerUnavailable], said: str
) -> None:
    """Each as an error of its own kind, in one line."""
    with pytest.raises(kind, match=said) as caught:
        open_ledger(place)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(("place", "kind", "said"), NO_LEDGER[:5])
def test_no_such_ledger_is_no_internal_error(
    capsys: pytest.CaptureFixture[str],
    place: str,
    kind: type[LedgerUnavailable],
    said: str,
) -> None:
    """The command line: usage, or not found."""
    code = run(["plan", "list", "--ledger", place])
    told = capsys.readouterr().err
    assert (code, len(told.splitlines()), said in told) == (
        2 if kind is LedgerAddress else 5,
        1,
        True,
    ), told


def test_a_password_in_an_option_is_never_told() -> None:
    """Nor one in its usual place."""
    with pytest.raises(LedgerUnavailable) as caught:
        open_ledger("postgresql://me:secret@127.0.0.1:1/x?password=hidden")
    assert not {"secret", "hidden"} & set(str(caught.value).replace("=", " ").split())


def test_a_folder_that_may_not_be_written_is_denied(home: Path) -> None:
    """Where a new ledger was to be made."""
    closed = home / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        with pytest.raises(LedgerDenied, match="may not be written; check who owns it"):
            open_ledger(closed / "sub" / "ledger.db")
    finally:
        if os.getuid() == 0:
            os.seteuid(0)


def test_a_transaction_that_falls_silent_holds_nobody_up(postgresql_url: str) -> None:
    """Its machine was cut off: the database ends it, and what it held is free."""
    engine = make_engine(postgresql_url, silent_seconds=0.5)
    hold = "SELECT pg_advisory_xact_lock(7)"
    with engine.connect() as silent, engine.connect() as other:
        silent.exec_driver_sql(hold)
        other.exec_driver_sql(hold)  # waits until the first is ended
        with pytest.raises(DBAPIError) as ended:
            silent.exec_driver_sql("SELECT 1")
    assert ended.value.connection_invalidated
    engine.dispose()


def test_nor_one_that_falls_silent_behind_several_rows(postgresql_url: str) -> None:
    """If psycopg sent them together, PostgreSQL's clock would stand still behind them."""
    open_ledger(postgresql_url).close()
    engine = make_engine(postgresql_url, silent_seconds=0.5)
    insertion = Shape("insert", COUNTERS, ("name", "number"))
    rows = [{"name": name, "number": 0} for name in ("a", "b", "c")]
    with engine.connect() as silent, engine.connect() as other:
        silent.begin()
        write_together(Driver(silent), [Change(insertion, rows)])
        other.exec_driver_sql("LOCK TABLE counters")  # waits until the first is ended
        assert other.exec_driver_sql("SELECT count(*) FROM counters").scalar() == 2
        with pytest.raises(DBAPIError):
            silent.exec_driver_sql("SELECT 1")
    engine.dispose()
