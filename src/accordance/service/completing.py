"""Names for the completion of a shell: read quickly, never written, never an error.

A shell asks at every press of a key. So the SQLite file is read as it is, past the
ledger and its upgrades; a ledger on PostgreSQL is not asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from accordance.errors import AccordanceError
from accordance.project.home import find_home

_MOST: Final = 50
_SECONDS: Final = 0.2  # a ledger that is busy for longer completes nothing
_QUERIES: Final[Mapping[str, str]] = {
    "plans": "SELECT plan_id, title FROM plans",
    "tasks": "SELECT task_id, title FROM task_nodes",
    "questions": (
        "SELECT question_id, text FROM questions WHERE answered_at IS NULL"
        " UNION ALL SELECT CAST(number AS TEXT), text FROM questions"
        " WHERE answered_at IS NULL AND number IS NOT NULL"
    ),
}


def names_like(
    table: str,
    beginning: str,
    *,
    home: Path | None = None,
    place: str | None = None,
) -> list[tuple[str, str]]:
    """Return ids that begin like that, with their titles; nothing if there is no ledger."""
    try:
        file = _ledger_file(home, place)
        if file is None or not file.is_file():
            return []
        return _read(file, table, beginning)
    except (AccordanceError, OSError, ValueError, sqlite3.Error):
        return []


def _ledger_file(home: Path | None, place: str | None) -> Path | None:
    """The file of the ledger; None if it is no file."""
    project_home = find_home(home)
    named = place or project_home.settings().ledger
    if named is None:
        return project_home.ledger
    if "://" in named:
        return None
    return project_home.root / named


def _read(file: Path, table: str, beginning: str) -> list[tuple[str, str]]:
    query = (
        f"WITH named (id, title) AS ({_QUERIES[table]})"  # noqa: S608 - no value in it
        " SELECT id, title FROM named WHERE substr(id, 1, ?) = ? ORDER BY id LIMIT ?"
    )
    values = (len(beginning), beginning, _MOST)
    address = f"file:{quote(str(file))}?{_mode(file)}"
    with closing(sqlite3.connect(address, uri=True, timeout=_SECONDS)) as connection:
        rows = connection.execute(query, values).fetchall()
    return [(str(identity), str(title)) for identity, title in rows]


def _mode(file: Path) -> str:
    """How SQLite opens the file without writing anything beside it."""
    log = file.with_name(f"{file.name}-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return "mode=ro" if has_log else "mode=ro&immutable=1"
