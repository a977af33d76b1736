"""`accordance doctor`: what this machine and this ledger can do."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from typing import NamedTuple

import click

from accordance._version import __version__
from accordance.cli.desk import Where, at_desk, json_option, ledger_options, say
from accordance.cli.exits import Exit
from accordance.cli.showing import tell
from accordance.cli.ways_out import line_of
from accordance.errors import AccordanceError, LedgerMissing

_OLDEST_SQLITE = (3, 35)


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool
    found: str
    needed: bool = True  # whether something is broken if it is not there


@click.command(name="doctor")
@ledger_options
@json_option
def command(where: Where, as_json: bool) -> int:
    """Look at this machine and this ledger. Exit code 1 if something is missing or broken."""
    found = [*_machine(), *_isolation(), *_ledger(where)]
    if as_json:
        say([one._asdict() for one in found])
    else:
        for one in found:
            mark = "✓" if one.ok else "✗" if one.needed else "–"
            tell(f"{mark} {one.name:<12} {one.found}")
    return Exit.OK if all(one.ok or not one.needed for one in found) else Exit.REJECTED


def _machine() -> Iterator[Finding]:
    yield Finding("accordance", True, __version__)
    yield Finding("python", sys.version_info >= (3, 11), platform.python_version())
    yield Finding("sqlite", sqlite3.sqlite_version_info >= _OLDEST_SQLITE, sqlite3.sqlite_version)
    git = shutil.which("git")
    version = (
        subprocess.run([git, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        if git
        else ""
    )
    yield Finding(
        "git", bool(version), version.strip() or "missing; install it to judge changes of a repository"
    )


def _isolation() -> Iterator[Finding]:
    """What test commands can be kept apart with; tried, not looked up."""
    from accordance.workspace.probing import probe

    tried = probe()
    best = tried.best
    text = f"test commands are kept apart by {best}" if best else "test commands cannot be kept apart here"
    yield Finding("isolation", best is not None, text)
    for one in tried.levels:
        remedy = f"; {one.remedy}" if one.remedy else ""
        yield Finding(f"  {one.level}", one.works, f"{one.detail}{remedy}", needed=False)


def _ledger(where: Where) -> Iterator[Finding]:
    try:
        with at_desk(where) as desk, desk.ledger.read() as tx:
            plans = tx.plans()
            yield Finding("ledger", True, f"{len(plans)} plans in {where.place or desk.home.ledger}")
            waiting = len(tx.open_questions())
            yield Finding("inbox", True, f"{waiting} questions wait for a person")
    except LedgerMissing as error:
        yield Finding("ledger", True, line_of(error))
    except AccordanceError as error:
        yield Finding("ledger", False, line_of(error))
