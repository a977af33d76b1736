"""What the commands on a ledger share: where it is, how it is opened, how output is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accordance.cli.showing import as_json_text

if TYPE_CHECKING:
    from accordance.domain.records import PlanRecord, TaskRecord
    from accordance.service.project import Project
    from accordance.store.ledger import Transaction
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
def opened(where: Where, *, create: bool = False) -> Iterator[Project]:
    """The project that a command is about, open."""
    from accordance.service.project import open_project

    with open_project(where.home, where.place, create=create) as project:
        yield project


def say(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(as_json_text(value))


# -- what `task` and `mcp` still take from here

at_desk = opened
Desk = Any


def whoever(by: str | None) -> str:
    """Who gives the command."""
    from accordance.service.project import asking_as

    return asking_as(by)


def find_plan(tx: Transaction, name: str | None) -> PlanRecord:
    """A plan by its id, or the beginning of it."""
    from accordance.service import project

    return project.find_plan(tx, name)


def find_task(tx: Transaction, name: str) -> TaskRecord:
    """A task by its id, or the beginning of it."""
    from accordance.service import project

    return project.find_task(tx, name)


def fits_whoever_asks(desk: Desk, *, any_task: bool) -> Fits:
    """Which tasks are handed out to somebody who asks for work."""
    from accordance.work.handing_out import for_whoever_asks
    from accordance.work.project_routes import routing_for
    from accordance.work.tasks import anything

    return anything if any_task else for_whoever_asks(routing_for(desk.home))
