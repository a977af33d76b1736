"""What this machine and this ledger can do: tried, not looked up."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from accordance._version import __version__
from accordance.changes.project_repository import (
    repository_of,
    why_remote_not_usable,
)
from accordance.errors import AccordanceError, BlobError, LedgerMissing
from accordance.project.home import find_home
from accordance.rendering.amounts import counted
from accordance.service.project import Project, open_project
from accordance.service.views.health import HealthView
from accordance.workspace.probing import probe

_OLDEST_PYTHON: Final = (3, 11)
_OLDEST_SQLITE: Final = (3, 35)


def look_around(
    folder: Path | None = None, ledger: str | None = None
) -> list[HealthView]:
    """Look at this machine, at its isolation, and at the ledger of a project."""
    return [
        *_machine(),
        *_isolation(),
        *_ledger(folder, ledger),
        *_repository(folder),
    ]


def _view(name: str, state: str, *, ok: bool = True, needed: bool = True) -> HealthView:
    return HealthView(
        name=name,
        ok=ok,
        found=state,
        needed=needed,
    )


def _machine() -> Iterator[HealthView]:
    yield _view("accordance", __version__)
    yield _view(
        "python", platform.python_version(), ok=sys.version_info >= _OLDEST_PYTHON
    )
    yield _view(
        "sqlite",
        sqlite3.sqlite_version,
        ok=sqlite3.sqlite_version_info >= _OLDEST_SQLITE,
    )
    git = _git_version()
    yield _view(
        "git",
        git or "missing; install it to judge changes of a repository",
        ok=bool(git),
    )


def _git_version() -> str:
    git = shutil.which("git")
    if git is None:
        return ""
    command = [git, "--version"]
    run = subprocess.run(  # noqa: S603
        command,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip()


def _isolation() -> Iterator[HealthView]:
    tried = probe()
    best = tried.best
    text = "test commands cannot be kept apart here"
    if best:
        text = f"test commands are kept apart by {best}"
    yield _view("isolation", text, ok=best is not None)
    for level in tried.levels:
        remedy = f"; {level.remedy}" if level.remedy else ""
        yield _view(
            f"  {level.level}",
            f"{level.detail}{remedy}",
            ok=level.works,
            needed=False,
        )


def _repository(folder: Path | None) -> Iterator[HealthView]:
    """Try the remote of the repository, where it has a remote."""
    try:
        home = find_home(folder)
        repository = repository_of(home)
        problem = why_remote_not_usable(home)
    except AccordanceError:
        return  # the line about the ledger tells what is wrong with the project
    if repository.cache is None:
        return
    state = problem or f"{repository.address} can be read and takes pushes"
    yield _view("repository", state, ok=problem is None)


def _ledger(folder: Path | None, ledger: str | None) -> Iterator[HealthView]:
    try:
        with open_project(folder, ledger) as project, project.ledger.read() as tx:
            plans = len(tx.plans())
            questions = len(tx.open_questions())
            place = ledger or project.home.ledger
            blobs = _blobs(project)
    except LedgerMissing as error:
        yield HealthView(
            name="ledger",
            ok=True,
            found=str(error),
            needed=True,
            code=error.code,
        )
    except AccordanceError as error:
        yield HealthView(
            name="ledger",
            ok=False,
            found=str(error),
            needed=True,
            code=error.code,
        )
    else:
        yield _view("ledger", f"{counted(plans, 'plan')} in {place}")
        yield _view("inbox", f"{counted(questions, 'question')} for a person")
        yield blobs


def _blobs(project: Project) -> HealthView:
    """Look whether the store of large blobs answers, and is that of the ledger."""
    try:
        place = project.ledger.check_store()
    except BlobError as error:
        return HealthView(
            name="blobs",
            ok=False,
            found=str(error),
            needed=True,
            code=error.code,
        )
    return _view("blobs", f"large blobs lie in {place}")
