"""Tables and pages for people: folded to the width of a terminal, and whole lines everywhere else."""

from __future__ import annotations

import sys
from typing import Final

import click
from rich.console import Console, RenderableType

_ANY_WIDTH: Final = 100_000  # a pipe and a file have no right edge


def print_page(page: RenderableType) -> None:
    """Print a page. Where no terminal folds it, every row of a table is one line, without spaces at its end."""
    if sys.stdout.isatty():
        Console(highlight=False, soft_wrap=True).print(page)
        return
    console = Console(highlight=False, width=_ANY_WIDTH)
    with console.capture() as printed:
        console.print(page)
    lines = printed.get().split("\n")
    click.echo("\n".join(line.rstrip() for line in lines), nl=False)
