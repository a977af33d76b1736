"""Exit codes, the same for every command."""

from __future__ import annotations

from enum import IntEnum

import click

from accordance.cli.showing import shown, without_passwords


class Exit(IntEnum):
    """What the shell is told."""

    OK = 0
    REJECTED = 1  # rejected, or findings
    USAGE = 2
    WAITING = 3  # for a person
    AUTH = 4
    NOT_FOUND = 5
    CONFLICT = 6
    INTERNAL = 70


def one_line(message: str) -> None:
    """Say what went wrong, on standard error, in one line whatever the message."""
    click.echo(f"accordance: {shown(without_passwords(' '.join(message.split())))}", err=True)


class Failure(Exception):
    """End the command with one line on standard error."""

    def __init__(self, message: str, code: Exit) -> None:
        super().__init__(message)
        self.code = code
