"""An open project: its folder, its ledger, and its plans and tasks by name."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from accordance.domain.records import PlanRecord, TaskRecord
from accordance.errors import NoPlan, NotFound
from accordance.project.home import Home, find_home
from accordance.store.ledger import Ledger, Transaction
from accordance.store.opening import open_ledger

__all__ = [
    "Ledger",
    "Project",
    "asking_as",
    "find_home",
    "find_plan",
    "find_plan_id",
    "find_task",
    "ledger_place",
    "open_project",
    "plan_id_of",
    "task_id_of",
]


@dataclass(frozen=True, slots=True)
class Project:
    """A project folder and its ledger, open."""

    home: Home
    ledger: Ledger
    place: str | Path = ""
    """Where the ledger lies: a file, or the address of a database."""


@contextmanager
def open_project(
    folder: Path | None = None, ledger: str | None = None, *, create: bool = False
) -> Iterator[Project]:
    """Open the project around a folder, and close it after the block.

    Its ledger is its own, unless another is named.
    """
    home = find_home(folder)
    place = ledger_place(home, ledger)
    opened = open_ledger(place, create=create)
    try:
        yield Project(home, opened, place)
    finally:
        opened.close()


def ledger_place(home: Home, ledger: str | None = None) -> str | Path:
    """Return where the ledger of a project lies.

    The caller decides, else the settings; else it lies in the project folder.
    """
    named = ledger or home.settings().ledger
    if named is None:
        return home.ledger
    is_address = "://" in named
    return named if is_address else home.root / named


def asking_as(name: str | None) -> str:
    """Who asks: the name that was given, else the name of the user."""
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def find_plan(tx: Transaction, name: str | None) -> PlanRecord:
    """Return a plan by its id or the beginning of it. Raises NotFound or NoPlan.

    Without a name it is the newest plan.
    """
    if name is None:
        return _newest_plan(tx)
    try:
        return tx.plan(name)
    except NotFound:
        matches = [plan for plan in tx.plans() if plan.plan_id.startswith(name)]
        if len(matches) != 1:
            raise
        return matches[0]


def _newest_plan(tx: Transaction) -> PlanRecord:
    """The newest plan that is not archived."""
    for plan in tx.plans():
        if plan.archived_at is None:
            return plan
    raise NoPlan


def plan_id_of(project: Project, name: str | None) -> str:
    """The id of the plan that is meant. Raises as `find_plan` does."""
    with project.ledger.read() as tx:
        return find_plan(tx, name).plan_id


def find_plan_id(tx: Transaction, name: str) -> str:
    """The id of a plan by the beginning of it; also of one whose row cannot be read."""
    known = tx.plan_ids()
    if name in known:
        return name
    matches = [plan_id for plan_id in known if plan_id.startswith(name)]
    return matches[0] if len(matches) == 1 else find_plan(tx, name).plan_id


def find_task(tx: Transaction, name: str) -> TaskRecord:
    """A task by its id or the beginning of it. Raises NotFound."""
    try:
        return tx.task(name)
    except NotFound as error:
        matches = [task_id for task_id in error.known if task_id.startswith(name)]
        if len(matches) != 1:
            raise
        return tx.task(matches[0])


def task_id_of(project: Project, name: str) -> str:
    """The id of the task that is meant. Raises as `find_task` does."""
    with project.ledger.read() as tx:
        return find_task(tx, name).task_id
