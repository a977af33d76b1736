"""What the commands on a ledger share: their options, and how a project is opened."""

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
    from accordance.service.project import Project

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
by_option = click.option(
    "--by",
    default=None,
    help="Who decides this.  [default: the user's name]",
)


LEVELS = ("auto", "bubblewrap", "landlock", "rlimit")
isolation_option = click.option(
    "--isolation",
    type=click.Choice(LEVELS),
    help="How test commands are isolated; only this option can ask for less than auto.  [default: auto]",
)


@dataclass(frozen=True, slots=True)
class Where:
    """The project folder and the ledger, as far as options name them."""

    home: Path | None = None
    place: str | None = None


def ledger_options(command: Callable[..., int]) -> Callable[..., int]:
    """Add --ledger and --home, which the command gets as `where`."""

    @wraps(command)
    def with_where(*, home: Path | None, place: str | None, **options: Any) -> int:
        return command(where=Where(home, place), **options)

    home = click.option(
        "--home",
        type=click.Path(file_okay=False, path_type=Path),
        help="The project folder.  [default: the nearest folder upwards with .accordance or accordance.toml]",
    )
    ledger = click.option(
        "--ledger",
        "place",
        envvar="ACCORDANCE_LEDGER",
        metavar="PATH|URL",
        help="The ledger: a SQLite file or postgresql://...  [default: .accordance/ledger.db]",
    )
    return home(ledger(with_where))


@contextmanager
def opened(where: Where, *, create: bool = False) -> Iterator[Project]:
    """Open the project of a command."""
    from accordance.service.project import open_project

    with open_project(where.home, where.place, create=create) as project:
        yield project


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    click.echo(as_json_text(value))
