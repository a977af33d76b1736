"""Asking on a terminal before something is done that cannot be undone."""

from __future__ import annotations

import sys

import click

from accordance.cli.exits import Exit, Failure
from accordance.cli.showing import shown

yes_option = click.option(
    "--yes",
    "-y",
    is_flag=True,
    help="Do it without asking; required if there is no terminal to ask on.",
)


def must_be_confirmed(question: str, *, yes: bool) -> None:
    """Go on only if a person says so. Without a terminal, only --yes does.

    Raises Failure.
    """
    if yes:
        return
    if not is_on_terminal():
        raise Failure(
            f"{question} There is no terminal to ask on; pass --yes to do it",
            Exit.USAGE,
        )
    if not click.confirm(shown(question), default=False):
        raise Failure("nothing was changed", Exit.REJECTED)


def is_on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
