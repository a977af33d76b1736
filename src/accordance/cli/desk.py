"""What the commands on a ledger share: where it is, how it is opened, how names are completed, how output is written."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.reading import is_file
from accordance.cli.showing import as_json_text
from accordance.errors import NotFound

if TYPE_CHECKING:
    from accordance.domain.records import PlanRecord, TaskRecord
    from accordance.project.home import Home
    from accordance.store.ledger import Transaction
    from accordance.store.sql import SqlLedger
    from accordance.work.tasks import Fits

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
by_option = click.option("--by", default=None, help="Who says so.  [default: the user's name]")


LEVELS = ("auto", "bubblewrap", "landlock", "rlimit")
isolation_option = click.option(
    "--isolation",
    type=click.Choice(LEVELS),
    help="How test commands are kept apart; only this option can ask for less than auto.  [default: auto]",
)


@dataclass(frozen=True, slots=True)
class Desk:
    """A project folder and its ledger, open."""

    home: Home
    ledger: SqlLedger


@dataclass(frozen=True, slots=True)
class Where:
    """Where the ledger is, as far as the command was told."""

    home: Path | None = None
    place: str | None = None


def ledger_options(command: Callable[..., int]) -> Callable[..., int]:
    """--ledger and --home, handed on as `where`."""

    @wraps(command)
    def told(*, home: Path | None, place: str | None, **options: Any) -> int:
        return command(where=Where(home, place), **options)

    home = click.option(
        "--home",
        type=click.Path(file_okay=False, path_type=Path),
        help="The project folder.  [default: the nearest one upwards with .accordance or accordance.toml]",
    )
    ledger = click.option(
        "--ledger",
        "place",
        envvar="ACCORDANCE_LEDGER",
        metavar="PATH|URL",
        help="Another ledger than .accordance/ledger.db: a SQLite file or postgresql://...",
    )
    return home(ledger(told))


@contextmanager
def at_desk(where: Where, *, create: bool = False) -> Iterator[Desk]:
    """Open the ledger of a project folder, and close it again."""
    from accordance.project.home import find_home
    from accordance.store.opening import open_ledger

    found = find_home(where.home)
    ledger = open_ledger(ledger_place(found, where), create=create)
    try:
        yield Desk(found, ledger)
    finally:
        ledger.close()


def ledger_place(home: Home, where: Where) -> str | Path:
    """Where the ledger of a project folder lies."""
    named = where.place or home.settings().ledger
    if named is None:
        return home.ledger
    return named if "://" in named else home.root / named


def fits_whoever_asks(desk: Desk, *, any_task: bool) -> Fits:
    """Which tasks are handed out to somebody who asks for work."""
    from accordance.work.handing_out import for_whoever_asks
    from accordance.work.project_routes import routing_for
    from accordance.work.tasks import anything

    return anything if any_task else for_whoever_asks(routing_for(desk.home))


def whoever(by: str | None) -> str:
    """Who gives the command."""
    if by:
        return by
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"


def find_plan(tx: Transaction, name: str | None) -> PlanRecord:
    """A plan by its id, or the beginning of it; without a name, the only one, or the newest."""
    if name is None:
        plans = tx.plans()
        if not plans:
            raise Failure("there is no plan yet; `accordance plan import FILE` brings one", Exit.NOT_FOUND)
        return plans[0]
    try:
        return tx.plan(name)
    except NotFound:
        fitting = [plan for plan in tx.plans() if plan.plan_id.startswith(name)]
        if len(fitting) == 1:
            return fitting[0]
        if is_file(name):
            way_out = (
                f"bring it with `accordance plan import {name}`, then name the plan by its id, or not at all"
            )
            raise Failure(
                f"{name} is a file, and no plan of this ledger; {way_out}", Exit.NOT_FOUND
            ) from None
        raise


def find_plan_id(tx: Transaction, name: str) -> str:
    """The id of a plan, by its beginning; also of one whose row cannot be read."""
    known = tx.plan_ids()
    fitting = [name] if name in known else [plan_id for plan_id in known if plan_id.startswith(name)]
    return fitting[0] if len(fitting) == 1 else find_plan(tx, name).plan_id


def find_task(tx: Transaction, name: str) -> TaskRecord:
    """A task by its id, or the beginning of it."""
    try:
        return tx.task(name)
    except NotFound as error:
        fitting = [task for task in error.known if task.startswith(name)]
        if len(fitting) != 1:
            raise
        return tx.task(fitting[0])


def say(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(as_json_text(value))
