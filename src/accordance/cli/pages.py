"""Pages and tables for people."""

from __future__ import annotations

import sys
from typing import Final

import click
from rich.console import Console, RenderableType

_ANY_WIDTH: Final = 100_000  # a pipe and a file have no right edge


def print_page(page: RenderableType) -> None:
    """Print a page, folded to the width of the terminal.

    In a pipe or a file every row of a table stays a single line, without spaces at its
    end, so that programs such as grep can be used on it.
    """
    if sys.stdout.isatty():
        Console(highlight=False, soft_wrap=True).print(page)
        return

    console = Console(highlight=False, width=_ANY_WIDTH)
    with console.capture() as output:
        console.print(page)
    lines = [line.rstrip() for line in output.get().split("\n")]
    click.echo("\n".join(lines), nl=False)
